import Foundation
import Testing

@testable import Importing

/// A workbook made by hand, part by part.
struct WorkbookFile {
  /// The rows of each sheet, as XML, and its state.
  var sheets: [(name: String, rows: String, state: String?)] = []
  /// The content of each shared text: `<t>a</t>`.
  var strings: [String] = []
  /// The number format of each style: the number of a built-in one, or a code.
  var formats: [String] = []
  var is1904 = false
  /// Parts in place of those that would be written, or beside them; nil leaves one out.
  var parts: [String: String?] = [:]
  var namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
  var relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
  /// Whether the archive's members are in the opposite order.
  var isReversed = false

  init() {}

  /// A workbook with one sheet.
  init(_ rows: String, strings: [String] = [], formats: [String] = []) {
    sheets = [("Data", rows, nil)]
    self.strings = strings
    self.formats = formats
  }

  func bytes() throws -> [UInt8] {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    var made: [(String, String)] = [
      ("[Content_Types].xml", "<Types/>"),
      (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"r1\" Type=\"\(relationships)/officeDocument\" Target=\"xl/workbook.xml\"/>"
          + "</Relationships>"
      ),
    ]
    var list = ""
    var links = ""
    for (index, sheet) in sheets.enumerated() {
      let state = sheet.state.map { " state=\"\($0)\"" } ?? ""
      list += "<sheet name=\"\(sheet.name)\" sheetId=\"\(index + 1)\"\(state) r:id=\"s\(index)\"/>"
      links +=
        "<Relationship Id=\"s\(index)\" Type=\"\(relationships)/worksheet\" Target=\"worksheets/sheet\(index).xml\"/>"
      made.append(
        (
          "xl/worksheets/sheet\(index).xml",
          "<worksheet xmlns=\"\(namespace)\"><sheetData>\(sheet.rows)</sheetData></worksheet>"
        ))
    }
    if !strings.isEmpty {
      links += "<Relationship Id=\"t\" Type=\"\(relationships)/sharedStrings\" Target=\"/xl/sharedStrings.xml\"/>"
      made.append(
        ("xl/sharedStrings.xml", "<sst xmlns=\"\(namespace)\">\(strings.map { "<si>\($0)</si>" }.joined())</sst>"))
    }
    if !formats.isEmpty {
      links += "<Relationship Id=\"f\" Type=\"\(relationships)/styles\" Target=\"./styles.xml\"/>"
      var codes = ""
      var styles = ""
      for (index, format) in formats.enumerated() {
        let number = Int(format) ?? 164 + index
        if Int(format) == nil {
          codes += "<numFmt numFmtId=\"\(number)\" formatCode=\"\(XMLText.escaped(format, inLine: true))\"/>"
        }
        styles += "<xf numFmtId=\"\(number)\"/>"
      }
      made.append(
        (
          "xl/styles.xml",
          "<styleSheet><numFmts>\(codes)</numFmts><cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>"
            + "<cellXfs>\(styles)</cellXfs></styleSheet>"
        ))
    }
    made.append(
      (
        "xl/workbook.xml",
        "<workbook xmlns=\"\(namespace)\" xmlns:r=\"\(relationships)\"><workbookPr date1904=\"\(is1904 ? 1 : 0)\"/>"
          + "<sheets>\(list)</sheets></workbook>"
      ))
    made.append(("xl/_rels/workbook.xml.rels", "<Relationships>\(links)</Relationships>"))
    var files: [(String, [UInt8])] = made.compactMap { name, xml in
      guard let other = parts[name] else { return (name, Array((head + xml).utf8)) }
      return other.map { (name, Array($0.utf8)) }
    }
    for (name, text) in parts.sorted(by: { $0.key < $1.key }) where !made.contains(where: { $0.0 == name }) {
      if let text { files.append((name, Array(text.utf8))) }
    }
    return try Packing.zip(isReversed ? files.reversed() : files)
  }

  func read(
    _ options: ReaderOptions = ReaderOptions(), as name: String = "a.xlsx", from position: ReaderPosition? = nil,
    limit: Int = 1_000
  ) throws -> ReadResult {
    try SourceFile(bytes(), name: name).read(options, from: position, limit: limit)
  }

  /// A row of cells that are texts in place.
  static func row(_ number: Int, _ texts: [String]) -> String {
    let cells = texts.enumerated().map { column, text in
      text.isEmpty
        ? "" : "<c r=\"\(SheetPlace.column(column))\(number)\" t=\"inlineStr\"><is><t>\(text)</t></is></c>"
    }
    return "<row r=\"\(number)\">\(cells.joined())</row>"
  }

  /// A file that another program wrote.
  static func resource(_ name: String) throws -> [UInt8] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return Array(try Data(contentsOf: folder.appendingPathComponent("Resources/\(name)")))
  }
}
