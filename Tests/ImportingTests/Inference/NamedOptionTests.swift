import Testing

@testable import Importing

@Suite("Options of readers by name")
struct NamedOptionTests {
  @Test("have the names that recipes have")
  func options() throws {
    let options = try ReaderOptions(named: [
      "delimiter": ["tab"], "quote": ["none"], "header": ["false"], "columns": ["a", "b"], "skip_lines": ["2"],
      "encoding": ["latin1"], "comment": ["#"], "format": ["csv"],
    ])
    var expected = ReaderOptions(format: .csv, delimiter: "\t", quote: nil, header: false, columns: ["a", "b"])
    expected.skipLines = 2
    expected.comment = "#"
    expected.encoding = TextEncoding(name: "latin1")
    #expect(options == expected)
    let fixed = try ReaderOptions(named: [
      "format": ["fixed_width"], "fields": ["id:5,name:8-27"], "field_unit": ["bytes"], "short_lines": ["true"],
    ])
    var layout = FixedWidthLayout(columns: [.init("id", width: 5), .init("name", start: 8, end: 27)], unit: .bytes)
    layout.allowsShortLines = true
    #expect(fixed.fixedWidth == layout)
  }

  @Test(
    "that nobody knows, or with values that make no sense, are refused by name",
    arguments: [
      ("delimeter", [";"]), ("header", ["maybe"]), ("skip_lines", ["-1"]), ("format", ["xlsx"]), ("root", ["a", "b"]),
      ("delimiter", ["::"]), ("fields", ["id"]), ("field_unit", ["bytes"]), ("encoding", ["klingon"]),
    ])
  func refused(_ name: String, _ texts: [String]) {
    #expect {
      try ReaderOptions(named: [name: texts])
    } throws: {
      "\($0)".contains(name == "field_unit" ? "fields" : name)
    }
  }

  @Test("are told by the nearest name, or by all that there are")
  func told() {
    func message(_ name: String) -> String {
      do {
        _ = try ReaderOptions(named: [name: ["x"]])
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(message("delimeter").contains("did you mean delimiter?"))
    #expect(message("zzzzzzzzzz").contains("format, member, encoding"))
    // What recipes have, and what a model can't be inferred by.
    #expect(message("batch_size").contains("it says nothing about how a file is read"))
  }

  @Test("are those that a recipe has of how a file is read", arguments: ImportOptionKey.allCases)
  func complete(_ key: ImportOptionKey) {
    // Whatever is wrong with the value, the name is known, or said to be of something else.
    var reason = ""
    do {
      _ = try ReaderOptions(named: [key.rawValue: ["¤"]])
    } catch ReaderError.invalidOption(let name, let words) {
      reason = "\(name): \(words)"
    } catch {
      reason = "\(error)"
    }
    #expect(reason.contains("says nothing about how a file is read") == !key.isOfReading, "\(reason)")
  }
}
