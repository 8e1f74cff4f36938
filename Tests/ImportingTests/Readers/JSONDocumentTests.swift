import Foundation
import Testing

@testable import Importing

@Suite("JSON: documents that are an object")
struct JSONDocumentTests {
  private func notes(_ text: String, _ options: ReaderOptions = ReaderOptions()) throws -> String {
    let file = try SourceFile(Array(text.utf8), name: "a.json")
    return try openReader(fileDescriptor: file.descriptor, name: "a.json", options: options, from: nil).findings.notes
      .joined()
  }

  @Test("an object without an array of objects is one record, with the nested values in it")
  func document() throws {
    let text = "{\n \"id\": 7,\n \"name\": {\"first\": \"Ada\"},\n \"tags\": [\"x\"], \"a\\u0062\": \"\\n\"\n}\n"
    let result = try read(text, as: "a.json")
    #expect(result.error == nil)
    #expect(
      result.named == [["id": "7", "name": #"<nested>{"first": "Ada"}"#, "tags": #"<nested>["x"]"#, "ab": "\n"]])
    #expect(result.lines == [1])
    #expect(result.raw == [text.trimmingCharacters(in: .whitespacesAndNewlines)])
    #expect(try notes(text).contains("one record"))
    #expect(try read(#"{"a":{"x":1},"b":{"y":2}}"#, as: "a.json").records.count == 1)
    #expect(try read(#"{"a":{"x":1}}"#, as: "a.json").records.count == 1)
  }

  @Test("a dot as the root is the document itself, and a root may lead to one record")
  func root() throws {
    let text = #"{"id":1,"items":[{"a":1},{"a":2}],"in":{"b":{"c":3}}}"#
    #expect(try read(text, as: "a.json").named == [["a": "1"], ["a": "2"]])
    let whole = try read(text, as: "a.json", ReaderOptions(root: "."))
    #expect(whole.records.map { $0.named["id"] } == ["1"])
    #expect(try read("[{\"a\":1}]", as: "a.json", ReaderOptions(root: ".")).named == [["a": "1"]])
    let inner = try read(text, as: "a.json", ReaderOptions(root: "in.b"))
    #expect(inner.named == [["c": "3"]])
    #expect(inner.error == nil)
    #expect(try read(text + "x", as: "a.json", ReaderOptions(root: "in.b")).error != nil)
  }

  @Test("an array among other members is said to be taken for the records")
  func amongOthers() throws {
    #expect(try notes(#"{"count":0,"results":[]}"#).contains("“results”, which is empty"))
    #expect(try notes(#"{"tags":[]}"#).isEmpty)
    #expect(try notes(#"{"count":1,"rows":[{}]}"#).contains("the rest of the document isn't imported"))
    #expect(try notes(#"{"rows":[{}]}"#).isEmpty)
  }

  @Test(
    "empty arrays don't hide that a document is a record",
    arguments: [
      #"{"id":8,"name":"Bob","tags":[]}"#, #"{"id":9,"tags":[],"notes":[]}"#, #"{"name":"Bob","tags":[]}"#,
      #"{"id":8,"items":[]}"#, #"{"items":[],"data":[]}"#, #"{"name":"Bob","items":[]}"#,
      #"{"type":"order","items":[],"count":0}"#, #"{"name":"Bob","features":[],"total":1,"id":2}"#,
    ])
  func recordWithEmptyArrays(text: String) throws {
    let result = try read(text, as: "a.json")
    #expect(result.error == nil)
    #expect(result.records.count == 1)
    #expect(try notes(text).contains("one of these is for the records, name it as root"))
  }

  @Test(
    "an empty list of records has none",
    arguments: [
      #"{"tags":[]}"#, #"{"count":0,"results":[]}"#, #"{"data":[],"errors":[]}"#,
      #"{"type":"FeatureCollection","features":[]}"#, #"[]"#,
      #"{"total_count":0,"incomplete_results":false,"items":[]}"#, #"{"@odata.context":"x","value":[]}"#,
      #"{"status":"ok","meta":{"page":1},"_links":{"next":null},"results":[]}"#,
    ])
  func emptyLists(text: String) throws {
    let result = try read(text, as: "a.json")
    #expect(result.error == nil)
    #expect(result.records.isEmpty)
  }

  @Test("an object whose members look alike has a record per member, with its key in the column key")
  func members() throws {
    let text = "{ \"DE\" : {\"name\":\"Germany\"},\n\"F\\u0052\":{\"name\":\"\\u0046\", \"eu\": true}, \"\": {} }\n"
    let result = try read(text, as: "a.json")
    #expect(result.error == nil)
    #expect(
      result.named == [["key": "DE", "name": "Germany"], ["key": "FR", "name": "F", "eu": "<yes>"], ["key": ""]])
    #expect(result.lines == [1, 2, 2])
    #expect(result.raw[0] == "\"DE\" : {\"name\":\"Germany\"}")
    #expect(result.records[0].byteOffset == 2)
    #expect(try notes(text).contains("“key”"))
    #expect(try read(text, as: "a.json", ReaderOptions(root: ".")).records.count == 1)
  }

  @Test("a column can be named for the keys of any object")
  func keyColumn() throws {
    var options = ReaderOptions(columns: ["x", "id"], root: "data.all")
    options.keyColumn = "id"
    let text =
      #"{"data":{"n":2,"all":{"a":{"x":1},"b":{},"c":{"id":"c"},"d":{"id":"e"},"7":{"id":7},"f":{"id":null},"g":5}}}"#
    let result = try read(text, as: "a.json", options)
    #expect(result.error == nil)
    #expect(result.columns == ["x", "id"])
    #expect(result.records.map { $0.named["id"] } == ["a", "b", "c", "e", "7", "f", nil])
    #expect(
      result.problems == [nil, nil, nil, .keyDiffers(column: "id"), nil, nil, .notAnObject(found: "a number")])
    options.root = nil
    #expect(try read("{}", as: "a.json", options).records.isEmpty)
    let array = try read("[{}]", as: "a.json", options)
    guard case .invalidOption("key_column", _)? = array.error else {
      Issue.record("\(String(describing: array.error))")
      return
    }
  }

