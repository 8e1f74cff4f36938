// A copy is made page by page through SQLite's backup interface, under one read transaction of a connection of its own: it
// is one state of the content, and commits of others don't restart it. A complete copy is one file without a log.
//
// A copy becomes a store's content in one transaction: its pages are written over the store's, into the log, and count
// when all of them are there. The file itself stays, so that programs which have it open continue to read the old content
// or the new. Everything in which a copy must differ from a store in use is changed in the copy before.

package import Foundation
import GRDB
package import ManagedObjects
import SQLSchema

extension SQLiteStore {
  /// The number of pages that are copied between two checks of the watch: 1 MiB, and at least 16.
  static func pagesAtOnce(_ pageSize: Int64) -> CInt { CInt(max(16, (1 << 20) / max(512, pageSize))) }

  package func copyContent(to url: URL, _ watch: MaintenanceWatch) throws {
    let source = try translating { try DatabaseQueue(path: pool.path, configuration: Self.reading(options)) }
    try Self.translating(url) {
      let target = try DatabaseQueue(path: url.path)
      func copy() throws {
        try source.read { db in
          // From here on the connection sees one state.
          _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
          try target.writeWithoutTransaction { copy in
            // A killed process leaves a file that isn't taken for a copy.
            try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try db.copyPages(to: copy, watch)
            try tables.external?.inline(copy, watch)
          }
        }
      }
      if let external = tables.external { try external.whileReading(copy) } else { try copy() }
      try target.close()
      try Self.makePlain(url)
    }
    try translating { try source.close() }
  }

  /// Turns a file into one without a log.
  static func makePlain(_ url: URL) throws {
    let plain = try DatabaseQueue(path: url.path)
    let mode = try plain.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
    guard mode == "delete" else {
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the copy is in use: its log can't be put into it")
    }
    try plain.close()
    // SQLite says so even if it couldn't write the change, which the next one who opens the file then takes back.
    let reopened = try DatabaseQueue(path: url.path)
    let lasting = try reopened.writeWithoutTransaction { db in
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
      return try String.fetchOne(db, sql: "PRAGMA journal_mode")
    }
    try reopened.close()
    guard lasting == "delete" else {
      throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the copy's log couldn't be put into it")
    }
  }

  /// The configuration of a connection that only reads.
  static func reading(_ options: SQLiteStoreOptions) -> Configuration {
    var configuration = configuration(options)
    configuration.readonly = true
    return configuration
  }

  // MARK: Replacing the content

