// A sheet as records: its rows, in order. One row gives the columns their names; a row without any cell is none. The part is
// read token by token, so memory is that of a row, of the batch and of the blocks of shared texts.
//
// To resume, the sheet is unpacked again up to the byte after the last record, which isn't parsed; and shared texts are read
// again up to the last that is needed.

/// Reads the rows of one sheet of a workbook. A record's line is the row's number.
final class SheetReader: SequentialReader {
  private(set) var columns: [String] = []
  private(set) var findings = ReaderFindings()
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private let part: PartReader
  private let strings: SharedStrings
  private let styles: [ExcelDate.Style]
  private let dates: ExcelDate
  private let sheet: String
  private let fileSize: Int64
  private let maximumRecordBytes: Int
  private let maximumTextBytes: Int
  private let limit: ExpansionLimit
  private var hasEnded = false
  /// The last row that began.
  private var row: Int64 = 0
  private var delivered: Int64 = 0
  /// The bytes of all records so far: a short file can refer to a long text many times.
  private var deliveredBytes: Int64 = 0
  private var mark: (offset: Int64, row: Int64)

  // The row that is being read.
  private var scratch: [UInt8] = []
  private var cells: [Cell] = []
  /// The columns up to the last cell of the row.
  private var width = 0
  private var isTooLong = false
  private var formula: [UInt8] = []

  static let rowLimit: Int64 = 1_048_576
  static let columnLimit = 16_384
  /// The depth of rows and that of cells, in `worksheet` and `sheetData`.
  private static let rowDepth = 3
  /// The bytes that a row counts for beside its values.
  private static let rowBytes: Int64 = 8
  private static let shownFormula = 100

  init(
    descriptor: Int32, options: ReaderOptions, from position: ReaderPosition?, blockSize: Int = 256 << 10
  ) throws(ReaderError) {
    let workbook = try Workbook(descriptor: descriptor, options: options, blockSize: blockSize)
    let chosen = try workbook.sheet(options.member)
    part = try workbook.open(chosen)
    maximumRecordBytes = options.maximumRecordBytes
    maximumTextBytes = options.maximumWorkbookText
    strings = try workbook.sharedStrings(maximumBytes: maximumTextBytes)
    styles = try workbook.dateStyles()
    dates = ExcelDate(is1904: workbook.is1904)
    sheet = chosen.name
    fileSize = workbook.fileSize
    limit = options.expansionLimit
    mark = (0, 0)
    try enter()
    try readColumns(options)
    mark = (part.offset, row)
    if options.member == nil, workbook.sheets.count > 1 {
      findings.notes.append("read the sheet “\(SourceError.shown(chosen.name))”, the only one that isn't hidden")
    }
    noteUnnamed()
    if let position { try resume(at: position) }
  }

  var bytesTotal: Int64 { part.bytesTotal }
  var bytesRead: Int64 { part.bytesRead }
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
    let start = part.offset
    guard try nextRow(after: 0) else { return false }
    try put(into: batch, at: start)
    delivered += 1
    mark = (part.offset, row)
    return true
  }

  /// Moves to the rows.
  private func enter() throws(ReaderError) {
    guard case .start = try part.next(), part.isNamed("worksheet") else { throw part.fault("it isn't a sheet") }
    while try part.nextChild(at: 1) {
      if part.isNamed("sheetData") { return }
      try part.skip()
    }
    hasEnded = true
  }

  private func readColumns(_ options: ReaderOptions) throws(ReaderError) {
    if !options.header {
      guard let given = options.columns, !given.isEmpty else { throw .noHeader }
      columns = given
      try ReaderOptions.check(names: columns, mayBeEmpty: true)
      firstRow = Int64(options.skipLines) + 1
      return
    }
    guard try nextRow(after: Int64(options.skipLines)) else { throw .emptyFile }
    guard !isTooLong, scratch.count <= ReaderOptions.maximumColumnText else {
      throw .tooManyColumns(limit: ReaderOptions.maximumColumns)
    }
    var names: [String] = []
    for cell in cells {
      let bytes = scratch[Int(cell.offset)..<Int(cell.offset) + Int(cell.length)]
      let isText = bytes.withUnsafeBufferPointer { bytes in
        bytes.baseAddress.map { TextValidator.validate(from: $0, to: $0 + bytes.count) == nil } ?? true
      }
      guard isText else { throw part.fault("a name of a column isn't UTF-8") }
      names.append(String(decoding: ValueBytes.trimmed(bytes), as: UTF8.self))
    }
    while names.last?.isEmpty == true { names.removeLast() }
    if let given = options.columns {
      guard given.count == names.count else { throw .columnCountDiffers(given: given.count, header: names.count) }
      names = given
    } else {
      findings.looksLikeHeader = cells.allSatisfy { [.text, .empty].contains($0.kind) }
    }
    try ReaderOptions.check(names: names, mayBeEmpty: true)
    columns = names
    firstRow = row + 1
  }

  /// The first row that may be a record.
  private var firstRow: Int64 = 1

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
    guard let bytes = Int64(position.state), position.line >= 1, position.record >= 0, !hasEnded,
      position.byteOffset >= mark.offset, try part.seek(to: position.byteOffset)
    else { throw .positionInvalid(position, fileSize: fileSize) }
    row = position.line - 1
    delivered = position.record
    deliveredBytes = bytes
    mark = (position.byteOffset, row)
  }
}

