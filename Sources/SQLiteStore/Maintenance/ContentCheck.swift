package import Foundation
import GRDB
package import ManagedObjects
import SQLSchema

/// Looks for damage in one state of a file. Belongs to the thread that checks.
final class ContentCheck {
  let db: Database
  let watch: MaintenanceWatch
  let found: (StoreProblem) throws -> Void
  private let pageSize: Int64
  private var progress: MaintenanceProgress
  private var pagesRead: Int64 = 0

  /// The greatest number of problems of one kind that SQLite reports.
  static let limit = 10_000

  private init(_ db: Database, _ watch: MaintenanceWatch, _ found: @escaping (StoreProblem) throws -> Void) throws {
    self.db = db
    self.watch = watch
    self.found = found
    pageSize = try db.number("page_size")
    progress = MaintenanceProgress(bytesTotal: try db.contentSize())
    _ = db.takePagesRead()
  }

  /// Runs checks of what a connection sees.
  static func run<T>(
    _ db: Database, _ watch: MaintenanceWatch, _ found: @escaping (StoreProblem) throws -> Void,
    _ body: (ContentCheck) throws -> T
  ) throws -> T {
    let check = try ContentCheck(db, watch, found)
    return try db.watched(by: watch, tick: { check.tell() }) { try body(check) }
  }

  /// Reports how much of the file has been read.
  private func tell(_ phase: String? = nil) {
    pagesRead += db.takePagesRead()
    progress.phase = phase ?? progress.phase
    progress.bytesDone = min(pagesRead * pageSize, progress.bytesTotal)
    watch.report(progress)
  }

  /// Runs a check. A file that can't be read to its end is a problem like others.
  static func reporting(_ found: (StoreProblem) throws -> Void, _ check: () throws -> Void) throws {
    do {
      try check()
    } catch let error as DatabaseError
      where error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    {
      try found(
        StoreProblem(.damage, message: "the check couldn't continue: \(error.message ?? "\(error.resultCode)")"))
    }
  }

  /// The file's pages, and with ``CheckDepth/full`` its indexes.
  func file(_ depth: CheckDepth) throws {
    tell("pages")
    let pragma = depth == .full ? "integrity_check" : "quick_check"
    let rows = try String.fetchCursor(db, sql: "PRAGMA \(pragma)(\(Self.limit))")
    while let text = try rows.next() {
      guard text != "ok" else { continue }
      for line in text.split(separator: "\n").map(String.init) {
        if let error = FailedReads.error(inCheck: line) { throw error }
        try found(StoreProblem(.damage, message: line))
      }
    }
  }

  /// Foreign keys, a table at a time.
  func references() throws {
    let tables = try String.fetchAll(
      db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    for table in tables {
      tell("references")
      progress.items += 1
      try watch.check()
      let columns = try Row.fetchAll(db, sql: "SELECT id, \"from\" FROM pragma_foreign_key_list(?)", arguments: [table])
      let names = Dictionary(columns.map { ($0[0] as Int, $0[1] as String) }) { first, _ in first }
      let rows = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check(\(table.quotedName))")
      while let row = try rows.next() {
        let (parent, key): (String?, Int?) = (row[2], row[3])
        try found(
          StoreProblem(
            .reference, entity: table, number: row[1], property: key.flatMap { names[$0] },
            message: "refers to a row of \(parent ?? "a table") that doesn't exist"))
      }
    }
  }

  /// The metadata, compared with the tables.
  func metadata(of store: SQLiteStore, withoutIndexesOf postponed: Set<String>) throws {
    tell("metadata")
    try watch.check()
    let identifier = try StoredVersion.text("identifier", db)
    if identifier != store.identifier {
      try note("its identifier is \(identifier ?? "missing"), and was \(store.identifier) when it was opened")
    }
    do {
      if try StoredVersion(db, path: store.pool.path)?.model(path: store.pool.path) == nil {
        try note("it doesn't say which model made it")
      }
    } catch let error as MigrationError {
      try note("\(error)")
    }
    for row in try Row.fetchAll(db, sql: "SELECT key, value FROM lade_metadata WHERE key GLOB 'last_number.*'")
    where Int64.fromDatabaseValue(row[1]) == nil {
      try note("\(row[0] as String) isn't a number")
    }
    try tables(of: store.schema, postponed)
    for table in store.schema.tables { try discriminators(table, store) }
  }

  /// The files of large values.
  func externalData(of store: SQLiteStore) throws {
    guard let external = store.tables.external else { return }
    tell("external data")
    try watch.check()
    try external.check(db, found)
  }

  private func note(_ message: String) throws { try found(StoreProblem(.metadata, message: message)) }

  private func tables(of schema: SchemaMap, _ postponed: Set<String>) throws {
    for (table, columns) in schema.columnsByTable.sorted(by: { $0.key < $1.key }) {
      let present = try PresentTable.columns(of: table, db)
      for column in columns where !present.contains(column.lowercased()) {
        try found(
          StoreProblem(
            .schema, entity: table, property: present.isEmpty ? nil : column,
            message: present.isEmpty ? "the table doesn't exist" : "the column doesn't exist"))
        if present.isEmpty { break }
      }
    }
    let indexes = Set(try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'index'"))
    for index in schema.indexes where !indexes.contains(index.name) && !postponed.contains(index.table) {
      try found(
        StoreProblem(.schema, entity: index.table, message: "the index \(index.name) doesn't exist: reindex makes it"))
    }
  }

  /// Rows of entities that don't belong into the table.
  private func discriminators(_ table: TableMap, _ store: SQLiteStore) throws {
    guard let column = table.discriminatorColumn else { return }
    let names = table.rootEntity.selfAndDescendants.map { SQLText.literal($0.name) }.joined(separator: ", ")
    let rows = try Row.fetchCursor(
      db,
      sql: "SELECT \(table.primaryKeyColumn.quotedName), \(column.quotedName) FROM \(table.name.quotedName) "
        + "WHERE \(column.quotedName) NOT IN (\(names)) LIMIT \(Self.limit)")
    while let row = try rows.next() {
      let name = row[1] as DatabaseValue
      try found(
        StoreProblem(
          .metadata, entity: table.name, number: row[0], property: column,
          message: "\(name) is no entity of the table"))
    }
  }
}

extension SQLiteStore {
  /// Reads one state of the file on a connection of its own.
  package func checkIntegrity(
    _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  )
    throws
  {
    try translating {
      let missing = postponements.tables
      try ContentCheck.reporting(found) {
        let queue = try DatabaseQueue(path: pool.path, configuration: Self.reading(options))
        try queue.read { db in
          try ContentCheck.run(db, watch, found) { check in
            try check.file(depth)
            try check.references()
            try check.metadata(of: self, withoutIndexesOf: missing)
            try check.externalData(of: self)
          }
        }
        try queue.close()
      }
    }
  }

  package func checkCopy(
    at url: URL, _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  ) throws -> PersistentStoreMetadata {
    try Self.translating(url) {
      var metadata: PersistentStoreMetadata?
      try ContentCheck.reporting(found) {
        let queue = try DatabaseQueue(path: url.path, configuration: Self.reading(options))
        metadata = try queue.read { db in
          try ContentCheck.run(db, watch, found) { check in
            try check.file(depth)
            guard try db.tableExists("lade_metadata") else { return nil }
            try check.references()
            return try StoredMetadata.read(db, path: url.path)
          }
        }
        try queue.close()
      }
      guard let metadata else {
        throw ManagedObjectError.incompatibleStore(path: url.path, reason: "it has no table lade_metadata")
      }
      return metadata
    }
  }
}