  package func prepareCopy(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], migration: MigrationOptions, mark: String,
    _ watch: MaintenanceWatch
  ) throws {
    try watch.check()
    let given = try translating { try writer.read { try givenNumbers($0) } }
    try Self.translating(url) {
      let copy = try DatabaseQueue(path: url.path)
      try copy.write { db in
        try StoredVersion.set("identifier", identifier, db)
        try StoredVersion.set("content_mark", mark, db)
      }
      try copy.close()
    }
    var (migration, options) = (migration, options)
    migration.shouldStop = watch.shouldStop
    options.remoteChangeNotifications = false
    let prepared = try SQLiteStore(at: url, model: model, entities: entities, options: options, migration: migration)
    try prepared.close()
    try Self.translating(url) {
      try Self.makePlain(url)
      let copy = try DatabaseQueue(path: url.path)
      if let external = prepared.tables.external {
        // A migration by code may have written files beside the copy.
        try copy.writeWithoutTransaction { try external.inline($0, watch) }
        try external.removeAll()
      }
      try copy.write { try raiseNumbers(to: given, $0) }
      try copy.writeWithoutTransaction { try fitPages($0, watch) }
      try copy.close()
    }
  }

  package func replaceContent(with url: URL, _ watch: MaintenanceWatch) throws {
    try writer.refuseInTransaction("replace the store's content")
    let copy = try Self.translating(url) { try DatabaseQueue(path: url.path, configuration: Self.reading(options)) }
    try translating {
      try copy.read { db in
        try writer.withoutTransaction { store in try db.copyPages(to: store, watch) }
      }
      pool.invalidateReadOnlyConnections()
      try copy.close()
    }
    try synchronize()
    try translating {
      try collectExternalData()
      try writer.withCheckpointsPaused { try $0.shortenLog() }
    }
  }

  /// Removes the files of values that no row refers to.
  func collectExternalData() throws {
    guard let url else { return }
    try writer.withoutTransaction { try ExternalData.collect($0, of: schema, at: url) }
  }

  package func contentMark() throws -> String? {
    try translating { try writer.read { try StoredVersion.text("content_mark", $0) } }
  }

  // MARK: Numbers

  private struct GivenNumbers {
    /// By the keys under which they are kept.
    var rows: [String: Int64] = [:]
    /// By table, of the tables that SQLite numbers itself.
    var history: [String: Int64] = [:]
  }

  private func givenNumbers(_ db: Database) throws -> GivenNumbers {
    var given = GivenNumbers()
    for row in try Row.fetchAll(db, sql: "SELECT key, value FROM lade_metadata WHERE key GLOB 'last_number.*'") {
      given.rows[row[0]] = Int64.fromDatabaseValue(row[1]) ?? 0
    }
    for table in schema.tables {
      let present = try Int64.fetchOne(
        db, sql: "SELECT max(\(table.primaryKeyColumn.quotedName)) FROM \(table.name.quotedName)")
      let key = "last_number." + table.name
      given.rows[key] = max(given.rows[key] ?? 0, present ?? 0, writer.lastNumber(of: table.name))
    }
    if try db.tableExists("sqlite_sequence") {
      for row in try Row.fetchAll(db, sql: "SELECT name, seq FROM sqlite_sequence WHERE name GLOB 'lade_history_*'") {
        given.history[row[0]] = row[1] ?? 0
      }
    }
    return given
  }

  private func raiseNumbers(to given: GivenNumbers, _ db: Database) throws {
    for (key, number) in given.rows where number > 0 {
      try db.execute(
        sql: """
          INSERT INTO lade_metadata (key, value) VALUES (?, ?)
          ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)
          """, arguments: [key, number])
    }
    guard !given.history.isEmpty, try db.tableExists("sqlite_sequence") else { return }
    for (table, number) in given.history {
      try db.execute(sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", arguments: [number, table])
      guard db.changesCount == 0 else { continue }
      try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", arguments: [table, number])
    }
  }

  /// Gives the copy pages of the store's size: pages of another size can't be written over the store's.
  private func fitPages(_ db: Database, _ watch: MaintenanceWatch) throws {
    let size = try writer.withoutTransaction { try $0.number("page_size") }
    guard try db.number("page_size") != size else { return }
    try db.watched(by: watch) { try db.execute(sql: "PRAGMA page_size = \(size); VACUUM") }
  }
}

extension Database {
  /// Copies the content to another connection's file, in a transaction of that.
  func copyPages(to copy: Database, _ watch: MaintenanceWatch) throws {
    let pageSize = try number("page_size")
    watch.report(MaintenanceProgress(bytesDone: 0, bytesTotal: try contentSize()))
    try watch.check()
    do {
      try backup(to: copy, pagesPerStep: SQLiteStore.pagesAtOnce(pageSize)) { progress in
        let total = Int64(progress.totalPageCount)
        watch.report(
          MaintenanceProgress(
            bytesDone: (total - Int64(progress.remainingPageCount)) * pageSize, bytesTotal: total * pageSize))
        try watch.check()
      }
    } catch let error as DatabaseError {
      // A step notes its error in neither connection (https://sqlite.org/c3ref/backup_finish.html), so the message that comes
      // with the code is about something else.
      throw DatabaseError(
        resultCode: error.extendedResultCode, message: StoreFailure.text(of: error.extendedResultCode))
    }
  }
}
