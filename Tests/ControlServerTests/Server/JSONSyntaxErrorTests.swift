import Foundation
import Testing

@testable import ControlServer

@Suite("Where a text stops being JSON")
struct JSONSyntaxErrorTests {
  @Test(
    "JSON has no mistake",
    arguments: [
      "{}", " [1, -2.5e+3, 0, true, false, null] ", #"{"a": {"b": ["\u00e9\n\"", ""]}}"#, "\"é\"", "12",
    ])
  func good(_ text: String) { #expect(JSONSyntaxError.first(in: Array(text.utf8)) == nil) }

  @Test(
    "the first mistake is reported with its line and column",
    arguments: [
      ("", 1, 1), ("{", 1, 2), ("{\"a\" 1}", 1, 6), ("{\"a\": 1,}", 1, 9), ("[1,\n 2\n 3]", 3, 2), ("tru", 1, 1),
      ("{a: 1}", 1, 2), ("[01]", 1, 3), ("[1.]", 1, 4), ("\"a", 1, 1), ("\"\\x\"", 1, 3), ("[\"\t\"]", 1, 3),
      ("{} {}", 1, 4),
      ("[\"\\u12g4\"]", 1, 7), ("[1e]", 1, 4), ("nulll", 1, 5),
    ])
  func bad(_ text: String, _ line: Int, _ column: Int) throws {
    let mistake = try #require(JSONSyntaxError.first(in: Array(text.utf8)))
    #expect((mistake.line, mistake.column) == (line, column), "\(mistake)")
  }

  @Test("bytes that aren't UTF-8, and nesting without end, are mistakes")
  func hostile() throws {
    #expect(JSONSyntaxError.first(in: [0x22, 0xFF, 0x22])?.what.contains("UTF-8") == true)
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)
    #expect(JSONSyntaxError.first(in: deep)?.what.contains("deeply") == true)
  }

  @Test("what has no mistake is taken by others, too, and what they don't take has one", arguments: 0..<20)
  func agreement(_ seed: Int) throws {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(count))
    }
    let pieces = ["{", "}", "[", "]", ",", ":", "\"a\"", "1", "-0.5", "true", "null", " ", "\"\\n\"", "\"b\""]
    for _ in 0..<500 {
      let text = (0..<(1 + random(9))).map { _ in pieces[random(pieces.count)] }.joined()
      // It takes commas that lead to nothing.
      let isTaken = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
      if JSONSyntaxError.first(in: Array(text.utf8)) == nil { #expect(isTaken, "\(text)") }
      if !isTaken { #expect(JSONSyntaxError.first(in: Array(text.utf8)) != nil, "\(text)") }
    }
  }
}
