/// Texts, each at most once, found by their bytes: what null tokens, words and value maps are looked up in. Made once;
/// looking up makes no String and allocates nothing.
struct TextTable: Sendable {
  private var bytes: [UInt8] = []
  /// Where each text begins in `bytes`, and where the last one ends.
  private var starts: [Int] = [0]
  /// For each hash the number of a text and one more, 0 for none; a power of two of them, at most half of them taken.
  private var buckets: [Int32]
  private(set) var longest = 0

  /// A table of these texts, without those that came before.
  init(_ texts: some Sequence<String>) {
    let texts = Array(texts)
    var size = 8
    while size < texts.count * 2 { size *= 2 }
    buckets = Array(repeating: 0, count: size)
    for text in texts { add(text) }
  }

  var count: Int { starts.count - 1 }

  private mutating func add(_ text: String) {
    let text = Array(text.utf8)
    let place = text.withUnsafeBytes { bucket(of: $0) }
    guard buckets[place] == 0 else { return }
    bytes += text
    starts.append(bytes.count)
    longest = max(longest, text.count)
    buckets[place] = Int32(count)
  }

  /// The number of a text, in the order in which they were given; nil when it isn't there.
  func find(_ text: UnsafeRawBufferPointer) -> Int? {
    // Also spares hashing a text of any length.
    guard text.count <= longest else { return nil }
    let number = buckets[bucket(of: text)]
    return number == 0 ? nil : Int(number) - 1
  }

  func contains(_ text: UnsafeRawBufferPointer) -> Bool { find(text) != nil }

  /// The bucket that has the text, or where it would be.
  private func bucket(of text: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let mask = buckets.count - 1
    var place = Int(truncatingIfNeeded: hash ^ (hash >> 32)) & mask
    while buckets[place] != 0, !isText(Int(buckets[place]) - 1, text) { place = (place + 1) & mask }
    return place
  }

  private func isText(_ number: Int, _ text: UnsafeRawBufferPointer) -> Bool {
    let start = starts[number]
    guard starts[number + 1] - start == text.count else { return false }
    for index in 0..<text.count where bytes[start + index] != text[index] { return false }
    return true
  }
}