// MARK: Rows and cells

extension SheetReader {
  /// Reads the next row that has a cell; false at the end of the sheet.
  private func nextRow(after skipped: Int64) throws(ReaderError) -> Bool {
    while !hasEnded {
      guard try part.nextChild(at: Self.rowDepth - 1) else {
        try end()
        return false
      }
      guard part.isNamed("row") else {
        try part.skip()
        continue
      }
      try beginRow()
      if row <= skipped || row < firstRow {
        try part.skip()
        continue
      }
      try readPlainCells()
      while try part.nextChild(at: Self.rowDepth) {
        if part.isNamed("c") { try readCell() } else { try part.skip() }
        try readPlainCells()
      }
      if width > 0 { return true }
    }
    return false
  }

  /// Reads the rest, whose checksum is at its end.
  private func end() throws(ReaderError) {
    try part.finish()
    try strings.finish()
    hasEnded = true
  }

  private func beginRow() throws(ReaderError) {
    scratch.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    width = 0
    isTooLong = false
    guard let number = part.attribute("r") else {
      row += 1
      guard row <= Self.rowLimit else { throw part.fault("it has more than \(Self.rowLimit) rows") }
      return
    }
    guard let found = ValueBytes.number(number), found > row, found <= Self.rowLimit else {
      throw part.fault("rows have to have numbers that grow, up to \(Self.rowLimit)")
    }
    row = found
  }

  /// Reads cells as long as they have the usual form and are in memory.
  private func readPlainCells() throws(ReaderError) {
    guard let (first, end) = part.waiting else { return }
    var place = first
    // What is wrong with a cell is found when it is read again.
    while let cell = PlainCell(place, end), try read(cell) { place = cell.end }
    part.pass(place - first)
  }

  /// - Returns: false if it isn't what it has to be.
  private func read(_ cell: PlainCell) throws(ReaderError) -> Bool {
    var column = width
    if let reference = cell.reference {
      guard let found = SheetPlace.column(of: reference) else { return false }
      column = found
    }
    guard column < Self.columnLimit, column >= width || cells[column].kind == .empty else { return false }
    guard let text = cell.value else { return true }
    guard text.count <= maximumTextBytes else { return false }
    let start = scratch.count
    let type = CellType(cell.type)
    let kind: Cell.Kind?
    if cell.isInline {
      scratch.append(contentsOf: text)
      XString.decode(&scratch, from: start)
      kind = .text
    } else if type == .shared {
      guard let index = ValueBytes.number(text), try strings.append(index, to: &scratch) else { return false }
      kind = .text
    } else {
      scratch.append(contentsOf: text)
      kind = try value(of: type, from: start, dateStyle(cell.style))
    }
    try put(kind, from: start, at: column)
    return true
  }

  /// How a cell with the number of a style shows its number.
  private func dateStyle(_ text: UnsafeBufferPointer<UInt8>?) -> ExcelDate.Style {
    let style = text.flatMap { ValueBytes.number($0) }.map { Int($0) } ?? 0
    return styles.indices.contains(style) ? styles[style] : .number
  }

  private func readCell() throws(ReaderError) {
    var column = width
    if let reference = part.attribute("r") {
      guard let found = SheetPlace.column(of: reference), found < Self.columnLimit else {
        throw part.fault("a cell's reference isn't one of A1 to XFD1048576")
      }
      column = found
    }
    guard column < Self.columnLimit else { throw part.fault("a row has more than \(Self.columnLimit) cells") }
    let type = CellType(part.attribute("t"))
    let style = dateStyle(part.attribute("s"))
    let start = scratch.count
    try put(readContent(type, style), from: start, at: column)
  }

