/// The tables of a spreadsheet, one after the other. Styles that hide tables come before all of them.
final class OpenDocumentTables {
  let part: PartReader
  /// The prefixes of attributes that have the same names.
  let prefixes: Prefixes
  /// The table that was entered last.
  private(set) var current: WorkbookSheet?
  /// The names of the styles of tables that aren't displayed.
  private var hiddenStyles: Set<String> = []
  private var count = 0

  struct Prefixes {
    let office: [UInt8]
    /// That of LibreOffice's own attributes.
    let extended: [UInt8]?
  }

  /// The depth of tables, in `office:document-content`, `office:body` and `office:spreadsheet`, is one more.
  private static let depth = 3
  /// The style of tables in which LibreOffice keeps the cells of other files that formulas refer to.
  private static let externalStyle = "ta_extref"
  private static let styleLimit = 1 << 14

  /// Moves to the tables.
  init(_ part: PartReader) throws(ReaderError) {
    self.part = part
    guard case .start = try part.next(), part.isNamed("document-content") || part.isNamed("document") else {
      throw part.fault("it isn't the content of a document")
    }
    prefixes = Prefixes(
      office: part.prefix(of: "urn:oasis:names:tc:opendocument:xmlns:office:1.0") ?? Array("office".utf8),
      extended: part.prefix(of: "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"))
    while try part.nextChild(at: 1) {
      if part.isNamed("body") {
        while try part.nextChild(at: 2) {
          if part.isNamed("spreadsheet") { return }
          try part.skip()
        }
        throw .workbook(.notOpenDocument)
      } else if part.isNamed("automatic-styles") || part.isNamed("styles") {
        while try part.nextChild(at: 2) { try readStyle() }
      } else {
        try part.skip()
      }
    }
    throw part.fault("it has no tables")
  }

  /// Enters the next table; nil if there is none, when the rest has been read, too.
  func next() throws(ReaderError) -> WorkbookSheet? {
    while try part.nextChild(at: Self.depth) {
      let style = part.text(of: "style-name")
      guard part.isNamed("table"), style != Self.externalStyle else {
        try part.skip()
        continue
      }
      guard let name = part.text(of: "name") else { throw part.fault("a table needs a name") }
      guard count < WorkbookSheet.limit else {
        throw .workbook(.tooMuch(of: "sheets", limit: WorkbookSheet.limit))
      }
      let sheet = WorkbookSheet(name: name, index: count, isHidden: style.map(hiddenStyles.contains) ?? false)
      count += 1
      current = sheet
      return sheet
    }
    try part.finish()
    return nil
  }

  /// Passes the table that was entered.
  func skip() throws(ReaderError) { try part.skip() }

  private func readStyle() throws(ReaderError) {
    guard part.isNamed("style"), part.text(of: "family") == "table", let name = part.text(of: "name") else {
      return try part.skip()
    }
    while try part.nextChild(at: Self.depth) {
      if part.isNamed("table-properties"), part.text(of: "display") == "false" {
        guard hiddenStyles.count < Self.styleLimit else {
          throw .workbook(.tooMuch(of: "styles of tables", limit: Self.styleLimit))
        }
        hiddenStyles.insert(name)
      }
      try part.skip()
    }
  }
}
