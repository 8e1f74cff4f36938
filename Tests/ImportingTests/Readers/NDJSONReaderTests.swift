import Testing

@testable import Importing

@Suite("NDJSON: one object per line")
struct NDJSONReaderTests {
  @Test("a line is a record, with any line end and none at the last", arguments: ["\n", "\r\n"])
  func lines(newline: String) throws {
    let result = try read(
      [#"{"a":1}"#, "", "  ", #" {"a":2,"b":"x\ty"} "#, #"{"b":null}"#].joined(separator: newline), as: "a.jsonl")
    #expect(result.columns == ["a", "b"])
    #expect(result.named == [["a": "1"], ["a": "2", "b": "x\ty"], ["b": "<null>"]])
    #expect(result.lines == [1, 4, 5])
    #expect(result.raw == [#"{"a":1}"#, #"{"a":2,"b":"x\ty"}"#, #"{"b":null}"#])
  }

  @Test("of equal keys the last counts, whether it or one before it has escapes")
  func equalKeys() throws {
    let result = try read(
      [
        #"{"a":"x\ty","a":"plain"}"#, #"{"a":"plain","a":"x\ty"}"#, #"{"a":"1\n","a":2,"a":"3\n","b":"4\n"}"#,
        #"{"b":"\n","a":"\n","b":"b"}"#,
      ].joined(separator: "\n"), as: "a.ndjson")
    #expect(
      result.named == [["a": "plain"], ["a": "x\ty"], ["a": "3\n", "b": "4\n"], ["a": "\n", "b": "b"]])
  }

  @Test("a malformed line is a problem, and reading continues")
  func malformed() throws {
    let result = try read("{\"a\":1}\n{\"a\":}\n{\"a\":2\n{\"a\":3} x\n[1]\n7\n{\"a\":4}\n", as: "a.ndjson")
    #expect(
      result.problems == [
        nil, .malformedJSON(JSONMistake.expectedValue.description, column: 6),
        .malformedJSON(JSONMistake.unexpectedEnd.description, column: 7),
        .malformedJSON(JSONMistake.textAfterEnd.description, column: 9), .notAnObject(found: "an array"),
        .notAnObject(found: "a number"), nil,
      ])
    #expect(result.raw == ["{\"a\":1}", "{\"a\":}", "{\"a\":2", "{\"a\":3} x", "[1]", "7", "{\"a\":4}"])
    #expect(result.cells[6] == ["4"])
    #expect(result.lines == [1, 2, 3, 4, 5, 6, 7])
  }

  @Test("objects that go over several lines are refused, with what to do, before every line is rejected")
  func acrossLines() throws {
    for (text, line, column) in [("{\n\"a\":1}\n{\"a\":2}\n", 1, 1), ("\n\n {\"a\":\n1}", 3, 2)]
      as [(String, Int64, Int64)]
    {
      let result = try read(text, as: "a.ndjson")
      #expect(result.records.isEmpty)
      guard case .malformed(line, column, let what)? = result.error, what.contains("format: json") else {
        Issue.record("\(String(describing: result.error))")
        continue
      }
    }
    // A first line that was cut is one record, as any other.
    let cut = try read("{\"a\":1\n{\"a\":2}\n", as: "a.ndjson")
    #expect(cut.problems.map { $0 == nil } == [false, true])
  }

  @Test("a line that isn't UTF-8 is a problem")
  func invalidUTF8() throws {
    let bytes = Array("{\"a\":\"".utf8) + [0xC3] + Array("\"}\n{\"a\":\"é\"}\n".utf8)
    #expect(try SourceFile(bytes, name: "a.ndjson").read().problems == [.invalidUTF8, nil])
  }

  @Test("a line longer than the limit keeps its beginning, and the next is read")
  func tooLong() throws {
    let long = String(repeating: "x", count: 100_000)
    for blockSize in [1_000, 256 << 10] {
      let result = try read(
        "{\"a\":1}\n{\"a\":\"\(long)\"}\n{\"a\":2}", as: "a.ndjson", ReaderOptions(maximumRecordBytes: 1_000),
        blockSize: blockSize)
      #expect(result.problems == [nil, .recordTooLong(limit: 1_000), nil])
      #expect(result.records[1].byteLength == 100_008)
      #expect(result.lines == [1, 2, 3])
      #expect(result.cells[2] == ["2"])
    }
  }
}
