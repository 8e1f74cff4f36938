// All tables are in one part, one after the other: what lists them reads it to its end, and what reads one passes those
// before it.

/// An OpenDocument spreadsheet.
struct OpenDocumentWorkbook: Workbook {
  let sheets: [WorkbookSheet]
  let fileSize: Int64
  private let content: OpenDocumentContent
  /// The tables, at the one that was looked for. Its rows can be read once.
  private let found: OpenDocumentTables?

  /// - Parameter upTo: the name of the sheet that is looked for: those after it aren't listed. If there is none, or nil, all
  ///   are.
  /// - Throws: ``WorkbookError``, or what is wrong with the archive.
  init(
    descriptor: Int32, options: ReaderOptions, upTo name: String? = nil, blockSize: Int = 256 << 10
  ) throws(ReaderError) {
    content = try OpenDocumentContent(descriptor: descriptor, options: options, blockSize: blockSize)
    fileSize = try content.fileSize
    let tables = try content.tables()
    var sheets: [WorkbookSheet] = []
    while let sheet = try tables.next() {
      sheets.append(sheet)
      if sheet.name == name { break }
      try tables.skip()
    }
    self.sheets = sheets
    found = sheets.last.flatMap { $0.name == name ? tables : nil }
  }

  func rows(of sheet: WorkbookSheet, _ options: ReaderOptions) throws(ReaderError) -> any SheetRows {
    if let found, found.current == sheet {
      return OpenDocumentRows(found, maximumTextBytes: options.maximumWorkbookText)
    }
    let tables = try content.tables()
    while let next = try tables.next() {
      if next == sheet { return OpenDocumentRows(tables, maximumTextBytes: options.maximumWorkbookText) }
      try tables.skip()
    }
    throw .workbook(.sheetNotFound(sheet: sheet.name, found: sheets.prefix(20).map(\.name)))
  }
}
