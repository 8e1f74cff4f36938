// VACUUM writes the content into a temporary file of SQLite's own, and from there into the log, in one transaction. A killed
// process or a full disk leaves the file as it was. Readers continue. The file gets shorter when the log is copied
// into it, which has to wait for them.

import Foundation
import GRDB
import Glibc
package import ManagedObjects
import SQLSchema

extension SQLiteStore: StoreMaintenance {
  package func sizes() throws -> StoreSizes { StoreSizes(ofSQLiteFile: url?.path ?? "") }

  /// https://www.sqlite.org/fileformat.html#the_database_header
  package static let copyForm = StoreCopyForm(
    title: "a SQLite file", nameEnding: ".sqlite", firstBytes: Array("SQLite format 3\0".utf8))
  package var copyForm: StoreCopyForm { Self.copyForm }

  /// What SQLite appends to a database's path for the files that belong to it: the log, its index, and a rollback journal.
  package static let companionEndings = ["-wal", "-shm", "-journal"]

  /// The path of the folder beside a store with the files of its large values.
  package static func supportFolder(ofStoreAt path: String) -> String {
    StoredForms.own.folder(ofDatabase: path).supportPath
  }

  /// The bytes of pages that are in no use, and whether they can be returned a few at a time.
  package func freePages() throws -> (bytes: Int64, isIncremental: Bool) {
    try translating {
      try writer.withoutTransaction { db in
        (try db.number("freelist_count") * db.number("page_size"), try db.number("auto_vacuum") == 2)
      }
    }
  }

  /// Lets go of the caches of connections that aren't in use, and shrinks that of the writing one, soon. The next reads pay for it.
  package func releaseMemory() { pool.releaseMemoryEventually() }

  // MARK: Compaction

  package func compact(_ plan: CompactionPlan, _ watch: MaintenanceWatch) throws -> CompactionResult {
    try writer.refuseInTransaction("vacuum the store")
    return try translating {
      let before = try writer.withoutTransaction { try $0.contentSize() }
      switch plan {
      case .whole(let isIncremental):
        try vacuumWhole(before, isIncremental, watch)
        try collectExternalData()
      case .incremental(let blocks, let atOnce): try freePages(blocks, max(1, atOnce), watch)
      }
      return CompactionResult(bytesBefore: before, bytesAfter: try writer.withoutTransaction { try $0.contentSize() })
    }
  }

  private func vacuumWhole(_ size: Int64, _ isIncremental: Bool?, _ watch: MaintenanceWatch) throws {
    try writer.withoutTransaction { db in
      let former = try db.number("auto_vacuum")
      // 0: none; 1: all free pages at each commit; 2: on demand. The file takes the setting on with VACUUM.
      if let isIncremental { try db.execute(sql: "PRAGMA auto_vacuum = \(isIncremental ? 2 : 0)") }
      let pageSize = try db.number("page_size")
      _ = db.takePagesRead()
      var read: Int64 = 0
      do {
        try db.watched(
          by: watch,
          tick: {
            read += db.takePagesRead()
            watch.report(MaintenanceProgress(bytesDone: min(read * pageSize, size), bytesTotal: size))
          }
        ) {
          // SQLite has a second cache for the new file: of as many pages as the connection's would have of 4 KiB.
          try db.withSmallCache { try db.execute(sql: "VACUUM") }
        }
      } catch {
        if isIncremental != nil { try db.execute(sql: "PRAGMA auto_vacuum = \(former)") }
        throw error
      }
      watch.report(MaintenanceProgress(bytesDone: size, bytesTotal: size))
    }
    try writer.withCheckpointsPaused { try $0.shortenLog() }
  }

