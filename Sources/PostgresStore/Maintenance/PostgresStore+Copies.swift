// A copy is a dump of the store's schema. It becomes the content in two steps: its rows go into a schema beside the store's, where
// they are migrated if need be; then that schema's tables take the place of the store's, in one transaction. Another process may have
// prepared a copy since: then that is no longer this one's, and doesn't become the content here.

package import Foundation
package import ManagedObjects
import PostgreSQL
import SQLSchema

extension PostgresStore {
  /// What copies of stores in PostgreSQL are.
  package static var copyForm: StoreCopyForm { PostgresDump.form }
  package var copyForm: StoreCopyForm { Self.copyForm }

  /// By `pg_dump`: other programs' tables in the schema are in it, too.
  package func copyContent(to url: URL, _ watch: MaintenanceWatch) throws {
    try writer.refuseInTransaction("copy the store")
    let way = access.direct(options.direct)
    // pg_dump sets its session up before its transaction begins. Through a pooler, that would meet another, and stay there.
    guard try options.direct != nil || !tables.translating({ try way.connect().isPooled }) else {
      throw ManagedObjectError.store(
        StoreFailure(
          .other, path: tables.name,
          message: "pg_dump can't go through a pooler of transactions: name a way past it to the server as `direct`"))
    }
    try PostgresDump.make(url, of: sessions.namespace, way, expecting: sizes().content, watch)
  }

  /// Both depths read what the store says of itself; the full one also reads all rows.
  package func checkCopy(
    at url: URL, _ depth: CheckDepth, _ watch: MaintenanceWatch, found: @escaping (StoreProblem) throws -> Void
  ) throws -> PersistentStoreMetadata {
    let dump = PostgresDump(url: url)
    let metadata = try dump.metadata(watch)
    if depth == .full {
      var tables: Int64 = 0
      do {
        try dump.read(watch) { _, _, rows in
          try rows { _ in }
          tables += 1
          watch.report(MaintenanceProgress(items: tables, phase: "rows"))
        }
      } catch MaintenanceError.programFailed(_, let reason) {
        try found(StoreProblem(.damage, message: reason))
      }
    }
    let kept = try StoredVersion(path: url.path) { metadata[$0] }
    return PersistentStoreMetadata(
      storeType: PersistentStore.StoreType.postgres.rawValue, storeIdentifier: metadata["identifier"] ?? "",
      modelVersionHashes: kept?.hashes ?? [:], modelVersionIdentifiers: Set(kept?.identifiers ?? []),
      userInfo: try metadata["user_info"].map {
        try JSONDecoder().decode([String: Value].self, from: Data($0.utf8))
      } ?? [:], modelText: kept?.modelText)
  }

  // MARK: Replacing the content

  private var side: PostgresSide { PostgresSide(of: sessions.namespace) }

  /// Leaves the file as it is: what is prepared is the schema beside the store's.
  package func prepareCopy(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], migration: MigrationOptions, mark: String,
    _ watch: MaintenanceWatch
  ) throws {
    let dump = PostgresDump(url: url)
    var metadata = try dump.metadata(watch)
    guard let kept = try StoredVersion(path: url.path, text: { metadata[$0] }) else {
      throw ManagedObjectError.incompatibleStore(path: url.path, reason: "it doesn't say which model made it")
    }
    if let format = metadata["format"], Int(format) ?? .max > PostgresMetadata.format {
      throw ManagedObjectError.incompatibleStore(
        path: url.path, reason: "a later version of this library has made it (format \(format))")
    }
    metadata["identifier"] = identifier
    metadata["content_mark"] = mark
    metadata[PostgresSessions.key] = "0"
    let preparation = UUID().uuidString
    metadata[Self.preparationKey] = preparation
    let source = try kept.model(path: url.path)
    let schema = try SchemaMap(
      model: source, entities: source.entities.filter { kept.hashes[$0.name] != nil }, PostgresDialect.self)
    try maintaining("restore the store", watch) { connection in
      try side.remove(connection)
      try connection.begin()
      try side.fill(connection, name: tables.name, schema, metadata, from: dump, watch)
      try connection.run("COMMIT")
    }
    var migration = migration
    migration.shouldStop = watch.shouldStop
    try PostgresStore(
      access.string, schema: side.name, model: model, entities: entities,
      options: PostgresStoreOptions(
        durability: options.durability, password: options.password,
        persistentHistoryTracking: options.persistentHistoryTracking),
      migration: migration, timeout: timeout
    ).close()
    self.preparation.withLock { $0 = preparation }
  }

  package func replaceContent(with url: URL, _ watch: MaintenanceWatch) throws {
    try maintaining("replace the store's content", watch) { connection in
      let migration = PostgresMigration(connection, store: tables.name)
      let catalogue = PostgresCatalogue(connection)
      try connection.begin()
      try sessions.closeGate(connection)
      guard try connection.text("SELECT to_regclass('\(SQLText.name(side.name)).lade_metadata')") != nil else {
        throw ManagedObjectError.incompatibleStore(path: url.path, reason: "it wasn't prepared for the store")
      }
      let prepared = try connection.text(
        "SELECT value FROM \(SQLText.name(side.name)).lade_metadata WHERE key = '\(Self.preparationKey)'")
      guard let prepared, prepared == preparation.withLock({ $0 }) else {
        throw ManagedObjectError.incompatibleStore(
          path: url.path, reason: "another program has prepared a copy for the store since")
      }
      try sessions.endOthers(connection, timeout: timeout)
      // Numbers that were given are given to no other row.
      var given: [String: Int64] = [:]
      for table in tables.schema.tables.map(\.name) + [Self.changes] {
        given[table] = try migration.lastNumber(of: table)
      }
      let present = try catalogue.tables()
      let lastTransaction = present.contains(Self.last) ? try Self.lastTransactionNumber(connection) : 0
      let own = (Array(tables.schema.columnsByTable.keys) + Self.historyTables).filter(present.contains).sorted()
      let others = try PostgresOthers(migration, besides: tables.schema)
      try others.dropViews()
      try migration.release(own)
      try migration.execute("DROP TABLE \(own.map(SQLText.name).joined(separator: ", "))", [])
      try side.moveTables(migration, into: sessions.namespace)
      try migration.keep(lastNumbers: given, of: tables.schema)
      if options.persistentHistoryTracking {
        try connection.run(PostgresHistoryWriter.tables)
        try connection.run("UPDATE \(Self.last) SET number = greatest(number, \(lastTransaction))")
      }
      for loss in try others.restore() {
        report(StoreFailure(.other, path: tables.name, message: "a restore couldn't keep all: \(loss)"))
      }
      MigrationProbe.onStep?("COMMIT")
      try connection.run("COMMIT")
    }
    numbers.forget()
    announce()
  }

  package func contentMark() throws -> String? {
    try tables.translating { try read(isOneState: false) { try PostgresMetadata($0).text("content_mark") } }
  }

  /// Names a copy that has been prepared, in its metadata.
  private static let preparationKey = "preparation"
  private static let last = "lade_history_last"
  private static let changes = "lade_history_change"
  /// Those that refer to others first.
  private static let historyTables = [changes, "lade_history_transaction", last]
}

