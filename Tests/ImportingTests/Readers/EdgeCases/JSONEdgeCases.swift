@testable import Importing

// RFC 8259 by section. "Python" is its json module, "jq" is 1.6, "SQLite" its json functions: said where they differ.

extension EdgeCase {
  static let jsonCases: [EdgeCase] = numbers + strings + structure + documents

  private static func value(_ about: String, _ text: String, _ shown: String) -> EdgeCase {
    json(about, "[{\"v\":\(text)}]", [.values([shown])])
  }

  /// A value that is refused, so many bytes into it.
  private static func bad(_ about: String, _ text: String, _ mistake: JSONMistake, at place: Int64 = 0) -> EdgeCase {
    json(about, "[{\"a\":1},\n{\"v\":\(text)}]", [.values(["1"])], mistake, line: 2, column: 6 + place)
  }

  /// A value that spoils its record and no other.
  private static func spoiled(_ about: String, _ text: String) -> EdgeCase {
    json(
      about, "[{\"a\":1},\n{\"v\":\(text)},{\"a\":2}]",
      [.values(["1"]), .problem("malformed_json"), .values(["2", "<missing>"])])
  }

  private static let numbers: [EdgeCase] = [
    value("6: an integer past 2^53 keeps its digits; jq rounds it", "9007199254740993", "9007199254740993"),
    value("6: the largest unsigned 64-bit integer", "18446744073709551615", "18446744073709551615"),
    value("6: an integer past 64 bits", "123456789012345678901234567890", "123456789012345678901234567890"),
    value("6: a decimal keeps its places; Python makes 0.1 of it", "0.10", "0.10"),
    value(
      "6: more places than a double has", "3.14159265358979323846264338327950288",
      "3.14159265358979323846264338327950288"),
    value("6: an exponent that no double has; Python makes it infinite", "1e400", "1e400"),
    value("6: minus zero", "-0", "-0"),
    value("6: capital E and a plus", "1E+2", "1E+2"),
    bad("6: NaN, which Python takes", "NaN", .badLiteral),
    bad("6: Infinity, which Python takes", "Infinity", .badLiteral),
    bad("6: -Infinity, which Python takes", "-Infinity", .badNumber, at: 1),
    bad("6: a leading zero", "01", .leadingZero),
    bad("6: a leading plus, which JSON5 takes", "+1", .expectedValue),
    bad("6: a leading point, which JSON5 takes", ".5", .expectedValue),
    bad("6: a point at the end", "1.}", .badNumber, at: 2),
    bad("6: hexadecimal, which JSON5 takes", "0x10", .expectedComma, at: 1),
    bad("6: a digit separator", "1_000", .expectedComma, at: 1),
    bad("6: digits of another script", "\u{0661}", .expectedValue),
  ]

