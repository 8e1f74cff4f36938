import Synchronization
import TestSupport
import Testing

@testable import ManagedObjects

/// Patterns and texts come from whoever may submit a file or ask a query.
@Suite("Matching of texts")
struct TextMatchingTests {
  /// Tries every way to spread the text over the pattern.
  private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    switch first {
    case "*":
      return (text.startIndex...text.endIndex).contains { isLike(text[$0...], pattern.dropFirst()) }
    case "?": return !text.isEmpty && isLike(text.dropFirst(), pattern.dropFirst())
    default: return text.first == first && isLike(text.dropFirst(), pattern.dropFirst())
    }
  }

  private func draw(_ letters: [Unicode.Scalar], _ length: Int, _ random: inout some RandomNumberGenerator) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<length { text.append(letters.randomElement(using: &random) ?? "a") }
    return String(text)
  }

  @Test("LIKE finds what trying every way finds", arguments: 1...20 as ClosedRange<UInt64>)
  func like(seed: UInt64) {
    var random = Draw(state: seed)
    for _ in 0..<2_000 {
      let text = draw(["a", "b", "é", "😀"], Int.random(in: 0...9, using: &random), &random)
      let pattern = draw(["a", "b", "é", "😀", "*", "*", "?"], Int.random(in: 0...7, using: &random), &random)
      #expect(
        LikePattern(pattern).matches(text)
          == isLike(Array(text.unicodeScalars)[...], Array(pattern.unicodeScalars)[...]),
        "\(text) LIKE \(pattern)")
    }
  }

  @Test(
    "CONTAINS finds what comparing at each place finds, also for long parts", arguments: 1...20 as ClosedRange<UInt64>)
  func contains(seed: UInt64) {
    var random = Draw(state: seed)
    for _ in 0..<1_000 {
      let text = draw(["a", "b"], Int.random(in: 0...200, using: &random), &random)
      let part = draw(["a", "a", "a", "b"], Int.random(in: 0...30, using: &random), &random)
      let bytes = (Array(text.utf8), Array(part.utf8))
      let isIn = bytes.1.isEmpty || bytes.0.indices.contains { bytes.0[$0...].starts(with: bytes.1) }
      #expect(UTF8Order.contains(text, part) == isIn, "\(text) CONTAINS \(part)")
    }
  }

  @Test(
    "a text of megabytes is compared with a long pattern in time that grows with the text", .timeLimit(.minutes(20)))
  func linear() {
    let text = String(repeating: "a", count: 8 << 20)
    let part = String(repeating: "a", count: 5_000) + "b"
    #expect(!UTF8Order.contains(text, part))
    #expect(!LikePattern("a*\(part)*\(part)").matches(text))
    #expect(!LikePattern(String(repeating: "a*", count: 2_500) + "b").matches(text))
  }

  @Test("a pattern whose time is a product is ended when it is asked to", .timeLimit(.minutes(20)))
  func interrupted() {
    let pattern = LikePattern("*" + String(repeating: "a?", count: 50_000) + "b*")
    let text = String(repeating: "a", count: 4 << 20)
    let asked = Counter()
    #expect(throws: Interrupted(cause: .timedOut)) {
      try Interruption { asked.next() > 3 ? .timedOut : nil }.limit { pattern.matches(text) }
    }
  }

  @Test("a regular expression that never ends is ended when it is asked to", .timeLimit(.minutes(20)))
  func expression() throws {
    let match = try WholeMatch("(a+)+b", options: [])
    let text = String(repeating: "a", count: 64)
    let asked = Counter()
    #expect(throws: Interrupted(cause: .cancelled)) {
      try Interruption { asked.next() > 3 ? .cancelled : nil }.limit { match.matches(text) }
    }
    #expect(match.matches("aab"))
  }

  @Test("a predicate of 200,000 parentheses is refused at once, and shown around its mistake", .timeLimit(.minutes(20)))
  func parentheses() throws {
    let format = String(repeating: "(", count: 200_000) + "age > 1" + String(repeating: ")", count: 200_000)
    let error = try #require(throws: PredicateFormatError.self) { try FetchPredicate(format: format) }
    #expect("\(error)".count < 500)
    let short = try #require(throws: PredicateFormatError.self) { try FetchPredicate(format: "age >> 1") }
    #expect("\(short)".hasSuffix("\n  age >> 1\n       ^"))
  }

  @Test("once it is interrupted, nothing that was evaluated gets out, and what comes later is whole again")
  func results() throws {
    let interruption = Interruption()
    #expect(try interruption.limit { 1 } == 1)
    #expect(throws: Interrupted(cause: .timedOut)) {
      try interruption.limit {
        interruption.interrupt(.timedOut)
        interruption.interrupt(.cancelled)
        return 1
      }
    }
    #expect(throws: Interrupted(cause: .timedOut)) { try interruption.limit { 1 } }
    #expect(!Interruption.isRequested)
  }

  /// Splitmix64: the same numbers for the same seed.
  private struct Draw: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  /// Counts how often it is asked.
  private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }
}