  /// Keeps a cell of the row, whose text stands from a place on; nothing if it is empty.
  private func put(_ kind: Cell.Kind?, from start: Int, at column: Int) throws(ReaderError) {
    guard let kind else { return scratch.removeLast(scratch.count - start) }
    // Cells come in order, but for some programs.
    guard column >= width || cells[column].kind == .empty else { throw part.fault("a cell is there twice") }
    while cells.count <= column { cells.append(Cell(kind: .empty, offset: 0, length: 0)) }
    width = cells.count
    cells[column] = Cell(
      kind: kind, offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: scratch.count - start))
    if scratch.count > maximumRecordBytes {
      isTooLong = true
      scratch.removeLast(max(0, scratch.count - RecordBatch.keptBytes))
    }
  }

  /// Reads what stands in a cell, to its end, and appends its text; nil if it is empty.
  private func readContent(_ type: CellType, _ style: ExcelDate.Style) throws(ReaderError) -> Cell.Kind? {
    let start = scratch.count
    var hasValue = false
    var hasFormula = false
    var isInline = false
    while try part.nextChild(at: Self.rowDepth + 1) {
      if part.isNamed("v"), !hasValue {
        hasValue = true
        try part.readText(into: &scratch, limit: maximumTextBytes)
      } else if part.isNamed("is"), !hasValue {
        (hasValue, isInline) = (true, true)
        try part.readRichText(into: &scratch, limit: maximumTextBytes)
      } else if part.isNamed("f"), !hasFormula {
        hasFormula = true
        formula.removeAll(keepingCapacity: true)
        try part.readText(into: &formula, limit: maximumTextBytes)
      } else {
        try part.skip()
      }
    }
    guard hasValue else {
      guard hasFormula else { return nil }
      scratch.append(UInt8(ascii: "="))
      scratch.append(contentsOf: String(decoding: formula.prefix(Self.shownFormula), as: UTF8.self).utf8)
      return .fault
    }
    return isInline ? .text : try value(of: type, from: start, style)
  }

  /// The kind of the value whose text stands from a place on, and is replaced by what it means; nil if the cell is empty.
  private func value(
    of type: CellType, from start: Int, _ style: ExcelDate.Style
  ) throws(ReaderError) -> Cell.Kind? {
    switch type {
    case .number: return number(from: start, style)
    case .shared:
      guard let index = scratch[start...].withUnsafeBufferPointer({ ValueBytes.number($0) }) else {
        throw part.fault("a cell's text has no number")
      }
      scratch.removeSubrange(start...)
      guard try strings.append(index, to: &scratch) else {
        throw part.fault("a cell has text \(index), of \(strings.count) that the workbook has")
      }
      return .text
    case .text:
      XString.decode(&scratch, from: start)
      return .text
    case .date: return scratch.count > start ? .date : nil
    case .fault: return .fault
    case .boolean:
      switch scratch[start...].first {
      case UInt8(ascii: "1"), UInt8(ascii: "t"): return .yes
      case UInt8(ascii: "0"), UInt8(ascii: "f"): return .no
      default: return scratch.count > start ? .text : nil
      }
    }
  }

  /// The kind of the number from a place on, which is replaced if it is a date.
  private func number(from start: Int, _ style: ExcelDate.Style) -> Cell.Kind? {
    if scratch.count == start { return nil }
    let shape = scratch.withUnsafeBufferPointer { NumberText(UnsafeBufferPointer(rebasing: $0[start...])) }
    // No program writes that. It is what it is: a text.
    guard shape.isNumber else { return .text }
    guard style != .number || shape.isTooPrecise else { return .quantity }
    let text = String(decoding: scratch[start...], as: UTF8.self)
    guard let value = Double(text), value.isFinite else { return .quantity }
    if style == .number {
      // Excel writes 17 digits: 1.1 is 1.1000000000000001 there. The shortest text of the same number is its value.
      scratch.removeSubrange(start...)
      scratch.append(contentsOf: value.description.utf8)
      return .quantity
    }
    let end = scratch.count
    guard dates.append(value, style, to: &scratch) else { return .quantity }
    scratch.removeSubrange(start..<end)
    return style == .elapsed ? .text : .date
  }

  private func put(into batch: RecordBatch, at offset: Int64) throws(ReaderError) {
    deliveredBytes += Int64(scratch.count) + Self.rowBytes
    try limit.check(unpacked: deliveredBytes, from: fileSize)
    if isTooLong {
      return batch.finishTooLong(
        beginning: Array(scratch.prefix(RecordBatch.keptBytes)), line: row, byteOffset: offset,
        byteLength: maximumRecordBytes + 1, limit: maximumRecordBytes)
    }
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    let arena = UInt32(truncatingIfNeeded: storage.pointee.arenaCount)
    for column in columns.indices {
      guard column < cells.count else {
        storage.pointee.append(Cell(kind: .empty, offset: 0, length: 0))
        continue
      }
      var cell = cells[column]
      cell.offset &+= arena
      storage.pointee.append(cell)
    }
    let length = scratch.count
    // So that there is a place in memory, whatever the row has.
    scratch.append(0)
    let problem = scratch.withUnsafeBufferPointer { bytes -> RecordProblem? in
      guard let base = bytes.baseAddress else { return nil }
      storage.pointee.finish(
        bytes: base, kept: length, line: row, byteOffset: offset, byteLength: length, firstCell: firstCell)
      return TextValidator.validate(from: base, to: base + length)
    }
    if let problem {
      batch.setProblem(problem)
    } else if cells.count > columns.count {
      batch.setProblem(.tooManyFields(expected: columns.count, found: cells.count))
    }
  }
}

