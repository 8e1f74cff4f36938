// A sheet as records: its rows, in order. One row gives the columns their names; a row without any cell is none. Memory is
// that of a row and of the batch.

/// Reads the rows of one sheet of a workbook. A record's line is the row's number.
final class SheetReader: SequentialReader {
  private(set) var columns: [String] = []
  private(set) var findings = ReaderFindings()
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private let rows: any SheetRows
  private let row: SheetRow
  private let sheet: String
  private let fileSize: Int64
  private let limit: ExpansionLimit
  /// The first row that may be a record.
  private var firstRow: Int64 = 1
  private var delivered: Int64 = 0
  /// The bytes of all records so far: a short file can have a long text many times.
  private var deliveredBytes: Int64 = 0
  private var mark: (offset: Int64, row: Int64)

  init(_ workbook: any Workbook, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    let chosen = try workbook.sheet(options.member)
    rows = try workbook.rows(of: chosen, options)
    row = SheetRow(maximumBytes: options.maximumRecordBytes)
    sheet = chosen.name
    fileSize = workbook.fileSize
    limit = options.expansionLimit
    mark = (0, 0)
    try readColumns(options)
    mark = (rows.offset, row.number)
    if options.member == nil, workbook.sheets.count > 1 {
      findings.notes.append("read the sheet “\(SourceError.shown(chosen.name))”, the only one that isn't hidden")
    }
    noteUnnamed()
    if let position { try resume(at: position) }
  }

  var bytesTotal: Int64 { rows.bytesTotal }
  var bytesRead: Int64 { rows.bytesRead }
  var rejectForm: any RejectForm { JSONLineRejects() }

  /// The state is the number of the bytes delivered.
  var position: ReaderPosition {
    ReaderPosition(byteOffset: mark.offset, line: mark.row + 1, record: delivered, state: "\(deliveredBytes)")
  }

  func read(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.isMadeOfCells = true
    batch.sheet = sheet
    return try readSequentially(into: batch, limit: limit)
  }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    let start = rows.offset
    guard try rows.next(into: row, from: firstRow) else { return false }
    deliveredBytes += row.cost
    try limit.check(unpacked: deliveredBytes, from: fileSize)
    row.deliver(to: batch, columns: columns.count, at: start)
    delivered += 1
    mark = (rows.offset, row.number)
    return true
  }

  private func readColumns(_ options: ReaderOptions) throws(ReaderError) {
    let skipped = Int64(options.skipLines)
    if !options.header {
      guard let given = options.columns, !given.isEmpty else { throw .noHeader }
      columns = given
      try ReaderOptions.check(names: columns, mayBeEmpty: true)
      firstRow = skipped + 1
      return
    }
    guard try rows.next(into: row, from: skipped + 1) else { throw .emptyFile }
    guard !row.isTooLong, row.text.count <= ReaderOptions.maximumColumnText else {
      throw .tooManyColumns(limit: ReaderOptions.maximumColumns)
    }
    var names: [String] = []
    for cell in row.cells {
      let bytes = row.text[Int(cell.offset)..<Int(cell.offset) + Int(cell.length)]
      let isText = bytes.withUnsafeBufferPointer { bytes in
        bytes.baseAddress.map { TextValidator.validate(from: $0, to: $0 + bytes.count) == nil } ?? true
      }
      guard isText else { throw rows.fault("a name of a column isn't UTF-8") }
      names.append(String(decoding: ValueBytes.trimmed(bytes), as: UTF8.self))
    }
    while names.last?.isEmpty == true { names.removeLast() }
    if let given = options.columns {
      guard given.count == names.count else { throw .columnCountDiffers(given: given.count, header: names.count) }
      names = given
    } else {
      findings.looksLikeHeader = row.cells.allSatisfy { [.text, .empty].contains($0.kind) }
    }
    try ReaderOptions.check(names: names, mayBeEmpty: true)
    columns = names
  }

  private func noteUnnamed() {
    let unnamed = columns.indices.filter { columns[$0].isEmpty }
    if !unnamed.isEmpty {
      let shown = unnamed.prefix(12).map { SheetPlace.column($0) }.joined(separator: ", ")
      let names = shown + (unnamed.count > 12 ? ", …" : "")
      findings.notes.append("column \(names) has no name in the header row and was ignored")
    }
    if findings.looksLikeHeader == false {
      findings.notes.append("the first row was taken for the column names, but looks like a record")
    }
  }

  private func resume(at position: ReaderPosition) throws(ReaderError) {
    guard let bytes = Int64(position.state), position.line >= 1, position.record >= 0,
      position.byteOffset >= mark.offset,
      try rows.resume(after: position.line - 1, at: position.byteOffset, row)
    else { throw .positionInvalid(position, fileSize: fileSize) }
    delivered = position.record
    deliveredBytes = bytes
    mark = (position.byteOffset, row.number)
  }
}
