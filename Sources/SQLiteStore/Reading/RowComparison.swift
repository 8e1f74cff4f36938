import Foundation
import GRDB
import GRDBSQLite
package import ManagedObjects

extension SQLiteStoreReader {
  /// Looks each row up by the key's index. Where the keys are row numbers that lie close together, one scan reads all rows.
  package func matches(of rows: NewRows, by key: [Int], order: [Int32], slots: [Int]) throws -> RowMatches? {
    let layout = try tables.layout(of: rows.entity)
    guard let comparison = RowComparison(layout, slots, by: key) else { return nil }
    return try tables.translating {
      try read { db in
        ReadingFailure.forget()
        let matches = try comparison.matches(of: rows, order, in: db)
        try ReadingFailure.throwIfAny()
        return matches
      }
    }
  }
}

/// Compares rows in flat memory with a table's rows without making a `Value` for either.
private struct RowComparison {
  /// A column of the statement, after the row's number.
  private struct Column {
    let slot: Int
    let kind: ColumnKind
  }

  /// How far the keys of a scan may lie apart: skipping a row costs a fraction of a look-up.
  private static let sparseness = 4
  private let layout: RowLayout
  private let columns: [Column]
  /// The key's slots, and whether each is a date that the store keeps as ISO 8601.
  private let key: [(slot: Int, isISODate: Bool)]
  /// A whole number that is the key alone: its slot, and its column in the table and in the statement.
  private let number: (slot: Int, name: String, index: Int32)?
  private let selection: String
  private let condition: String
  /// Finds a row whose key isn't less than a given one.
  private let atLeast: String

  init?(_ layout: RowLayout, _ slots: [Int], by key: [Int]) {
    self.layout = layout
    var columns: [Column] = []
    var names = [layout.keyColumn.quotedName]
    for slot in slots where slot != layout.keySlot {
      guard let column = layout.columns.first(where: { $0.slot == slot }) else { return nil }
      columns.append(Column(slot: slot, kind: column.kind))
      names.append(column.name.quotedName)
    }
    var parts: [(slot: Int, isISODate: Bool)] = []
    var conditions: [String] = []
    var keyNames: [String] = []
    for slot in key {
      let column = layout.columns.first { $0.slot == slot }
      guard let name = slot == layout.keySlot ? layout.keyColumn : column?.name else { return nil }
      // SQL compares what stands in the column.
      if layout.externalColumn(slot) != nil { return nil }
      parts.append((slot, column?.kind == .isoDate))
      conditions.append("\(name.quotedName) = ?")
      keyNames.append(name.quotedName)
    }
    guard layout.entityColumn == nil, !parts.isEmpty else { return nil }
    self.key = parts
    if key.count > 1 {
      number = nil
    } else if key[0] == layout.keySlot {
      number = (key[0], layout.keyColumn.quotedName, 0)
    } else if layout.columns.contains(where: { $0.slot == key[0] && $0.kind == .integer }) {
      number = (key[0], keyNames[0], Int32(names.count))
      names.append(keyNames[0])
    } else {
      number = nil
    }
    self.columns = columns
    condition = conditions.joined(separator: " AND ")
    let bounds = keyNames.map { _ in "?" }.joined(separator: ", ")
    atLeast =
      "SELECT 1 FROM \(layout.table.quotedName) WHERE (\(keyNames.joined(separator: ", "))) >= (\(bounds)) LIMIT 1"
    selection = "SELECT \(names.joined(separator: ", ")) FROM \(layout.table.quotedName) WHERE"
  }

  func matches(of rows: NewRows, _ order: [Int32], in db: Database) throws -> RowMatches {
    var matches = RowMatches(count: rows.count)
    guard let first = order.first, let last = order.last else { return matches }
    // Most files that grow continue where the table ends, and the first load finds an empty one.
    guard try hasAny(from: Int(first), of: rows, db) else { return matches }
    if let number, rows.cell(Int(first), number.slot).kind == .int {
      let (low, high) = (rows.cell(Int(first), number.slot).bits, rows.cell(Int(last), number.slot).bits)
      let (distance, overflows) = high.subtractingReportingOverflow(low)
      if !overflows, distance / Int64(Self.sparseness) <= Int64(order.count) {
        try scan(rows, order, by: number, low...high, db, &matches)
        return matches
      }
    }
    try look(rows, order, db, &matches)
    return matches
  }

