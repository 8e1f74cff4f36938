// The part is read token by token, so memory is that of a row and of the blocks of shared texts.
//
// To resume, the sheet is unpacked again up to the byte after the last record, which isn't parsed; and shared texts are read
// again up to the last that is needed.

/// The rows of a sheet of an Excel workbook.
final class ExcelRows: SheetRows {
  private let part: PartReader
  private let strings: SharedStrings
  private let styles: [ExcelDate.Style]
  private let dates: ExcelDate
  private let maximumTextBytes: Int
  private var hasEnded = false
  private var formula: [UInt8] = []

  /// The depth of rows and that of cells, in `worksheet` and `sheetData`.
  private static let rowDepth = 3

  init(
    _ part: PartReader, strings: SharedStrings, styles: [ExcelDate.Style], dates: ExcelDate, maximumTextBytes: Int
  ) throws(ReaderError) {
    self.part = part
    self.strings = strings
    self.styles = styles
    self.dates = dates
    self.maximumTextBytes = maximumTextBytes
    guard case .start = try part.next(), part.isNamed("worksheet") else { throw part.fault("it isn't a sheet") }
    while try part.nextChild(at: 1) {
      if part.isNamed("sheetData") { return }
      try part.skip()
    }
    hasEnded = true
  }

  var offset: Int64 { part.offset }
  var bytesTotal: Int64 { part.bytesTotal }
  var bytesRead: Int64 { part.bytesRead }

  func fault(_ what: String) -> ReaderError { part.fault(what) }

  func next(into row: SheetRow, from first: Int64) throws(ReaderError) -> Bool {
    while !hasEnded {
      guard try part.nextChild(at: Self.rowDepth - 1) else {
        try end()
        return false
      }
      guard part.isNamed("row") else {
        try part.skip()
        continue
      }
      try begin(row)
      if row.number < first {
        try part.skip()
        continue
      }
      try readPlainCells(into: row)
      while try part.nextChild(at: Self.rowDepth) {
        if part.isNamed("c") { try readCell(into: row) } else { try part.skip() }
        try readPlainCells(into: row)
      }
      if !row.cells.isEmpty { return true }
    }
    return false
  }

  func resume(after number: Int64, at offset: Int64, _ row: SheetRow) throws(ReaderError) -> Bool {
    guard !hasEnded, offset >= part.offset, try part.seek(to: offset) else { return false }
    row.begin(number)
    return true
  }

  /// Reads the rest, whose checksum is at its end.
  private func end() throws(ReaderError) {
    try part.finish()
    try strings.finish()
    hasEnded = true
  }

  private func begin(_ row: SheetRow) throws(ReaderError) {
    guard let number = part.attribute("r") else {
      guard row.number < SheetRow.limit else { throw SheetRow.tooMany(part) }
      return row.begin(row.number + 1)
    }
    guard let found = ValueBytes.number(number), found > row.number, found <= SheetRow.limit else {
      throw part.fault("rows have to have numbers that grow, up to \(SheetRow.limit)")
    }
    row.begin(found)
  }

  /// Reads cells as long as they have the usual form and are in memory.
  private func readPlainCells(into row: SheetRow) throws(ReaderError) {
    guard let (first, end) = part.waiting else { return }
    var place = first
    // What is wrong with a cell is found when it is read again.
    while let cell = PlainCell(place, end), try read(cell, into: row) { place = cell.end }
    part.pass(place - first)
  }

  /// - Returns: false if it isn't what it has to be.
  private func read(_ cell: PlainCell, into row: SheetRow) throws(ReaderError) -> Bool {
    var column = row.cells.count
    if let reference = cell.reference {
      guard let found = SheetPlace.column(of: reference) else { return false }
      column = found
    }
    guard column < SheetRow.columnLimit, row.isFree(column) else { return false }
    guard let text = cell.value else { return true }
    guard text.count <= maximumTextBytes else { return false }
    let start = row.text.count
    let type = CellType(cell.type)
    let kind: Cell.Kind?
    if cell.isInline {
      row.text.append(contentsOf: text)
      XString.decode(&row.text, from: start)
      kind = .text
    } else if type == .shared {
      guard let index = ValueBytes.number(text), try strings.append(index, to: &row.text) else { return false }
      kind = .text
    } else {
      row.text.append(contentsOf: text)
      kind = try value(of: type, in: row, from: start, dateStyle(cell.style))
    }
    row.put(kind, from: start, at: column)
    return true
  }

