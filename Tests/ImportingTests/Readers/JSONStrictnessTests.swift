import Testing

@testable import Importing

@Suite("JSON: violations of RFC 8259")
struct JSONStrictnessTests {
  static let badValues: [(text: String, mistake: JSONMistake)] = [
    ("01", .leadingZero), ("-01", .leadingZero), ("00", .leadingZero), ("-", .badNumber), ("1.", .badNumber),
    (".5", .expectedValue), ("1e", .badNumber), ("1e+", .badNumber), ("+1", .expectedValue), ("0x1", .expectedComma),
    ("1.2.3", .expectedComma), ("NaN", .badLiteral), ("Infinity", .badLiteral), ("-Infinity", .badNumber),
    ("True", .badLiteral), ("tru", .badLiteral), ("nulll", .expectedComma), ("'x'", .expectedValue),
    (#""\x""#, .badEscape), (#""\u12g4""#, .badEscape), (#""\ud800""#, .loneSurrogate), (#""\udc00""#, .loneSurrogate),
    (#""\ud800\n""#, .loneSurrogate), (#""\ud800\ud800""#, .loneSurrogate), (#""\ud800x""#, .loneSurrogate),
    ("\"a\nb\"", .controlCharacter), ("\"a\tb\"", .controlCharacter), ("\"12345678\u{1f}\"", .controlCharacter),
    ("[1,]", .trailingComma), ("[,1]", .expectedValue), ("[1 2]", .expectedComma), ("{\"a\":1,}", .trailingComma),
    ("{a:1}", .expectedKey), ("{\"a\" 1}", .expectedColon), ("{\"a\":}", .expectedValue), ("{1:2}", .expectedKey),
    ("[1}", .expectedComma), ("{\"a\":1]", .expectedComma), ("/* x */ 1", .expectedValue), ("", .expectedValue),
    ("\u{A0}1", .expectedValue),
  ]

  static let goodValues = [
    "0", "-0", "0.0", "-0.5e-10", "1E+2", "123456789012345678901234567890", #""\u0000""#, #""\ud83d\ude00""#,
    "\"\u{7f}\u{80}\"", "[]", "{}", "[[[]]]", #"{"":""}"#, " 1 ", "\"\u{2028}\"",
  ]

  @Test("a value that breaks the rules is malformed, in an array and on a line of its own", arguments: badValues)
  func bad(text: String, mistake: JSONMistake) throws {
    if mistake != .loneSurrogate {
      let array = try read("[{\"a\":1},{\"v\":\(text)}]", as: "a.json")
      #expect(array.cells == [["1"]])
      guard case .malformed(_, _, let what) = array.error else {
        Issue.record("\(text) was taken: \(String(describing: array.error))")
        return
      }
      #expect(what == mistake.description)
    }
    // The same where the value is skipped.
    let skipped = try read("{\"x\":\(text),\"a\":[{\"a\":1}]}", as: "a.json", ReaderOptions(root: "a"))
    guard case .malformed(_, _, mistake.description) = skipped.error else {
      Issue.record("\(text) was skipped: \(String(describing: skipped.error))")
      return
    }
    guard !text.contains("\n") else { return }
    let line = try read("{\"a\":1}\n{\"v\":\(text)}\n{\"a\":2}\n", as: "a.ndjson")
    #expect(line.records.count == 3)
    guard case .malformedJSON(mistake.description, _) = line.problems[1] else {
      Issue.record("\(text) was taken on a line: \(String(describing: line.problems[1]))")
      return
    }
  }

  @Test(
    "half of a surrogate pair spoils its record of an array and no other",
    arguments: [#"{"v":"\ud800"}"#, #"{"\udc00x":1}"#, #"{"v":["a\ud800\ud800"],"w":"\u00e9\udfff"}"#, #""\ud800""#])
  func surrogates(record: String) throws {
    let whole = try read("[{\"v\":1},\(record),\n{\"v\":2}]", as: "a.json")
    #expect(whole.error == nil)
    #expect(whole.problems.map { $0?.code } == [nil, "malformed_json", nil])
    #expect(whole.raw[1] == record)
    #expect([whole.cells[0], whole.cells[2]] == [["1"], ["2"]])
    guard case .malformedJSON(JSONMistake.loneSurrogate.description, let column)? = whole.problems[1] else {
      Issue.record("\(String(describing: whole.problems[1]))")
      return
    }
    #expect(column > 1)
  }

  @Test("a value that follows the rules is accepted", arguments: goodValues)
  func good(text: String) throws {
    #expect(try read("[{\"v\":\(text)}]", as: "a.json").problems == [nil])
    #expect(try read("{\"v\":\(text)}\n", as: "a.ndjson").problems == [nil])
    let skipped = try read("{\"x\":\(text),\"a\":[{\"a\":1}]}", as: "a.json", ReaderOptions(root: "a"))
    #expect(skipped.cells == [["1"]])
    #expect(skipped.error == nil)
  }

  @Test(
    "a document that is cut off or has text after its end is malformed, after its good records",
    arguments: [
      "[{\"a\":1}", "[{\"a\":1},", "[{\"a\":1},{", "[{\"a\":1},{\"b\"", "[{\"a\":1},{\"b\":tr", "[{\"a\":1},{\"b\":\"",
      "[{\"a\":1},]", "[{\"a\":1}{\"a\":2}]", "[{\"a\":1}]]", "[{\"a\":1}] x", "[{\"a\":1}}", "[{\"a\":1},{\"b\":\"\\",
      "{\"r\":[{\"a\":1}]", "{\"r\":[{\"a\":1}],}", "{\"r\":[{\"a\":1}]} 1", "{\"r\":[{\"a\":1}],\"s\":01}",
    ])
  func broken(text: String) throws {
    let result = try read(text, as: "a.json", ReaderOptions(format: .json))
    #expect(result.cells == [["1"]])
    guard case .malformed = result.error else {
      Issue.record("taken: \(String(describing: result.error))")
      return
    }
  }

  @Test("the error names line and column")
  func place() throws {
    let result = try read("[\n  {\"a\": 1},\n  {\"a\": tru}\n]\n", as: "a.json")
    #expect(result.error == .malformed(line: 3, column: 9, what: JSONMistake.badLiteral.description))
    #expect(
      result.error?.description
        == "line 3, column 9: only true, false and null may stand without quotes")
    let end = try read("[\n{\"a\":1}\n", as: "a.json")
    #expect(end.error == .malformed(line: 3, column: 1, what: JSONMistake.unexpectedEnd.description))
  }

  @Test("an error comes again on every further call")
  func errorStays() throws {
    let file = try SourceFile(Array("[{\"a\":1},{]".utf8), name: "a.json")
    let reader = try openReader(fileDescriptor: file.descriptor, name: "a.json", options: .init(), from: nil)
    let batch = RecordBatch()
    #expect(try reader.read(into: batch, limit: 10))
    #expect(batch.count == 1)
    #expect(throws: ReaderError.self) { try reader.read(into: batch, limit: 10) }
    #expect(throws: ReaderError.self) { try reader.read(into: batch, limit: 10) }
  }

  @Test("nesting is allowed 512 deep and no deeper, and costs no stack")
  func depth() throws {
    func document(_ levels: Int) -> String {
      "[{\"a\":" + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}]"
    }
    #expect(try read(document(510), as: "a.json").problems == [nil])
    #expect(
      try read(document(511), as: "a.json").error
        == .malformed(line: 1, column: 517, what: JSONMistake.tooDeep.description))
    let bottomless = String(repeating: "[", count: 1_000_000)
    guard case .malformed = try read(bottomless, as: "a.json").error else {
      Issue.record("taken")
      return
    }
    let line = try read(String(repeating: "{\"a\":", count: 600), as: "a.ndjson")
    #expect(line.problems == [.malformedJSON(JSONMistake.tooDeep.description, column: 2_561)])
  }

  @Test("the number of columns is limited")
  func tooManyColumns() throws {
    let objects = (0..<17_000).map { "{\"k\($0)\":1}\n" }
    let file = try SourceFile(Array(objects.joined().utf8), name: "a.ndjson")
    let reader = try openReader(fileDescriptor: file.descriptor, name: file.path, options: .init(), from: nil)
    let batch = RecordBatch()
    var count = 0
    #expect(throws: ReaderError.tooManyColumns(limit: 16_384)) {
      while try reader.read(into: batch, limit: 100_000) { count += batch.count }
    }
    #expect(count == 16_384)
  }
}