extension PostgresSide {
  /// Makes the schema and its tables, with the rows of a dump, in the connection's transaction. Other tables of the dump are left
  /// out.
  /// - Parameter name: the store, for errors.
  fileprivate func fill(
    _ connection: PostgresConnection, name: String, _ schema: SchemaMap, _ metadata: [String: String],
    from dump: PostgresDump, _ watch: MaintenanceWatch
  ) throws {
    try connection.run(
      """
      CREATE SCHEMA \(SQLText.name(self.name)); SET LOCAL search_path = \(SQLText.name(self.name));
      CREATE TABLE lade_metadata (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)
      """)
    let migration = PostgresMigration(connection, store: name)
    for table in schema.tables { try migration.execute(table.createStatement, []) }
    for table in schema.joinTables { try migration.execute(table.createStatement, []) }
    let history = ["lade_history_last", "lade_history_transaction", "lade_history_change"]
    let wanted = Set(schema.columnsByTable.keys)
    var hasHistory = false
    var done: Int64 = 0
    try dump.read(watch) { table, columns, rows in
      let isHistory = history.contains(table)
      if isHistory, !hasHistory {
        hasHistory = true
        try connection.run(PostgresHistoryWriter.tables)
        // Changes may come before their transactions, which are made again below.
        try connection.run(
          "TRUNCATE lade_history_last; ALTER TABLE lade_history_change DROP CONSTRAINT IF EXISTS \(Self.key)")
      }
      guard isHistory || wanted.contains(table) else { return try rows { _ in } }
      let list = columns.map(SQLText.name).joined(separator: ", ")
      try connection.copyBytes("COPY \(SQLText.name(table)) (\(list)) FROM STDIN") { send in
        try rows { part in
          try send(Array(part))
          done += Int64(part.count)
          watch.report(MaintenanceProgress(bytesDone: done, phase: "restoring"))
        }
      }
    }
    if hasHistory {
      try connection.run(PostgresHistoryWriter.tables)
      try connection.run(
        "ALTER TABLE lade_history_change ADD CONSTRAINT \(Self.key) FOREIGN KEY (transaction_number) "
          + "REFERENCES lade_history_transaction (number) ON DELETE CASCADE")
    }
    // With all rows in place, indexes and references are made faster.
    for index in schema.indexes { try migration.execute(index.createStatement, []) }
    try migration.checkReferences(of: schema)
    var numbers: [String: Int64] = [:]
    for table in schema.tables {
      numbers[table.name] = try migration.number(
        "SELECT max(\(SQLText.name(table.primaryKeyColumn))) FROM \(SQLText.name(table.name))")
    }
    if hasHistory { numbers[history[2]] = try migration.number("SELECT max(number) FROM lade_history_change") }
    try migration.keep(lastNumbers: numbers, of: schema)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { try PostgresMetadata(connection).set(key, value) }
  }

  /// As PostgreSQL names it.
  private static let key = "lade_history_change_transaction_number_fkey"
}
