/// A file of sheets: an Excel workbook or an OpenDocument spreadsheet.
protocol Workbook {
  /// The sheets with cells, in their order, as far as they were looked for.
  var sheets: [WorkbookSheet] { get }
  var fileSize: Int64 { get }

  /// The rows of one of the sheets, from its first.
  func rows(of sheet: WorkbookSheet, _ options: ReaderOptions) throws(ReaderError) -> any SheetRows
}

/// A sheet of a workbook.
struct WorkbookSheet: Hashable {
  let name: String
  /// Its place among all sheets.
  let index: Int
  let isHidden: Bool

  /// As many can be in one file.
  static let limit = 10_000
}

/// The rows of a sheet, from front to back.
protocol SheetRows: AnyObject {
  /// Offset in the unpacked part of the byte after the last row.
  var offset: Int64 { get }
  var bytesTotal: Int64 { get }
  var bytesRead: Int64 { get }

  /// Reads the next row that has a cell, leaving out those before a number.
  /// - Parameter row: where it goes. It is the same each time: a row may be there several times.
  /// - Returns: false at the end of the sheet, when the rest of the file has been read, too.
  func next(into row: SheetRow, from first: Int64) throws(ReaderError) -> Bool

  /// Moves on to the end of the row with a number, where an earlier reader stood at an offset.
  /// - Returns: false if there is no such place.
  func resume(after number: Int64, at offset: Int64, _ row: SheetRow) throws(ReaderError) -> Bool

  /// An error in the sheet at this place.
  func fault(_ what: String) -> ReaderError
}

extension Workbook {
  /// The sheets that options choose: by name, by a pattern, or all that aren't hidden.
  func chosen(_ member: String?) throws(ReaderError) -> [WorkbookSheet] {
    guard let member else {
      let visible = sheets.filter { !$0.isHidden }
      return visible.isEmpty ? sheets : visible
    }
    if let exact = sheets.first(where: { $0.name == member }) { return [exact] }
    // As Excel and LibreOffice compare names.
    let same = sheets.filter { $0.name.lowercased() == member.lowercased() }
    if !same.isEmpty { return same }
    let pattern = MemberPattern(member)
    let found = sheets.filter { pattern.matches($0.name) }
    guard !found.isEmpty else {
      throw .workbook(.sheetNotFound(sheet: member, found: sheets.prefix(20).map(\.name)))
    }
    return found
  }

  /// The one sheet that options choose.
  func sheet(_ member: String?) throws(ReaderError) -> WorkbookSheet {
    let found = try chosen(member)
    guard let only = found.first else { throw .workbook(.noSheet) }
    guard found.count == 1 else { throw .workbook(.severalSheets(found: found.prefix(20).map(\.name))) }
    return only
  }
}

extension FileFormats {
  /// The workbook that a file is, and its format; nil if it is none.
  func workbook(
    descriptor: Int32, options: ReaderOptions
  ) throws(ReaderError) -> (format: any FileFormat, workbook: any Workbook)? {
    let beginning = try PlainSource(descriptor: descriptor).readSample(SourceSample.signatureSize)
    for format in candidates(options) {
      guard case .file(let access) = format.access, let open = access.workbook,
        format.signatures.contains(where: beginning.starts(with:)), access.isOfFormat(descriptor, beginning, options)
      else { continue }
      return (format, try open(descriptor, options))
    }
    return nil
  }
}

extension ReaderOptions {
  /// The longest text of a cell, and the longest tag. Excel's have up to 32,767 characters, whatever a record may have.
  var maximumWorkbookText: Int { max(maximumRecordBytes, 256 << 10) }
}