  /// Frees `atOnce` pages in each transaction, so that others can write in between.
  private func freePages(_ limit: Int?, _ atOnce: Int, _ watch: MaintenanceWatch) throws {
    let (mode, pageSize, free) = try writer.withoutTransaction { db in
      (try db.number("auto_vacuum"), try db.number("page_size"), try db.number("freelist_count"))
    }
    guard mode == 2 else { throw MaintenanceError.notIncremental(path: url?.path ?? "") }
    let total = min(free, limit.map(Int64.init) ?? .max)
    var done: Int64 = 0
    while done < total {
      try watch.check()
      let (before, after) = try writer.withoutTransaction { db in
        let before = try db.number("freelist_count")
        try db.execute(sql: "PRAGMA incremental_vacuum(\(min(Int64(atOnce), total - done)))")
        return (before, try db.number("freelist_count"))
      }
      // Another connection may have used the free pages.
      guard after < before else { break }
      done += before - after
      // The writer's lock isn't fair: without a pause this thread would take it again before those who wait for it.
      if done < total { Thread.sleep(forTimeInterval: 0.002) }
      watch.report(
        MaintenanceProgress(bytesDone: done * pageSize, bytesTotal: total * pageSize, items: done))
    }
    try writer.withCheckpointsPaused { try $0.shortenLog() }
  }

  // MARK: Statistics

  package func updateStatistics(sampling rows: Int?, _ watch: MaintenanceWatch) throws -> Int {
    try writer.refuseInTransaction("analyse the store")
    let count = try translating {
      let tables = try writer.withoutTransaction { db in
        try String.fetchAll(
          db,
          sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
            + "ORDER BY name")
      }
      for (number, table) in tables.enumerated() {
        // One table at a time, so that others can write in between.
        try writer.withoutTransaction { db in
          try db.execute(sql: "PRAGMA analysis_limit = \(rows ?? 0)")
          try db.watched(by: watch) {
            // Another program may have dropped it.
            guard try db.tableExists(table) else { return }
            try db.execute(sql: "ANALYZE \(table.quotedName)")
          }
        }
        watch.report(MaintenanceProgress(items: Int64(number + 1)))
      }
      return tables.count
    }
    // Connections read the statistics once, with the schema.
    pool.invalidateReadOnlyConnections()
    return count
  }

  // MARK: The log

  package func flushLog(
    _ mode: LogFlushMode, timeout: Duration, _ watch: MaintenanceWatch
  ) throws -> LogFlushResult {
    try writer.refuseInTransaction("checkpoint the store")
    let end = ContinuousClock.now + timeout
    while true {
      try watch.check()
      // SQLite's own busy timeout isn't used: it would wait with the writing connection in hand, and block every save.
      let result = try translating { try writer.withCheckpointsPaused { try $0.flushLogOnce(mode) } }
      let size = Int64(result.blockSize)
      watch.report(
        MaintenanceProgress(
          bytesDone: Int64(result.blocksMoved) * size, bytesTotal: Int64(result.blocksInLog) * size,
          items: Int64(result.blocksMoved)))
      if !result.isBusy || mode == .passive || ContinuousClock.now >= end { return result }
      usleep(Self.readerPollInterval)
    }
  }

  /// How long a checkpoint waits before it looks again whether readers still need the log, in microseconds.
  private static let readerPollInterval: UInt32 = 20_000

  // MARK: Indexes

  package func rebuildIndexes(_ entities: [EntityDescription]?, _ watch: MaintenanceWatch) throws -> Int {
    try writer.refuseInTransaction("rebuild the store's indexes")
    let tables: Set<String>? = try entities.map { entities in try self.tables(of: entities) }
    try watch.check()
    return try translating {
      let names = try writer.withoutTransaction { db in
        try Row.fetchAll(
          db, sql: "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' ORDER BY tbl_name, name"
        )
        .filter { tables?.contains($0["tbl_name"]) ?? true }.map { $0["name"] as String }
      }
      var made = 0
      func done(_ isMade: Bool) {
        if isMade { made += 1 }
        watch.report(MaintenanceProgress(items: Int64(made)))
      }
      for name in names {
        // One index in each transaction, so that others can write in between.
        done(
          try writer.withoutTransaction { db in
            try db.watched(by: watch) {
              try writer.transaction(on: db) {
                // A load may have removed it in the meantime: see `postponeIndexes`.
                guard try exists(name, db) else { return false }
                try db.execute(sql: "REINDEX \(name.quotedName)")
                return true
              }
            }
          })
      }
      for index in schema.indexes where tables?.contains(index.table) ?? true {
        done(
          try writer.withoutTransaction { db in
            try db.watched(by: watch) {
              guard !postponements.contains(index.table), try !exists(index.name, db)
              else { return false }
              try writer.transaction(on: db) { try db.execute(sql: index.createStatement) }
              return true
            }
          })
      }
      return made
    }
  }

