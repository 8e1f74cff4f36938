import Foundation

/// Excel workbooks, as small as they may be.
enum WorkbookText {
  /// A cell of a sheet.
  enum Cell {
    case text(String)
    case number(String)
    /// Days since 1899-12-30.
    case date(Int)
    case empty
  }

  /// A workbook with these sheets: texts are shared, and dates have the style of one.
  static func file(_ sheets: [(name: String, rows: [[Cell]])]) throws -> Data {
    let types = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    var texts: [String: Int] = [:]
    var strings = ""
    func index(_ text: String) -> Int {
      if let known = texts[text] { return known }
      strings += "<si><t xml:space=\"preserve\">\(escaped(text))</t></si>"
      texts[text] = texts.count
      return texts.count - 1
    }
    var parts: [(String, String)] = []
    var list = ""
    var links = link("t", "\(types)/sharedStrings", "sharedStrings.xml") + link("f", "\(types)/styles", "styles.xml")
    for (number, sheet) in sheets.enumerated() {
      var rows = ""
      for (row, cells) in sheet.rows.enumerated() {
        rows += "<row r=\"\(row + 1)\">"
        for (column, cell) in cells.enumerated() {
          let name = "r=\"\(letters(column))\(row + 1)\""
          switch cell {
          case .text(let text): rows += "<c \(name) t=\"s\"><v>\(index(text))</v></c>"
          case .number(let text): rows += "<c \(name)><v>\(text)</v></c>"
          case .date(let days): rows += "<c \(name) s=\"1\"><v>\(days)</v></c>"
          case .empty: break
          }
        }
        rows += "</row>"
      }
      parts.append(
        ("xl/worksheets/sheet\(number).xml", "<worksheet><sheetData>\(rows)</sheetData></worksheet>"))
      list += "<sheet name=\"\(escaped(sheet.name))\" sheetId=\"\(number + 1)\" r:id=\"s\(number)\"/>"
      links += link("s\(number)", "\(types)/worksheet", "worksheets/sheet\(number).xml")
    }
    parts += [
      ("[Content_Types].xml", "<Types/>"),
      ("_rels/.rels", "<Relationships>\(link("r", "\(types)/officeDocument", "xl/workbook.xml"))</Relationships>"),
      ("xl/workbook.xml", "<workbook xmlns:r=\"\(types)\"><sheets>\(list)</sheets></workbook>"),
      ("xl/_rels/workbook.xml.rels", "<Relationships>\(links)</Relationships>"),
      ("xl/sharedStrings.xml", "<sst>\(strings)</sst>"),
      ("xl/styles.xml", "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
    ]
    return try Packed.zip(parts.map { ($0.0, Data($0.1.utf8)) })
  }

  private static func link(_ id: String, _ type: String, _ target: String) -> String {
    "<Relationship Id=\"\(id)\" Type=\"\(type)\" Target=\"\(target)\"/>"
  }

  private static func letters(_ column: Int) -> String {
    let last = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(column % 26)))
    return column < 26 ? last : letters(column / 26 - 1) + last
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
