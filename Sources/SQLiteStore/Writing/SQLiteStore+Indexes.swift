// A large load into a table that held little keeps no index meanwhile that only speeds reading, and makes it from all rows
// at the end: sorting once costs half of what finding a place for each row does. What says whether a row may be there is
// kept up as ever. Should the program be killed, whoever opens the file next makes what is missing; until then a reader
// is slower, and never wrong. In a transaction of many writes both are part of it: readers have the indexes until it is
// committed, and if it isn't, they were never gone.

import GRDB
package import ManagedObjects

extension SQLiteStore {
  /// Takes away, for now, the indexes of an entity's table that aren't unique, if so many rows are expected that making them
  /// anew takes less than keeping them: at least as many as twice those that are there.
  ///
  /// Each call that answers true is to be followed by one of ``endPostponement(of:)``. Several loads of one table may do so at
  /// the same time; the last of them makes the indexes.
  package func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool {
    let indexes = try postponable(entity)
    guard !indexes.isEmpty else { return false }
    let layout = try layout(of: entity)
    return try translating {
      try writer.withoutTransaction { db in
        if postponements.withLock({ $0[layout.table, default: 0] }) == 0 {
          let many = max(1, rows / 2)
          let sql = "SELECT count(*) FROM (SELECT 1 FROM \(layout.table.quotedName) LIMIT ?)"
          let present = try Int64.fetchOne(db, sql: sql, arguments: [many]) ?? 0
          guard present < many else { return false }
          try writer.transaction(on: db) {
            for index in indexes { try db.execute(sql: "DROP INDEX IF EXISTS \(index.name.quotedName)") }
          }
        }
        postponements.withLock { $0[layout.table, default: 0] += 1 }
        return true
      }
    }
  }

  /// Says that a load which has postponed the indexes goes on without them no more.
  package func endPostponement(of entity: EntityDescription) {
    guard let table = layouts[entity.index]?.table else { return }
    postponements.withLock { $0[table, default: 1] -= 1 }
  }

  /// Makes the indexes that ``postponeIndexes(of:expecting:)`` took away, unless another load still goes on without them;
  /// also those that an earlier call couldn't make. Nobody else writes meanwhile.
  package func makeIndexes(of entity: EntityDescription) throws {
    let indexes = try postponable(entity)
    guard !indexes.isEmpty else { return }
    let table = try layout(of: entity).table
    try translating {
      try writer.withoutTransaction { db in
        guard postponements.withLock({ $0[table, default: 0] }) == 0, try isAnyMissing(indexes, db) else { return }
        // What is sorted at once is as much as the cache may hold. The sort follows pointers: in as little as the processor
        // keeps near it takes half the time.
        try db.execute(sql: "PRAGMA cache_size = -2048")
        let result = Result {
          try writer.transaction(on: db) {
            for index in indexes { try db.execute(sql: index.createStatement) }
          }
        }
        try db.execute(sql: "PRAGMA cache_size = -\(options.writerCache / 1024)")
        try result.get()
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