  private static let strings: [EdgeCase] = [
    value("7: every escape there is", #""\"\\\/\b\f\n\r\t\u0041""#, "\"\\/\u{8}\u{C}\n\r\tA"),
    value("7: a surrogate pair is one character", #""\uD834\uDD1E""#, "\u{1D11E}"),
    value("7: the highest of them", #""\udbff\udfff""#, "\u{10FFFF}"),
    value("7: an escaped zero is kept", #""a\u0000b""#, "a\u{0}b"),
    value("7: U+007F and line separators need no escape", "\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
    spoiled("7: a high surrogate alone, which Python takes", #""\ud800""#),
    spoiled("7: a low surrogate alone, which Python takes", #""x\udc00""#),
    spoiled("7: two high surrogates", #""\ud800\ud800""#),
    spoiled("7: surrogates in the wrong order", #""\udc00\ud800""#),
    bad("7: an escape that isn't one", #""\a""#, .badEscape, at: 1),
    bad("7: a single quote escaped", #""\'""#, .badEscape, at: 1),
    bad("7: three hexadecimal digits", #""\u12x4""#, .badEscape, at: 1),
    bad("7: a tab inside a string", "\"a\tb\"", .controlCharacter, at: 2),
    bad("7: a line feed inside a string", "\"a\nb\"", .controlCharacter, at: 2),
    bad("7: single quotes, which JSON5 takes", "'x'", .expectedValue),
  ]

  private static let structure: [EdgeCase] = [
    json("4: of two equal keys the last wins, as in Python and jq", #"[{"a":1,"a":2}]"#, [.values(["2"])]),
    json("4: keys are equal when they are once escapes are decoded", #"[{"a":1,"\u0061":2}]"#, [.values(["2"])]),
    json("4: keys that only look equal are two", "[{\"é\":1,\"e\u{301}\":2}]", [.values(["1", "2"])]),
    json("4: an empty key is a key", #"[{"":1}]"#, [.values(["1"])]),
    json("4: a key without quotes", "[{a:1}]", [], .expectedKey, column: 3),
    json("4: a comma after the last member", "[{\"a\":1,}]", [], .trailingComma, column: 9),
    json("5: a comma after the last element", "[{\"a\":1},]", [.values(["1"])], .trailingComma, column: 10),
    json("5: two commas", "[{\"a\":1},,{}]", [.values(["1"])], .expectedValue, column: 10),
    json("5: a comma alone", "[,]", [], .expectedValue, column: 2),
    json("5: no comma between elements", "[{\"a\":1} {\"a\":2}]", [.values(["1"])], .expectedComma, column: 10),
    json("a comment, which JSON5 takes", "[{\"a\":1}, // x\n{}]", [.values(["1"])], .expectedValue, column: 11),
    json(
      "9: brackets 100,000 deep, which Python refuses for its stack",
      #"[{"a":"# + String(repeating: "[", count: 100_000),
      [], .tooDeep, column: 517),
    json(
      "9: objects 100,000 deep", "[" + String(repeating: #"{"a":"#, count: 100_000), [], .tooDeep, column: 2_557),
    json(
      "9: brackets 100,000 deep in a skipped value",
      #"{"x":"# + String(repeating: "[", count: 100_000) + #","r":[{}]}"#, [], .tooDeep, column: 517, root: "r"),
    json("3: words in capitals", "[{\"a\":TRUE}]", [], .badLiteral, column: 7),
    json("3: half a word", "[{\"a\":nul}]", [], .badLiteral, column: 7),
  ]

  private static let documents: [EdgeCase] = [
    json("2: white space of four kinds around everything", " \t\r\n[ \t\r\n{ } \t\r\n] \t\r\n", [.values([])]),
    json("2: a no-break space isn't white space", "[\u{A0}{}]", [], .expectedValue, column: 2),
    json("2: more after the end", "[{\"a\":1}]\n]", [.values(["1"])], .textAfterEnd, line: 2, column: 1),
    json(
      "2: the end in the middle of a word", "[{\"a\":1},\n{\"b\":tr", [.values(["1"])], .unexpectedEnd, line: 2,
      column: 8),
    json("2: the end in the middle of a string", "[{\"a\":\"x", [], .unexpectedEnd, column: 9),
    json("8.1: a byte order mark may be ignored, so it is", "\u{FEFF}[{\"a\":1}]", [.values(["1"])]),
    json("an array of no elements", "[]", []),
    json("a document that is a number", "1", [], error: .notAnArray(path: "", found: "a number")),
    json("elements that aren't objects", "[1,{\"a\":1}]", [.problem("not_an_object"), .values(["1"])]),
    json("a path to the records", #"{"d":{"r":[{"a":1}]},"z":[{}]}"#, [.values(["1"])], root: "d.r"),
    json(
      "a path that isn't there", #"{"d":{"q":[]}}"#, [], error: .rootNotFound(path: "d.r", found: ["q"]), root: "d.r"),
    json("of two equal keys on the path, the first", #"{"r":[{"a":1}],"r":[{"a":2}]}"#, [.values(["1"])], root: "r"),
  ]
}