  /// How a cell with the number of a style shows its number.
  private func dateStyle(_ text: UnsafeBufferPointer<UInt8>?) -> ExcelDate.Style {
    let style = text.flatMap { ValueBytes.number($0) }.map { Int($0) } ?? 0
    return styles.indices.contains(style) ? styles[style] : .number
  }

  private func readCell(into row: SheetRow) throws(ReaderError) {
    var column = row.cells.count
    if let reference = part.attribute("r") {
      guard let found = SheetPlace.column(of: reference), found < SheetRow.columnLimit else {
        throw part.fault("a cell's reference isn't one of A1 to XFD1048576")
      }
      column = found
    }
    guard column < SheetRow.columnLimit else { throw part.fault("a row has more than \(SheetRow.columnLimit) cells") }
    let type = CellType(part.attribute("t"))
    let style = dateStyle(part.attribute("s"))
    let start = row.text.count
    let kind = try readContent(type, style, into: row)
    // Cells come in order, but for some programs.
    guard kind == nil || row.isFree(column) else { throw part.fault("a cell is there twice") }
    row.put(kind, from: start, at: column)
  }

  /// Reads what stands in a cell, to its end, and appends its text; nil if it is empty.
  private func readContent(
    _ type: CellType, _ style: ExcelDate.Style, into row: SheetRow
  ) throws(ReaderError) -> Cell.Kind? {
    let start = row.text.count
    var hasValue = false
    var hasFormula = false
    var isInline = false
    while try part.nextChild(at: Self.rowDepth + 1) {
      if part.isNamed("v"), !hasValue {
        hasValue = true
        try part.readText(into: &row.text, limit: maximumTextBytes)
      } else if part.isNamed("is"), !hasValue {
        (hasValue, isInline) = (true, true)
        try part.readRichText(into: &row.text, limit: maximumTextBytes)
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
      CellFault.append(formula: formula, to: &row.text)
      return .fault
    }
    return isInline ? .text : try value(of: type, in: row, from: start, style)
  }

  /// The kind of the value whose text stands from a place on, and is replaced by what it means; nil if the cell is empty.
  private func value(
    of type: CellType, in row: SheetRow, from start: Int, _ style: ExcelDate.Style
  ) throws(ReaderError) -> Cell.Kind? {
    switch type {
    case .number: return number(in: row, from: start, style)
    case .shared:
      guard let index = row.text[start...].withUnsafeBufferPointer({ ValueBytes.number($0) }) else {
        throw part.fault("a cell's text has no number")
      }
      row.text.removeSubrange(start...)
      guard try strings.append(index, to: &row.text) else {
        throw part.fault("a cell has text \(index), of \(strings.count) that the workbook has")
      }
      return .text
    case .text:
      XString.decode(&row.text, from: start)
      return .text
    case .date: return row.text.count > start ? .date : nil
    case .fault: return .fault
    case .boolean:
      switch row.text[start...].first {
      case UInt8(ascii: "1"), UInt8(ascii: "t"): return .yes
      case UInt8(ascii: "0"), UInt8(ascii: "f"): return .no
      default: return row.text.count > start ? .text : nil
      }
    }
  }

  /// The kind of the number from a place on, which is replaced if it is a date.
  private func number(in row: SheetRow, from start: Int, _ style: ExcelDate.Style) -> Cell.Kind? {
    let kind = NumberText.shorten(&row.text, from: start)
    guard style != .number, kind == .quantity else { return kind }
    guard let value = Double(String(decoding: row.text[start...], as: UTF8.self)), value.isFinite else { return kind }
    let end = row.text.count
    guard dates.append(value, style, to: &row.text) else { return kind }
    row.text.removeSubrange(start..<end)
    return style == .elapsed ? .text : .date
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