  @Test("mistakes in members end the reading where they are, and those within a text reject one record")
  func mistakes() throws {
    var options = ReaderOptions(maximumRecordBytes: 40)
    options.keyColumn = "id"
    let broken: [(String, Int64, Int64)] = [
      ("{\"a\":{\"x\":1},\n \"b\" {}}", 2, 6), ("{\"a\":{\"x\":1},\n}", 2, 1),
      ("{\"a\":{\"x\":1}\n,b:{}}", 2, 2),
    ]
    for (text, line, column) in broken {
      let result = try read(text, as: "a.json", options)
      #expect(result.named == [["id": "a", "x": "1"]])
      guard case .malformed(line, column, _)? = result.error else {
        Issue.record("\(text): \(String(describing: result.error))")
        continue
      }
    }
    let long = String(repeating: "x", count: 100)
    let text = #"{"a":{"x":"\ud800"},"\ud800":{},"c":{"x":"\#(long)"},"d":{"x":2}}"#
    let result = try read(text, as: "a.json", options)
    #expect(result.error == nil)
    #expect(result.problems.map { $0?.code } == ["malformed_json", "malformed_json", "record_too_long", nil])
    #expect(result.records.last?.named == ["id": "d", "x": "2"])
  }

  @Test(
    "several objects in a row are records, wherever they end",
    arguments: [
      "{\n  \"a\": 1,\n  \"b\": {\"c\": [\"}\"]}\n}\n{\n  \"a\": 2\n}\n", "{\"a\":1,\"b\":{\"c\": [\"}\"]}}{\"a\":2}",
      "\u{FEFF}\n{\"a\":1,\n\"b\":{\"c\": [\"}\"]}} {\"a\":2}\n\n",
    ])
  func documents(text: String) throws {
    for name in ["a.json", "a", "a.dat"] {
      let result = try read(text, as: name)
      #expect(result.error == nil)
      #expect(result.named == [["a": "1", "b": #"<nested>{"c": ["}"]}"#], ["a": "2"]])
    }
    #expect(try notes(text).contains("several JSON objects"))
    #expect(try read(text, as: "a.jsonl", ReaderOptions(format: .json)).records.count == 2)
  }

  @Test("several objects in a row may be long, hold lists, and have values of another kind between them")
  func longDocuments() throws {
    let long = String(repeating: "x\", \"", count: 40_000)
    let text = "{\n\"a\":[\"\(long)\"]}\n{}\n7\n[]\n{\"rows\":[{\"b\":1}]}\n"
    let result = try read(text, as: "a.json")
    #expect(result.error == nil)
    #expect(
      result.problems == [nil, nil, .notAnObject(found: "a number"), .notAnObject(found: "an array"), nil])
    #expect(result.records.last?.named == ["rows": #"<nested>[{"b":1}]"#])
    // A mistake ends the reading, and the objects before it are delivered.
    let broken = try read("{\n\"a\":1}\n{\"a\":2}\n{\"a\":}\n{\"a\":4}", as: "a.json")
    #expect(broken.named == [["a": "1"], ["a": "2"]])
    #expect(broken.error == .malformed(line: 4, column: 6, what: JSONMistake.expectedValue.description))
  }

  @Test("a mistake behind members that look alike doesn't lose the records before it")
  func broken() throws {
    let result = try read(#"{"a":{"x":1},"b":{"x":2},"c":{"x":}}"#, as: "a.json")
    #expect(result.named == [["key": "a", "x": "1"], ["key": "b", "x": "2"]])
    #expect(result.error != nil)
  }
}
