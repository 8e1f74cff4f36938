// The server cleans its tables by itself (autovacuum). What is here does the same now, or does what the server leaves to people.
// All of it runs on a connection of its own, which ends when the work is stopped.

import Foundation
package import ManagedObjects
import PostgreSQL
import SQLSchema

extension PostgresStore: StoreMaintenance {
  /// Runs work on a connection of its own, without a transaction. It isn't done again when the connection is lost.
  ///
  /// What can't be in a transaction may run without the session's settings, so it names the schema, too.
  func maintaining<T>(
    _ operation: String, _ watch: MaintenanceWatch, _ body: (PostgresConnection) throws -> T
  ) throws -> T {
    try writer.refuseInTransaction(operation)
    var access = access
    access.check = { try watch.check() }
    let pool = PostgresPool(access, limit: 1, timeout: timeout)
    defer { pool.close() }
    return try tables.translating { try pool.once(body) }
  }

  /// With its indexes and large values. The log is the server's, and of all its databases.
  package func sizes() throws -> StoreSizes {
    try tables.translating {
      try read(isOneState: false) { StoreSizes(content: try PostgresCatalogue($0).size(), log: 0) }
    }
  }

  // MARK: Compaction

  /// As a whole: each table is written again (`VACUUM FULL`), and can't be read meanwhile. In steps: space within the tables
  /// becomes free for new rows, and is returned where it is at a table's end (`VACUUM`); others go on. PostgreSQL knows no number
  /// of blocks for it.
  package func compact(_ plan: CompactionPlan, _ watch: MaintenanceWatch) throws -> CompactionResult {
    try maintaining("vacuum the store", watch) { connection in
      let catalogue = PostgresCatalogue(connection)
      let (before, all) = try connection.settled { (try catalogue.size(), try catalogue.tables()) }
      let command: String
      switch plan {
      case .whole(let isIncremental):
        guard isIncremental == nil else {
          throw MaintenanceError.needless(
            store: tables.name, reason: "a store in PostgreSQL is always ready for vacuums in steps")
        }
        command = "VACUUM (FULL, ANALYZE)"
      case .incremental: command = "VACUUM"
      }
      var done: Int64 = 0
      for table in all {
        try watch.check()
        let size = try connection.settled { try catalogue.size(of: table) }
        try connection.run("\(command) \(qualified(table))")
        done += size
        watch.report(MaintenanceProgress(bytesDone: min(done, before), bytesTotal: before))
      }
      return CompactionResult(bytesBefore: before, bytesAfter: try connection.settled { try catalogue.size() })
    }
  }

  // MARK: Statistics

  /// `VACUUM (ANALYZE)`. The server samples 300 rows for each of a table's most common values that it keeps, so a sample decides
  /// how many it keeps; without one it is as the server has it.
  package func updateStatistics(sampling rows: Int?, _ watch: MaintenanceWatch) throws -> Int {
    try maintaining("analyse the store", watch) { connection in
      let names = try connection.settled { try PostgresCatalogue(connection).tables() }
      for (number, table) in names.enumerated() {
        try watch.check()
        if let rows {
          try connection.run("VACUUM \(qualified(table))")
          // No less than the server's default: a job's default sample is SQLite's.
          try connection.begin(then: "SET LOCAL default_statistics_target = \(min(10_000, max(100, rows / 300)))")
          try connection.run("ANALYZE \(qualified(table))")
          try connection.run("COMMIT")
        } else {
          try connection.run("VACUUM (ANALYZE) \(qualified(table))")
        }
        watch.report(MaintenanceProgress(items: Int64(number + 1)))
      }
      return names.count
    }
  }

  // MARK: The log

  package func flushLog(
    _ mode: LogFlushMode, timeout: Duration, _ watch: MaintenanceWatch
  ) throws -> LogFlushResult {
    throw MaintenanceError.needless(
      store: tables.name, reason: "PostgreSQL's log is the whole server's, and its checkpointer writes it back")
  }

  // MARK: Indexes

  /// `REINDEX INDEX CONCURRENTLY`, one after the other: others read and write meanwhile.
  package func rebuildIndexes(_ entities: [EntityDescription]?, _ watch: MaintenanceWatch) throws -> Int {
    let wanted: Set<String>? = try entities.map { try names(of: $0) }
    return try maintaining("rebuild the store's indexes", watch) { connection in
      let catalogue = PostgresCatalogue(connection)
      var made = 0
      func done() {
        made += 1
        watch.report(MaintenanceProgress(items: Int64(made)))
      }
      for index in try connection.settled({ try catalogue.indexes() }) where wanted?.contains(index.table) ?? true {
        try watch.check()
        // A stopped job has left it.
        if !index.isValid, index.name.contains("_ccnew") || index.name.contains("_ccold") {
          try connection.run("DROP INDEX CONCURRENTLY IF EXISTS \(qualified(index.name))")
          continue
        }
        do {
          try connection.run("REINDEX INDEX CONCURRENTLY \(qualified(index.name))")
        } catch let error as PostgresError where error.state == "0A000" {
          // Those of exclusion constraints.
          try connection.run("REINDEX INDEX \(qualified(index.name))")
        }
        done()
      }
      let present = try connection.settled { try catalogue.relations() }
      for index in tables.schema.indexes where wanted?.contains(index.table) ?? true && !present.contains(index.name) {
        try watch.check()
        let start = "INDEX IF NOT EXISTS"
        let table = SQLText.name(index.table)
        try connection.run(
          index.createStatement.replacing(start, with: "INDEX CONCURRENTLY IF NOT EXISTS", maxReplacements: 1)
            .replacing(" ON \(table) ", with: " ON \(qualified(index.table)) ", maxReplacements: 1))
        done()
      }
      return made
    }
  }

  private func qualified(_ name: String) -> String { "\(SQLText.name(sessions.namespace)).\(SQLText.name(name))" }

  /// The tables that hold the rows of entities, and the pairs of their many-to-many relationships.
  private func names(of entities: [EntityDescription]) throws -> Set<String> {
    var names = Set(try entities.map { try tables.layout(of: $0).table })
    let roots = Set(entities.map(\.rootEntity))
    for join in tables.schema.joinTables {
      let ends = [join.relationship.entity.rootEntity, join.relationship.destinationEntity.rootEntity]
      if ends.contains(where: roots.contains) { names.insert(join.name) }
    }
    return names
  }

  // MARK: Checks

  package func checkIntegrity(
    _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  ) throws {
    try maintaining("check the store", watch) { connection in
      // One state.
      try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
      let check = PostgresContentCheck(connection, tables, watch, found)
      try check.metadata()
      try check.schema()
      try check.references(depth)
      if depth == .full { try check.indexes() }
      try connection.run("COMMIT")
    }
  }
}
