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
    "that don't exist, or with invalid values, are refused by name",
    arguments: [
      ("delimeter", [";"]), ("header", ["maybe"]), ("skip_lines", ["-1"]), ("format", ["orc"]),
      ("root", ["a", "b"]),
      ("delimiter", ["::"]), ("fields", ["id"]), ("field_unit", ["bytes"]), ("encoding", ["klingon"]),
    ])
  func refused(_ name: String, _ texts: [String]) {
    #expect {
      try ReaderOptions(named: [name: texts])
    } throws: {
      "\($0)".contains(name == "field_unit" ? "fields" : name)
    }
  }

  @Test("that don't exist are answered by the nearest name, or by all names")
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
    // An option of recipes that says nothing about reading.
    #expect(message("batch_size").contains("it says nothing about how a file is read"))
  }

  @Test("are the options of reading that a recipe has", arguments: ImportOptionKey.allCases)
  func complete(_ key: ImportOptionKey) {
    // Whatever the fault of the value, the name is known, or reported as an option of something else.
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
