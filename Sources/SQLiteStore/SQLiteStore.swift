// A save is one transaction of SQLite in WAL mode, so readers never wait for the writer, and see a save whole or not at
// all. Row numbers are never given twice, also after the highest row was deleted: `lade_metadata` keeps the last one.

public import Foundation
import GRDB
public import ManagedObjects
import Synchronization

/// A store in an SQLite file, whose tables people and their tools can read.
///
/// One table an entity hierarchy, named as its root entity; a column an attribute, named as the attribute; a to-one
/// relationship `owner` is the column `owner_id`, a foreign key. See ``SchemaMap``.
package final class SQLiteStore: IncrementalStore {
  package let identifier: String
  package let url: URL?
  let pool: DatabasePool
  /// What everything is written by, and read by in a transaction of many writes.
  let writer: WriterConnection
  let schema: SchemaMap
  let options: SQLiteStoreOptions
  /// By the entities' indexes; of the entities that the store holds.
  let layouts: [Int: RowLayout]
  /// How rows are looked up, by the numbers of the entities at the top of hierarchies.
  let rowsByNumber = Mutex<[Int: RowsByNumber]>([:])
  /// How many loads go on without the indexes of a table.
  let postponements = Mutex<[String: Int]>([:])
  /// What IDs of an entity are made with, by its index: of every entity in the hierarchies that the store holds a part of.
  private let scopes: [Int: IDScope]
  /// Whether there are ordered relationships.
  let hasOrders: Bool
  /// Whether there are derived attributes.
  let hasDerivations: Bool

  /// Tells of others' commits; set once, before the store is used.
  let watcher = Mutex<RemoteChangeWatcher?>(nil)

  /// Opens or creates the file, and migrates what was made with another version of the model.
  ///
  /// - Throws: ``MigrationError`` when it can't be migrated or isn't to be,
  ///   ``ManagedObjectError/incompatibleStore(path:reason:)`` when its tables aren't those of the model and it doesn't say
  ///   which model made them, ``ManagedObjectError/store(path:code:message:)`` when SQLite can't open it.
  package convenience init(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], options: SQLiteStoreOptions = .init(),
    migration: MigrationOptions = .init(), newIdentifier: String? = nil
  ) throws {
    let opening = StoreOpening(
      model: model, entities: entities, path: url.path, options: migration, newIdentifier: newIdentifier)
    let (pool, opened, copier) = try Self.translating(url) {
      let pool = try DatabasePool(path: url.path, configuration: Self.configuration(options))
      let (opened, copier) = try pool.writeWithoutTransaction { db in
        let opened = try opening.open(db)
        try db.execute(sql: "PRAGMA synchronous = \(options.durability == .everySave ? "FULL" : "NORMAL")")
        try db.execute(sql: "PRAGMA cache_size = -\(options.writerCache / 1024)")
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? options.pageSize
        let copier = LogCopier(path: url.path, from: max(1, options.checkpointSize / pageSize))
        copier.follow(db)
        // What a transaction of many writes has made it grow to isn't kept.
        try db.execute(sql: "PRAGMA journal_size_limit = \(4 * max(options.checkpointSize, pageSize))")
        if options.persistentHistoryTracking {
          for statement in HistoryTables.statements { try db.execute(sql: statement) }
        }
        return (opened, copier)
      }
      return (pool, opened, copier)
    }
    self.init(at: url, entities: entities, options: options, pool: pool, copier: copier, opened: opened)
  }

  /// Opens a file for reading whose tables are known to fit, while another connection may be about to change them.
  convenience init(reading url: URL, entities: [EntityDescription], opened: StoreOpening.Opened) throws {
    let options = SQLiteStoreOptions()
    var configuration = Self.configuration(options)
    configuration.readonly = true
    let pool = try DatabasePool(path: url.path, configuration: configuration)
    self.init(at: url, entities: entities, options: options, pool: pool, copier: nil, opened: opened)
  }

  private init(
    at url: URL, entities: [EntityDescription], options: SQLiteStoreOptions, pool: DatabasePool, copier: LogCopier?,
    opened: StoreOpening.Opened
  ) {
    self.url = url
    self.options = options
    self.pool = pool
    writer = WriterConnection(pool, copier: copier, path: url.path)
    let (identifier, schema) = (opened.identifier, opened.schema)
    self.identifier = identifier
    self.schema = schema
    var scopes: [Int: IDScope] = [:]
    for root in Set(entities.map(\.rootEntity)) {
      for entity in root?.selfAndDescendants ?? [] {
        scopes[entity.index] = IDScope(entity: entity, storeIdentifier: identifier)
      }
    }
    self.scopes = scopes
    var layouts: [Int: RowLayout] = [:]
    for entity in entities {
      guard let scope = scopes[entity.index] else { continue }
      layouts[entity.index] = RowLayout(entity, schema: schema, scopes: scopes, scope: scope)
    }
    self.layouts = layouts
    hasOrders = entities.contains(where: \.hasOrders)
    hasDerivations = entities.contains(where: \.hasDerivations)
  }

  /// How long a connection waits for another's lock, in seconds.
  static let lockTimeout = 30.0

  static func configuration(_ options: SQLiteStoreOptions) -> Configuration {
    var configuration = Configuration()
    configuration.maximumReaderCount = options.readers
    configuration.busyMode = .timeout(lockTimeout)
    configuration.label = "SQLiteStore"
    // Of the connection that writes: a transaction of many writes is open between its uses.
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(options.pageSize)")
      try db.execute(sql: "PRAGMA cache_size = -\(options.readerCache / 1024)")
      PredicateFunctions.register(on: db)
      DateForms.register(on: db)
    }
    return configuration
  }

  func layout(of entity: EntityDescription) throws -> RowLayout {
    guard let layout = layouts[entity.index] else { throw ManagedObjectError.noStore(entity: entity.name) }
    return layout
  }

  /// The layouts of the entities whose rows a fetch of `entity` may bring; there is at least one.
  func layouts(of entity: EntityDescription, includesSubentities: Bool = true) throws -> [RowLayout] {
    let found = (includesSubentities ? entity.selfAndDescendants : [entity]).compactMap { layouts[$0.index] }
    guard !found.isEmpty else { throw ManagedObjectError.noStore(entity: entity.name) }
    return found
  }

  /// Whether the store holds the entity, or one that inherits from it.
  func holds(_ entity: EntityDescription) -> Bool {
    layouts[entity.index] != nil || entity.subentities.contains(where: holds)
  }

  /// What IDs are made with that say no more than that an object is of that entity.
  func scope(of entity: EntityDescription) -> IDScope { scopes[entity.index] ?? .of(entity, in: identifier) }

  /// Runs `body`, turning SQLite's errors into this library's.
  func translating<T>(_ body: () throws -> T) throws -> T { try Self.translating(url, body) }

  static func translating<T>(_ url: URL?, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw ManagedObjectError.store(
        path: url?.path ?? "", code: error.extendedResultCode.rawValue, message: error.message ?? "\(error.resultCode)")
    }
  }

  package func snapshot() throws -> any StoreReader { try SQLiteSnapshot(of: self) }

  package func close() throws {
    try writer.refuseInTransaction("close the store")
    watcher.withLock { watcher in
      watcher?.stop()
      watcher = nil
    }
    writer.stopCopying()
    try translating {
      // Passive: it copies what it can, and waits for no reader of another process.
      try writer.withoutTransaction { db in _ = try db.checkpoint(.passive) }
      try pool.close()
    }
  }

  package func synchronize() throws {
    try writer.refuseInTransaction("wait for the disk")
    // A commit under FULL syncs the log, and with it every commit before.
    try translating {
      try writer.withoutTransaction { db in
        try db.execute(sql: "PRAGMA synchronous = FULL")
        let result = Result {
          try db.inTransaction {
            try db.execute(
              sql: "INSERT OR REPLACE INTO lade_metadata (key, value) VALUES ('synchronized', strftime('%s', 'now'))")
            return .commit
          }
        }
        if options.durability == .atCheckpoint { try db.execute(sql: "PRAGMA synchronous = NORMAL") }
        try result.get()
      }
    }
  }
}

extension PersistentStoreDescription {
  /// A store in the SQLite file at `url`, which is created when missing.
  public static func sqlite(
    at url: URL, configuration: String? = nil, options: SQLiteStoreOptions = .init()
  ) -> PersistentStoreDescription {
    PersistentStoreDescription(configuration: configuration) { model, entities, migration in
      try SQLiteStore(at: url, model: model, entities: entities, options: options, migration: migration)
    }
  }
}