/// The type of a cell's value. Source: ECMA-376, part 1, 18.18.11 (ST_CellType).
private enum CellType {
  case number, shared, text, boolean, fault, date

  init(_ name: UnsafeBufferPointer<UInt8>?) {
    guard let name, let first = name.first else {
      self = .number
      return
    }
    switch (first, name.count) {
    case (UInt8(ascii: "n"), 1): self = .number
    case (UInt8(ascii: "s"), 1): self = .shared
    case (UInt8(ascii: "b"), 1): self = .boolean
    case (UInt8(ascii: "e"), 1): self = .fault
    case (UInt8(ascii: "d"), 1): self = .date
    // `str`, the text of a formula, and `inlineStr`.
    default: self = .text
    }
  }
}

/// Whether a text is a number, and whether Excel wrote more digits of it than it means.
private struct NumberText {
  let isNumber: Bool
  let isTooPrecise: Bool

  /// The digits that Excel keeps of a number that is entered.
  private static let digits = 15

  init(_ text: UnsafeBufferPointer<UInt8>) {
    guard let start = text.baseAddress, case let end = start + text.count,
      case .end(end) = JSONToken.number(start, end, final: true)
    else {
      (isNumber, isTooPrecise) = (false, false)
      return
    }
    isNumber = true
    guard text.count > Self.digits else {
      isTooPrecise = false
      return
    }
    var significant = 0
    var isWhole = true
    for byte in text {
      if byte == UInt8(ascii: ".") {
        isWhole = false
      } else if byte | 0x20 == UInt8(ascii: "e") {
        isWhole = false
        break
      } else if byte &- 0x30 < 10, significant > 0 || byte != UInt8(ascii: "0") {
        significant += 1
      }
    }
    isTooPrecise = !isWhole && significant > Self.digits
  }
}

/// What is read of bytes without making a text of them.
private enum ValueBytes {
  /// A whole number without a sign.
  static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard (1...18).contains(bytes.count) else { return nil }
    var number: Int64 = 0
    for byte in bytes {
      let digit = byte &- 0x30
      guard digit < 10 else { return nil }
      number = number * 10 + Int64(digit)
    }
    return number
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let last = bytes.last, JSONToken.isSpace(last) { bytes.removeLast() }
    return bytes.drop(while: JSONToken.isSpace)
  }
}

/// Places in a sheet, as Excel writes them.
enum SheetPlace {
  /// The index of the column of a reference such as `C7`, from 0; nil if it isn't one.
  static func column(of reference: UnsafeBufferPointer<UInt8>) -> Int? {
    var column = 0
    var letters = 0
    for byte in reference {
      let letter = byte & 0xDF &- 0x41
      guard byte & 0x40 != 0, letter < 26, letters < 3 else { break }
      column = column * 26 + Int(letter) + 1
      letters += 1
    }
    let digits = reference.count - letters
    guard letters > 0, (1...7).contains(digits), reference[letters...].allSatisfy({ $0 &- 0x30 < 10 }) else {
      return nil
    }
    return column - 1
  }

  /// The letters of a column, from 0: `A`, `XFD`.
  static func column(_ index: Int) -> String {
    var rest = index + 1
    var letters: [UInt8] = []
    while rest > 0 {
      letters.append(UInt8(ascii: "A") + UInt8((rest - 1) % 26))
      rest = (rest - 1) / 26
    }
    return String(decoding: letters.reversed(), as: UTF8.self)
  }

  /// A cell, or a row, as in a formula: `People!C7`, `'My people'!7:7`.
  static func name(_ sheet: String, row: Int64, column: Int?) -> String {
    let isPlain = sheet.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && sheet.first?.isNumber != true
    let shown = SourceError.shown(sheet)
    let name = isPlain ? shown : "'\(shown.replacing("'", with: "''"))'"
    return "\(name)!" + (column.map { self.column($0) + "\(row)" } ?? "\(row):\(row)")
  }
}
