import Foundation
import Testing

@testable import Importing

@Suite("JSON: arrays of objects")
struct JSONReaderTests {
  @Test("an array's objects are records, their keys columns")
  func array() throws {
    let result = try read(#"[{"id":1,"name":"Ann"},{"name":"Bob","id":-2.5e3}]"#, as: "a.json")
    #expect(result.columns == ["id", "name"])
    #expect(result.cells == [["1", "Ann"], ["-2.5e3", "Bob"]])
    #expect(result.raw == [#"{"id":1,"name":"Ann"}"#, #"{"name":"Bob","id":-2.5e3}"#])
    #expect(result.error == nil)
  }

  @Test("every kind of value keeps its kind")
  func kinds() throws {
    let text = #"[{"s":"","n":0,"t":true,"f":false,"z":null,"o":{"a":[1, 2]},"l":[],"u":"ü"}]"#
    #expect(
      try read(text, as: "a.json").cells
        == [["", "0", "<yes>", "<no>", "<null>", #"<nested>{"a":[1, 2]}"#, "<nested>[]", "ü"]])
  }

  @Test("a key that appears later is a further column, missing before")
  func newKeys() throws {
    let result = try read(#"[{"a":1},{"b":2},{},{"a":3,"c":4}]"#, as: "a.json")
    #expect(result.columns == ["a", "b", "c"])
    #expect(result.named == [["a": "1"], ["b": "2"], [:], ["a": "3", "c": "4"]])
  }

  @Test("known columns can be given and come first")
  func givenColumns() throws {
    let result = try read(#"[{"x":1,"b":2}]"#, as: "a.json", ReaderOptions(columns: ["a", "b"]))
    #expect(result.columns == ["a", "b", "x"])
    #expect(result.cells == [["<missing>", "2", "1"]])
  }

  @Test("hundreds of keys are distinguished")
  func manyKeys() throws {
    let keys = (0..<700).map { "key\($0)" }
    let object = "{" + keys.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ",") + "}"
    let reversed = "{" + keys.reversed().map { "\"\($0)\":\"\($0)\"" }.joined(separator: ",") + "}"
    let result = try read("[\(object),\(reversed)]", as: "a.json")
    #expect(result.columns == keys)
    #expect(result.cells == [keys, keys])
  }

  @Test("escapes are decoded, in keys too")
  func escapes() throws {
    let text = #"[{"a\n\u0062":"\"\\\/\b\f\n\r\t\u00e9\u65E5\ud83d\uDE00 end"}]"#
    let result = try read(text, as: "a.json")
    #expect(result.columns == ["a\nb"])
    #expect(result.cells == [["\"\\/\u{8}\u{C}\n\r\té日😀 end"]])
    #expect(result.raw == [String(text.dropFirst().dropLast())])
  }

  @Test("of two equal keys the last wins, whatever the values are")
  func duplicateKeys() throws {
    let values = [
      ("1", "1"), (#""x""#, "x"), (#""\\n""#, "\\n"), (#"["\\n"]"#, #"<nested>["\\n"]"#), ("null", "<null>"),
    ]
    for first in values {
      for last in values {
        let result = try read(#"[{"a":\#(first.0),"b":"\t","\u0061":\#(last.0)}]"#, as: "a.json")
        #expect(result.cells == [[last.1, "\t"]])
      }
    }
  }

  @Test("white space and a byte order mark are skipped, lines are counted")
  func whiteSpace() throws {
    let text = "\u{FEFF} \n[\r\n\t{\n \"a\" :\n 1 }\n,\n {\"a\":\"x\"}\n]\n\n"
    let result = try read(text, as: "a.json")
    #expect(result.cells == [["1"], ["x"]])
    #expect(result.lines == [3, 7])
  }

  @Test("the array can stand under a key path", arguments: ["a.b", "a.b.c"])
  func root(path: String) throws {
    var text = #"[{"id":1},{"id":2}]"#
    for key in path.split(separator: ".").reversed() {
      text = #"{"before":[{"id":0},[[]],"]"],"x":"\"}","\#(key)": \#(text) ,"after":{"\#(key)":[{}]}}"#
    }
    let result = try read(text, as: "a.json", ReaderOptions(root: path))
    #expect(result.cells == [["1"], ["2"]])
    #expect(result.error == nil)
  }

  @Test("without a root, the one top-level array of objects is taken")
  func rootFound() throws {
    let result = try read(#"{"version":1,"tags":["x"],"none":[],"3166-1":[{"a":1}]}"#, as: "a.json")
    #expect(result.cells == [["1"]])
    #expect(try read(#"{"a":[],"b":1}"#, as: "a.json").error == nil)
    #expect(try read("[]", as: "a.json") == ReadResult())
  }

  @Test("a root that isn't there, isn't an array, or isn't clear is an error that names the keys")
  func rootErrors() throws {
    let text = #"{"x":[{}],"y":[{}],"z":{"w":3}}"#
    #expect(try read(text, as: "a.json").error == .severalRoots(found: ["x", "y"]))
    #expect(
      try read(text, as: "a.json", ReaderOptions(root: "q")).error == .rootNotFound(path: "q", found: ["x", "y", "z"]))
    #expect(
      try read(text, as: "a.json", ReaderOptions(root: "z.q")).error == .rootNotFound(path: "z.q", found: ["w"]))
    #expect(
      try read(text, as: "a.json", ReaderOptions(root: "z.w")).error == .notAnArray(path: "z.w", found: "a number"))
    #expect(
      try read(text, as: "a.json", ReaderOptions(root: "z.w.v")).error == .notAnArray(path: "z.w", found: "a number"))
    #expect(try read("{}", as: "a.json").error == .rootNotFound(path: "", found: []))
    #expect(try read("17", as: "a.json").error == .notAnArray(path: "", found: "a number"))
    #expect(try read("[{}]", as: "a.json", ReaderOptions(root: "a")).error == .notAnArray(path: "", found: "an array"))
  }

  @Test("an element that is no object is a record with a problem")
  func notAnObject() throws {
    let result = try read(#"[1,{"a":2},"x",[{"a":3}],null,true]"#, as: "a.json")
    #expect(
      result.problems == [
        .notAnObject(found: "a number"), nil, .notAnObject(found: "a string"), .notAnObject(found: "an array"),
        .notAnObject(found: "null"), .notAnObject(found: "a Boolean"),
      ])
    #expect(result.raw[3] == #"[{"a":3}]"#)
  }

  @Test("an object that isn't UTF-8 is a record with a problem")
  func invalidUTF8() throws {
    let bytes = Array(#"[{"a":""#.utf8) + [0xFF] + Array(#""},{"a":"é"}]"#.utf8)
    let result = try SourceFile(bytes, name: "a.json").read()
    #expect(result.problems == [.invalidUTF8, nil])
  }

  @Test("an element longer than the limit keeps its beginning, and the next is read")
  func tooLong() throws {
    let long = String(repeating: #"x\n\u00e9"#, count: 20_000)
    for blockSize in [1_000, 256 << 10] {
      let result = try read(
        #"[{"a":1},{"a":"\#(long)","b":{}},[ "\#(long)" ],{"a":2}]"#, as: "a.json",
        ReaderOptions(maximumRecordBytes: 10_000), blockSize: blockSize)
      #expect(result.error == nil)
      #expect(result.problems == [nil, .recordTooLong(limit: 10_000), .recordTooLong(limit: 10_000), nil])
      #expect(result.records[1].byteLength == Int64(long.utf8.count + 15))
      #expect(result.records[1].raw.count == 64 << 10)
      #expect(result.named[3] == ["a": "2"])
    }
  }

  @Test("random objects come out as Foundation reads them", arguments: 0..<30)
  func random(seed: UInt64) throws {
    var dice = Dice(seed: seed + 100)
    func value(_ depth: Int) -> Any {
      switch dice.roll(depth > 3 ? 5 : 7) {
      case 0: return dice.roll(1_000_000) - 500_000
      case 1: return NSNull()
      case 2: return dice.roll(2) == 0
      case 3, 4:
        return (0..<dice.roll(12)).map { _ in dice.pick(["a", "\"", "\\", "\n", "é", "😀", "\u{1}", "/"]) }.joined()
      case 5: return (0..<dice.roll(4)).map { _ in value(depth + 1) }
      default: return ["k\(dice.roll(3))": value(depth + 1)]
      }
    }
    let objects = (0..<40).map { _ in
      Dictionary((0..<dice.roll(6)).map { _ in ("c\(dice.roll(9))", value(0)) }, uniquingKeysWith: { $1 })
    }
    let options: JSONSerialization.WritingOptions = dice.roll(2) == 0 ? [.prettyPrinted] : []
    let data = try JSONSerialization.data(withJSONObject: objects, options: options)
    let result = try SourceFile(Array(data), name: "a.json").read(limit: 7, blockSize: 1 + dice.roll(100))
    #expect(result.error == nil)
    try #require(result.records.count == objects.count)
    for (record, object) in zip(result.records, objects) {
      #expect(Set(record.named.keys) == Set(object.keys))
      for (key, wanted) in object {
        let found = try #require(record.named[key])
        switch wanted {
        case is NSNull: #expect(found == "<null>")
        case let flag as Bool: #expect(found == (flag ? "<yes>" : "<no>") || found == "\(wanted)")
        case let text as String: #expect(found == text)
        case let number as Int: #expect(found == "\(number)")
        default:
          let raw = try #require(found.hasPrefix("<nested>") ? found.dropFirst(8) : nil)
          let parsed = try JSONSerialization.jsonObject(with: Data(raw.utf8), options: [.fragmentsAllowed])
          #expect(parsed as? NSObject == wanted as? NSObject)
        }
      }
    }
  }
}