  private func exists(_ index: String, _ db: Database) throws -> Bool {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?"
    return try Int.fetchOne(db, sql: sql, arguments: [index]) != nil
  }

  /// The tables that hold the rows of entities, and the pairs of their many-to-many relationships.
  private func tables(of entities: [EntityDescription]) throws -> Set<String> {
    var tables = Set(try entities.map { try layout(of: $0).table })
    let roots = Set(entities.map(\.rootEntity))
    for join in schema.joinTables {
      let ends = [join.relationship.entity.rootEntity, join.relationship.destinationEntity.rootEntity]
      if ends.contains(where: roots.contains) { tables.insert(join.name) }
    }
    return tables
  }
}

extension SQLiteStore: PairMaintenance {
  package func danglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)] {
    try translating {
      try read { db in
        try schema.joinTables.compactMap { table in
          let sql = "SELECT COUNT(*) FROM \(table.name.quotedName) WHERE \(isDangling(table))"
          let count = try Int.fetchOne(db, sql: sql) ?? 0
          return count > 0 ? (table.relationship, count) : nil
        }
      }
    }
  }

  package func removeDanglingPairs() throws -> [(relationship: RelationshipDescription, count: Int)] {
    try translating {
      try writer.write { db in
        try schema.joinTables.compactMap { table in
          try db.execute(sql: "DELETE FROM \(table.name.quotedName) WHERE \(isDangling(table))")
          return db.changesCount > 0 ? (table.relationship, db.changesCount) : nil
        }
      }
    }
  }

  /// The condition for a pair with an object that doesn't exist.
  private func isDangling(_ table: JoinTable) -> String {
    let ends = [
      (table.sourceColumn, table.relationship.entity), (table.destinationColumn, table.relationship.destinationEntity),
    ]
    return ends.map { column, entity in
      "NOT EXISTS (SELECT 1 FROM \(schema.table(of: entity).quotedName) AS o WHERE "
        + "o.\(schema.primaryKeyColumn(of: entity).quotedName) = \(table.name.quotedName).\(column.quotedName))"
    }.joined(separator: " OR ")
  }
}

extension StoreSizes {
  /// The sizes of a store in an SQLite file, open or not. A file that doesn't exist has 0 bytes.
  package init(ofSQLiteFile path: String) {
    func size(_ path: String) -> Int64 {
      var status = stat()
      return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
    self.init(content: size(path), log: size(path + "-wal"))
  }
}

extension LogFlushMode {
  /// SQLite's name of the mode: https://sqlite.org/pragma.html#pragma_wal_checkpoint.
  fileprivate var pragmaArgument: String {
    switch self {
    case .passive: "PASSIVE"
    case .full: "FULL"
    case .restart: "RESTART"
    case .truncate: "TRUNCATE"
    }
  }
}

extension Database {
  fileprivate func flushLogOnce(_ mode: LogFlushMode) throws -> LogFlushResult {
    let pageSize = Int(try number("page_size"))
    do {
      return try withoutWaiting {
        let row = try Row.fetchOne(self, sql: "PRAGMA wal_checkpoint(\(mode.pragmaArgument))")
        return LogFlushResult(
          isBusy: (row?[0] as Int?) != 0, blocksInLog: max(0, row?[1] ?? 0), blocksMoved: max(0, row?[2] ?? 0),
          blockSize: pageSize)
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED {
      return LogFlushResult(isBusy: true, blocksInLog: 0, blocksMoved: 0, blockSize: pageSize)
    }
  }

  /// Bytes of the content with its free pages: the size of the file once all of the log is copied into it.
  func contentSize() throws -> Int64 { try number("page_count") * number("page_size") }

  /// Copies the log into the file and makes it empty, unless a reader needs it.
  func shortenLog() throws {
    do {
      try withoutWaiting { try execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED {
      // A later checkpoint does it.
    }
  }
}