  /// Whether the table has a key that isn't less than that of a row.
  private func hasAny(from row: Int, of rows: NewRows, _ db: Database) throws -> Bool {
    let statement = try db.cachedStatement(sql: atLeast).sqliteStatement
    defer { sqlite3_reset(statement) }
    let binder = RowBinder()
    for (place, part) in key.enumerated() {
      let (cell, index) = (rows.cell(row, part.slot), Int32(place + 1))
      if part.isISODate, cell.kind == .date {
        // Text sorts a whole second after its fractions. Their common beginning sorts before all of them.
        guard let text = ISODate.text(of: ISODate.date(microseconds: cell.bits)) else { return true }
        sqlite3_bind_text(statement, index, String(text.prefix(ISODate.wholeSeconds)), -1, SQLITE_TRANSIENT)
      } else {
        binder.bind(cell, of: rows, isISODate: part.isISODate, to: statement, at: index)
      }
    }
    try binder.check()
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw db.lastError(sql: atLeast)
    }
  }

  /// Reads all rows between the least key and the greatest.
  private func scan(
    _ rows: NewRows, _ order: [Int32], by key: (slot: Int, name: String, index: Int32), _ range: ClosedRange<Int64>,
    _ db: Database, _ matches: inout RowMatches
  ) throws {
    let column = key.name
    let sql = "\(selection) \(column) BETWEEN ? AND ? ORDER BY \(column)"
    let statement = try db.cachedStatement(sql: sql).sqliteStatement
    defer { sqlite3_reset(statement) }
    sqlite3_bind_int64(statement, 1, range.lowerBound)
    sqlite3_bind_int64(statement, 2, range.upperBound)
    var place = 0
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW {
      // Another program may have put a fraction there, which no key equals.
      let isWhole = sqlite3_column_type(statement, key.index) == SQLITE_INTEGER
      let number = sqlite3_column_int64(statement, key.index)
      while isWhole, place < order.count, rows.cell(Int(order[place]), key.slot).bits < number { place += 1 }
      if isWhole, place < order.count, case let row = Int(order[place]), rows.cell(row, key.slot).bits == number {
        matches.numbers[row] = sqlite3_column_int64(statement, 0)
        matches.isSame[row] = isSame(rows, row, statement)
      }
      code = sqlite3_step(statement)
    }
    guard code == SQLITE_DONE else { throw db.lastError(sql: sql) }
  }

  /// Looks each row up.
  private func look(_ rows: NewRows, _ order: [Int32], _ db: Database, _ matches: inout RowMatches) throws {
    let sql = "\(selection) \(condition)"
    let statement = try db.cachedStatement(sql: sql).sqliteStatement
    let binder = RowBinder()
    defer { sqlite3_reset(statement) }
    for row in order.lazy.map(Int.init) {
      binder.begin()
      for (place, part) in key.enumerated() {
        binder.bind(
          rows.cell(row, part.slot), of: rows, isISODate: part.isISODate, to: statement, at: Int32(place + 1))
      }
      try binder.check()
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        matches.numbers[row] = sqlite3_column_int64(statement, 0)
        matches.isSame[row] = isSame(rows, row, statement)
      case SQLITE_DONE: break
      default: throw db.lastError(sql: sql)
      }
      sqlite3_reset(statement)
    }
  }

  private func isSame(_ rows: NewRows, _ row: Int, _ statement: OpaquePointer) -> Bool {
    let cells = rows.cells(row)
    for place in columns.indices {
      let column = columns[place]
      if !isSame(rows, cells[column.slot], statement, Int32(place + 1), column.kind) { return false }
    }
    return true
  }

  @inline(__always)
  private func isSame(
    _ rows: NewRows, _ cell: NewRows.Cell, _ statement: OpaquePointer, _ index: Int32, _ kind: ColumnKind
  ) -> Bool {
    let type = sqlite3_column_type(statement, index)
    switch (cell.kind, kind) {
    case (.null, _): return type == SQLITE_NULL
    case (.int, .integer), (.bool, .boolean), (.reference, .reference):
      return type == SQLITE_INTEGER && sqlite3_column_int64(statement, index) == cell.bits
    case (.double, .real):
      return (type == SQLITE_FLOAT || type == SQLITE_INTEGER)
        && sqlite3_column_double(statement, index) == Double(bitPattern: UInt64(bitPattern: cell.bits))
    case (.text, .text):
      return type == SQLITE_TEXT && isText(statement, index, rows.bytes(of: cell))
    case (.date, .isoDate):
      guard type == SQLITE_TEXT else { return false }
      return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ISODate.longest) { buffer in
        guard let start = buffer.baseAddress, let count = ISODate.write(microseconds: cell.bits, to: start) else {
          return false
        }
        return isText(statement, index, UnsafeRawBufferPointer(start: start, count: count))
      }
    case (.other, _): return RowReader.value(statement, index, kind) == rows.other(cell)
    case (.date, .unixDate):
      return RowReader.value(statement, index, kind) == .date(ISODate.date(microseconds: cell.bits))
    default: return false
    }
  }

  @inline(__always)
  private func isText(_ statement: OpaquePointer, _ index: Int32, _ text: UnsafeRawBufferPointer) -> Bool {
    let start = sqlite3_column_text(statement, index)
    guard Int(sqlite3_column_bytes(statement, index)) == text.count else { return false }
    guard let start, let other = text.baseAddress else { return text.isEmpty }
    return memcmp(start, other, text.count) == 0
  }
}
