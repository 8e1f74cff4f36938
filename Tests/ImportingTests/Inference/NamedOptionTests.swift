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
}
