// A row, and a cell, may stand for many: programs write the rest of a sheet as one row with one cell, both repeated. What is
// empty is passed by its number, and what isn't counts as that many, against the limits of a sheet and of unpacking.
//
// To resume, the rows before are passed again: how many they are is said by each of them.

/// The rows of a table of an OpenDocument spreadsheet.
final class OpenDocumentRows: SheetRows {
  private let part: PartReader
  private let cell: OpenDocumentCell
  private var hasEnded = false
  /// How many more rows are the same as the last one.
  private var left: Int64 = 0

  /// The depth inside of a table.
  private static let depth = 4
  private static let groups: [StaticString] = ["table-row-group", "table-header-rows", "table-rows"]

  /// - Parameter tables: stand at the table.
  init(_ tables: OpenDocumentTables, maximumTextBytes: Int) {
    part = tables.part
    cell = OpenDocumentCell(tables.part, tables.prefixes, maximumTextBytes: maximumTextBytes)
  }

  var offset: Int64 { part.offset }
  var bytesTotal: Int64 { part.bytesTotal }
  var bytesRead: Int64 { part.bytesRead }

  func fault(_ what: String) -> ReaderError { part.fault(what) }

  func next(into row: SheetRow, from first: Int64) throws(ReaderError) -> Bool {
    if left > 0 {
      pass(min(left, max(0, first - row.number - 1)), of: row)
      if left > 0 {
        pass(1, of: row)
        return true
      }
    }
    while !hasEnded, let count = try nextElement() {
      let before = row.number
      guard before + count >= first else {
        try part.skip()
        row.begin(min(before + count, SheetRow.limit))
        continue
      }
      guard try readCells(into: row, count) else { continue }
      pass(max(0, first - row.number), of: row)
      return true
    }
    if !hasEnded { try part.finish() }
    hasEnded = true
    return false
  }

  func resume(after number: Int64, at offset: Int64, _ row: SheetRow) throws(ReaderError) -> Bool {
    while row.number < number {
      if left > 0 {
        pass(min(left, number - row.number), of: row)
        continue
      }
      guard !hasEnded, let count = try nextElement() else { return false }
      if row.number + count <= number {
        try part.skip()
        row.begin(row.number + count)
      } else {
        guard try readCells(into: row, count) else { return false }
      }
    }
    return row.number == number && part.offset == offset
  }

  /// Goes on by some of the rows that are the same as the last one.
  private func pass(_ count: Int64, of row: SheetRow) {
    left -= count
    row.renumber(row.number + count)
  }

  /// Moves to the next element of a row, and says how many rows it stands for; nil at the end of the table.
  private func nextElement() throws(ReaderError) -> Int64? {
    while true {
      switch try part.next() {
      case .start:
        if part.isNamed("table-row") { return try count(of: "number-rows-repeated") }
        if !Self.groups.contains(where: { part.isNamed($0) }) { try part.skip() }
      case .end: if part.depth < Self.depth { return nil }
      case .text: break
      case .finished: return nil
      }
    }
  }

  /// Reads the cells of the element that has begun, which stands for some rows, as the first of them.
  /// - Returns: false if it has none.
  private func readCells(into row: SheetRow, _ count: Int64) throws(ReaderError) -> Bool {
    let last = row.number + count
    row.begin(min(row.number + 1, SheetRow.limit))
    let depth = part.depth
    var column: Int64 = 0
    while try part.nextChild(at: depth) {
      guard part.isNamed("table-cell") || part.isNamed("covered-table-cell") else {
        try part.skip()
        continue
      }
      let next = try column + self.count(of: "number-columns-repeated")
      let start = row.text.count
      // What a merged cell covers isn't shown. Of a row that is too long, nothing more is kept.
      if part.isNamed("covered-table-cell") || row.isTooLong {
        try part.skip()
      } else if let kind = try cell.read(into: &row.text) {
        guard next <= SheetRow.columnLimit else {
          throw part.fault("a row has more than \(SheetRow.columnLimit) cells")
        }
        row.put(kind, from: start, at: Int(column))
        row.repeatLast(Int(next - column) - 1)
      }
      column = min(next, Int64(SheetRow.columnLimit))
    }
    guard !row.cells.isEmpty else {
      row.begin(min(last, SheetRow.limit))
      return false
    }
    guard last <= SheetRow.limit else { throw SheetRow.tooMany(part) }
    left = count - 1
    return true
  }

  /// How many rows or cells an element stands for.
  private func count(of attribute: StaticString) throws(ReaderError) -> Int64 {
    guard let text = part.attribute(attribute) else { return 1 }
    guard let count = ValueBytes.number(text), count > 0 else {
      throw part.fault("an element is repeated by a number from 1")
    }
    return count
  }
}
