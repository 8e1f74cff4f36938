// A large load into a small table drops the indexes that only speed up reading, and builds them from all rows at the end:
// sorting once costs half as much as finding a place for each row. Unique indexes stay. If the process is killed, the next
// one to open the file builds the missing indexes; until then readers are slower, and never wrong. In a transaction of
// several writes both steps are part of it: readers keep the indexes until the commit, and after a rollback they were never
// dropped.

import GRDB
package import ManagedObjects
import SQLSchema
import Synchronization

extension SQLiteStore {
  /// Drops the indexes of an entity's table that aren't unique, if building them again costs less than maintaining them: when at
  /// least twice the rows are expected that the table holds.
  ///
  /// Each call that returns true must be balanced by ``endPostponement(of:)``. Several loads of one table may overlap; the last
  /// of them builds the indexes.
  package func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool {
    let indexes = try postponable(entity)
    guard !indexes.isEmpty else { return false }
    let layout = try layout(of: entity)
    return try translating {
      try writer.withoutTransaction { db in
        if !postponements.contains(layout.table) {
          let many = max(1, rows / 2)
          let sql = "SELECT count(*) FROM (SELECT 1 FROM \(layout.table.quotedName) LIMIT ?)"
          let present = try Int64.fetchOne(db, sql: sql, arguments: [many]) ?? 0
          guard present < many else { return false }
          try writer.transaction(on: db) {
            for index in indexes { try db.execute(sql: "DROP INDEX IF EXISTS \(index.name.quotedName)") }
          }
        }
        postponements.begin(layout.table)
        return true
      }
    }
  }

  /// Balances ``postponeIndexes(of:expecting:)``.
  package func endPostponement(of entity: EntityDescription) {
    guard let table = layouts[entity.index]?.table else { return }
    postponements.end(table)
  }

  /// Builds the indexes that ``postponeIndexes(of:expecting:)`` dropped, also those that an earlier call couldn't build, unless
  /// another load still does without them. Other writers wait.
  package func makeIndexes(of entity: EntityDescription) throws {
    let indexes = try postponable(entity)
    guard !indexes.isEmpty else { return }
    let table = try layout(of: entity).table
    try translating {
      try writer.withoutTransaction { db in
        guard !postponements.contains(table), try isAnyMissing(indexes, db) else { return }
        // SQLite sorts as much at once as fits its cache. The sort follows pointers: within the processor's own cache it takes
        // half the time. A second thread sorts while this one reads.
        try db.withSmallCache {
          try db.execute(sql: "PRAGMA threads = 1")
          let result = Result {
            try writer.transaction(on: db) {
              for index in indexes { try db.execute(sql: index.createStatement) }
            }
          }
          try db.execute(sql: "PRAGMA threads = 0")
          try result.get()
        }
      }
    }
  }

  private func isAnyMissing(_ indexes: [IndexMap], _ db: Database) throws -> Bool {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?"
    return try indexes.contains { try Int.fetchOne(db, sql: sql, arguments: [$0.name]) == nil }
  }

  private func postponable(_ entity: EntityDescription) throws -> [IndexMap] {
    let table = try layout(of: entity).table
    return schema.indexes.filter { $0.table == table && !$0.isUnique }
  }
}

/// Counts the loads that do without a table's indexes. Safe from any thread.
final class IndexPostponements: Sendable {
  private let loads = Mutex<[String: Int]>([:])

  /// The tables whose indexes some load does without.
  var tables: Set<String> { loads.withLock { Set($0.filter { $0.value > 0 }.keys) } }

  func contains(_ table: String) -> Bool { loads.withLock { $0[table, default: 0] > 0 } }

  func begin(_ table: String) { loads.withLock { $0[table, default: 0] += 1 } }

  func end(_ table: String) { loads.withLock { $0[table, default: 1] -= 1 } }
}
