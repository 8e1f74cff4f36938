import GRDB
import GRDBSQLite
import ManagedObjects

// Many rows a statement: SQLite begins and ends a statement for all of them once. `OR FAIL` lets it do without the journal
// that would undo half a statement: the rows before the one that fails stay, and it is known how many they are.

extension RowWrite {
  /// How many rows one statement takes, and with how many parameters at most. More gain nothing.
  private static let rowsOfStatement = 50
  private static let parametersOfStatement = 1000

  /// Inserts new rows; those that the table's constraints refuse are noted.
  func insert(_ rows: [StoreRow], _ ids: [ManagedObjectID]) throws {
    var start = 0
    while start < rows.count {
      let scope = rows[start].id.scope
      var end = start + 1
      while end < rows.count, rows[end].id.scope === scope { end += 1 }
      try insert(rows, ids, start..<end, try store.layout(of: scope.entity))
      start = end
    }
  }

  /// Inserts rows of one entity.
  private func insert(_ rows: [StoreRow], _ ids: [ManagedObjectID], _ range: Range<Int>, _ layout: RowLayout) throws {
    try insert(range, layout) { index, handle, parameter in
      bind(rows[index], ids[index], layout, to: handle, at: &parameter)
    } conflict: { index in
      try noteConflict(rows[index], ids[index].number, layout, isNew: true)
    }
  }

  /// Inserts rows that no objects are of, and numbers them.
  func insert(_ rows: NewRows) throws -> SavedRows {
    let layout = try store.layout(of: rows.entity)
    var given: [Int64] = []
    given.reserveCapacity(rows.count)
    for row in 0..<rows.count {
      if let slot = layout.keySlot, case let cell = rows.cell(row, slot), cell.kind == .int {
        given.append(cell.bits)
      } else {
        given.append(try numbers.next(layout, db))
      }
    }
    try insert(0..<rows.count, layout) { index, handle, parameter in
      bind(rows, index, given[index], layout, to: handle, at: &parameter)
    } conflict: { index in
      try noteConflict(rows.row(index), given[index], layout, isNew: true)
    }
    return SavedRows(rows, scope: layout.scope, numbers: given)
  }

  /// Inserts so many rows of one entity.
  /// - Parameters:
  ///   - bind: binds a row's number and values to parameters from one on, and moves it past them.
  ///   - conflict: notes that a row broke a uniqueness constraint; throws any other error.
  @inline(__always)
  private func insert(
    _ range: Range<Int>, _ layout: RowLayout, bind: (Int, OpaquePointer, inout Int32) -> Void,
    conflict: (Int) throws -> Void
  ) throws {
    var next = range.lowerBound
    let count = min(Self.rowsOfStatement, Self.parametersOfStatement / (layout.bindings.count + 1))
    if count > 1, range.count >= count, try !hasTriggers(layout) {
      let handle = try db.cachedStatement(sql: layout.insertStatement(rows: count)).sqliteStatement
      defer { sqlite3_reset(handle) }
      while next + count <= range.upperBound {
        binder.begin()
        var parameter: Int32 = 1
        for index in next..<next + count { bind(index, handle, &parameter) }
        if sqlite3_step(handle) == SQLITE_DONE {
          next += count
        } else {
          try throwUnlessUniqueness()
          // The rows before the one that failed.
          next += min(Int(sqlite3_changes(db.sqliteConnection)), count - 1)
          try conflict(next)
          next += 1
        }
        sqlite3_reset(handle)
      }
    }
    guard next < range.upperBound else { return }
    let handle = try db.cachedStatement(sql: layout.insertStatement(rows: 1)).sqliteStatement
    defer { sqlite3_reset(handle) }
    for index in next..<range.upperBound {
      binder.begin()
      var parameter: Int32 = 1
      bind(index, handle, &parameter)
      if sqlite3_step(handle) != SQLITE_DONE { try conflict(index) }
      sqlite3_reset(handle)
    }
  }

  @inline(__always)
  private func bind(
    _ row: StoreRow, _ id: ManagedObjectID, _ layout: RowLayout, to handle: OpaquePointer, at parameter: inout Int32
  ) {
    sqlite3_bind_int64(handle, parameter, id.number)
    parameter += 1
    row.values.withUnsafeBufferPointer { values in
      for binding in layout.bindings {
        binder.bind(values[binding.slot], isISODate: binding.isISODate, to: handle, at: parameter)
        parameter += 1
      }
    }
  }

  @inline(__always)
  private func bind(
    _ rows: NewRows, _ row: Int, _ number: Int64, _ layout: RowLayout, to handle: OpaquePointer,
    at parameter: inout Int32
  ) {
    sqlite3_bind_int64(handle, parameter, number)
    parameter += 1
    let cells = rows.cells(row)
    for binding in layout.bindings {
      binder.bind(cells[binding.slot], of: rows, isISODate: binding.isISODate, to: handle, at: parameter)
      parameter += 1
    }
  }

  /// Whether somebody has put triggers on the table: `OR FAIL` would be said to their statements, too.
  private func hasTriggers(_ layout: RowLayout) throws -> Bool {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?)"),
      arguments: [layout.table]) ?? false
  }
}
