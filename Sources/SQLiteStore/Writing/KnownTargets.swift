// SQLite looks up the target of each foreign key, for each row that is inserted. A load whose rows refer to the same rows again
// and again spends a fifth of its time on that. Where a save's targets are known to be there, its rows are inserted while SQLite
// doesn't check. A target is known if it was read in this or an earlier transaction of the writing connection, and nothing can
// have deleted it since:
//   1. no other connection has committed anything, by SQLite's `data_version`;
//   2. no statement of this connection has changed a row outside saves that end here, by SQLite's count of changes;
//   3. no save has deleted a row, and none has been rolled back.
// Otherwise everything is forgotten. What isn't known is read, and where it isn't there SQLite checks all, with the errors that
// follow. Constraints other than foreign keys are always checked.

import CSQLite
import GRDB
import GRDBSQLite
import ManagedObjects

/// Rows that are known to be there when others refer to them. On the writing connection only.
final class KnownTargets: @unchecked Sendable {
  // Sendable: used by the thread that holds the writer's lock.

  /// Row numbers as bits.
  private struct Numbers {
    static let limit: Int64 = 1 << 24
    private var words: [UInt64] = []

    func contains(_ number: Int64) -> Bool {
      let word = Int(number >> 6)
      return word < words.count && words[word] & 1 << UInt64(number & 63) != 0
    }

    mutating func insert(_ number: Int64) {
      let word = Int(number >> 6)
      if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
      words[word] |= 1 << UInt64(number & 63)
    }
  }

  private var numbers: [String: Numbers] = [:]
  /// As of the last save that asked.
  private var dataVersion: Int64?
  /// As of its end.
  private var changes: Int32?
  /// As of the beginning of this save.
  private var changesBefore: Int32 = 0
  private var hasAsked = false

  /// Begins a save, within its transaction.
  func begin(_ db: Database) {
    changesBefore = sqlite3_total_changes(db.sqliteConnection)
    hasAsked = false
  }

  /// Ends a save that is to be committed as it is.
  func end(_ db: Database) {
    if hasAsked { changes = sqlite3_total_changes(db.sqliteConnection) }
  }

  /// A save has deleted rows or failed.
  func forget() {
    numbers.removeAll()
    changes = nil
  }

  /// Forgets all targets if any may have been deleted since the last save that asked.
  private func check(_ db: Database) throws {
    if hasAsked { return }
    hasAsked = true
    let version = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
    if version != dataVersion || changesBefore != changes { forget() }
    dataVersion = version
  }

  /// Whether all references of the rows lead to rows that are there. Between ``begin(_:)`` and ``end(_:)``.
  func areThere(for rows: NewRows, _ layout: RowLayout, _ store: SQLiteStore, _ db: Database) throws -> Bool {
    var (broken, highest): (Int32, Int32) = (0, 0)
    // A new row may repair a reference that is broken so far, which only SQLite notices.
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0)
    guard broken == 0 else { return false }
    try check(db)
    for column in layout.columns {
      guard case .reference(let scope) = column.kind else { continue }
      guard let target = store.layouts[scope.entity.rootEntity.index],
        try areThere(for: rows, column.slot, target, db)
      else { return false }
    }
    return true
  }

  private func areThere(for rows: NewRows, _ slot: Int, _ target: RowLayout, _ db: Database) throws -> Bool {
    var known = numbers.removeValue(forKey: target.table) ?? Numbers()
    defer { numbers[target.table] = known }
    let statement = try db.cachedStatement(
      sql: "SELECT 1 FROM \(target.table.quotedName) WHERE \(target.keyColumn.quotedName) = ?"
    ).sqliteStatement
    for row in 0..<rows.count {
      let cell = rows.cells(row)[slot]
      if cell.kind == .null { continue }
      guard cell.kind == .reference, 0..<Numbers.limit ~= cell.bits else { return false }
      if known.contains(cell.bits) { continue }
      sqlite3_bind_int64(statement, 1, cell.bits)
      let code = sqlite3_step(statement)
      sqlite3_reset(statement)
      guard code == SQLITE_ROW else { return false }
      known.insert(cell.bits)
    }
    return true
  }

  /// Runs `body` while SQLite checks no foreign keys.
  func withoutChecks<T>(_ db: Database, _ body: () throws -> T) throws -> T {
    let code = lade_set_foreign_keys(db.sqliteConnection, 0)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    let result = Result { try body() }
    let end = lade_set_foreign_keys(db.sqliteConnection, 1)
    guard end == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: end)) }
    return try result.get()
  }
}
