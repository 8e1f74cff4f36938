// A store that Core Data made, used in place: an app and a server hand one file back and forth.
//   1. Core Data's tables stay as they are. The model's properties find their columns in the file (`CoreDataTables`), and
//      values have Core Data's forms (`StoredForms`). Fetches are compiled as for this library's own files.
//   2. A save is one transaction that takes the write lock first. It compares each row with what its context has read, and keeps
//      Core Data's bookkeeping: `Z_OPT` grows with each write of a row, so that Core Data notices it; `Z_MAX` numbers new rows;
//      `Z_ENT` and the second columns of references name entities; history is recorded where the file has the tables for it.
//   3. `Z_METADATA`, `Z_MODELCACHE`, the tables and their indexes aren't changed.
//   4. Derived attributes are kept by triggers in the file, which call functions that tell Core Data's contexts of new values.
//      Here they tell the contexts of this process.
//   5. Large values of attributes that allow external storage are files in Core Data's folder: `ExternalData`.

import CoreDataStores
package import Foundation
package import GRDB
package import ManagedObjects
import SQLSchema
import Synchronization

/// A store in a file of Core Data.
package final class InPlaceStore: IncrementalStore {
  package var identifier: String { tables.identifier }
  package var url: URL? { tables.url }
  package let tables: StoreTables
  /// Core Data's bookkeeping in the file.
  let map: CoreDataTables
  /// The entities that the store holds, by their numbers in the file.
  let entitiesByNumber: [Int64: EntityDescription]
  let pool: DatabasePool
  let writer: WriterConnection
  /// What the file's triggers have derived.
  let derived: DerivedValues
  /// The files of large values; nil when there can't be any, or none may be written.
  private let external: ExternalFiles?
  private let options: CoreDataStoreOptions
  private let isReadOnly: Bool
  private let report: @Sendable (StoreFailure) -> Void
  /// Notices commits of others; set once, before the store is used.
  private let watcher = Mutex<RemoteChangeWatcher?>(nil)

  /// What a file says of itself.
  struct Opened {
    let identifier: String
    let map: CoreDataTables
  }

  /// Opens an existing file.
  /// - Throws: ``CoreDataStoreError``, ``ManagedObjectError/store(_:)`` when SQLite can't open it.
  package init(
    at url: URL, model: ManagedObjectModel, entities: [EntityDescription], options: CoreDataStoreOptions,
    isReadOnly: Bool, timeout: TimeInterval, report: @escaping @Sendable (StoreFailure) -> Void
  ) throws {
    let derived = DerivedValues()
    let configuration = Self.configuration(options, timeout: timeout, derived)
    // Read first: opening a file for writing turns its write-ahead log on, and it may not be a store at all.
    let file = try SQLiteStore.translating(url) {
      try ReadOnlyFile(url, configuration) { db in
        try Self.check(db, url, model, entities, isReadOnly: isReadOnly)
      }
    }
    var constancy: FileConstancy?
    if isReadOnly {
      (pool, constancy) = (file.pool, file.constancy)
    } else {
      pool = try SQLiteStore.translating(url) {
        try file.pool.close()
        let pool = try DatabasePool(path: url.path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
          try db.execute(sql: "PRAGMA synchronous = \(options.durability == .everySave ? "FULL" : "NORMAL")")
        }
        return pool
      }
    }
    self.options = options
    self.isReadOnly = isReadOnly
    self.report = report
    self.derived = derived
    map = file.checked.map
    tables = StoreTables(of: entities, schema: map.schema, identifier: file.checked.identifier, url: url)
    external =
      isReadOnly
      ? nil
      : ExternalFiles(
        tables.external, path: url.path, isDurable: options.durability == .everySave, failed: report)
    writer = WriterConnection(pool, checkpointer: nil, path: url.path, constancy: constancy, external: external)
    let held = Set(entities)
    entitiesByNumber = Dictionary(
      map.numbers.filter { held.contains($0.key) }.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    guard external != nil else { return }
    try tables.translating { try writer.withoutTransaction { db in try tables.external?.open(db) } }
  }

  static func configuration(
    _ options: CoreDataStoreOptions, timeout: TimeInterval, _ derived: DerivedValues
  ) -> Configuration {
    let log = SQLLog(options.sqlLog, SQLiteStoreSettings().logger, path: "")
    var configuration = Configuration.ofStores
    configuration.refuseReadingOnly()
    configuration.maximumReaderCount = options.readers
    configuration.busyMode = .timeout(timeout)
    configuration.label = "InPlaceStore"
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { db in
      PredicateFunctions.register(on: db)
      StoredForms.registerReading(on: db)
      derived.register(on: db)
      StoredForms.coreData.registerContent(on: db)
      db.endWhenInterrupted()
      log?.follow(db)
    }
    return configuration
  }

  /// Checks that a file is a store of the model, and finds the model's properties in it.
  private static func check(
    _ db: Database, _ url: URL, _ model: ManagedObjectModel, _ entities: [EntityDescription], isReadOnly: Bool
  ) throws -> Opened {
    let metadata = try metadata(db, url)
    let names = Set(try metadata.hashes().keys)
    let differences: [String]
    if let kept = try keptModel(db, url) {
      differences = withExtendedLifetime(kept) {
        CoreDataModelCheck.differences(of: entities, from: kept, in: names)
      }
    } else {
      differences = CoreDataModelCheck.differences(of: Set(entities.map(\.name)), in: names)
    }
    guard differences.isEmpty else { throw CoreDataStoreError.otherModel(path: url.path, differences: differences) }
    if !isReadOnly { try DerivedValues.checkFunctions(of: db, path: url.path) }
    return Opened(identifier: metadata.uuid, map: try CoreDataTables(db, model, entities, path: url.path))
  }

  /// - Throws: ``CoreDataStoreError/notACoreDataStore(path:reason:)``.
  private static func metadata(_ db: Database, _ url: URL) throws -> CoreDataMetadata {
    do {
      _ = try CoreDataSchema(CoreDataFile(db))
      return try CoreDataMetadata(CoreDataFile(db))
    } catch let error as CoreDataFileError {
      throw CoreDataStoreError.notACoreDataStore(path: url.path, reason: error.description)
    }
  }

  /// The model in a store's cache, freed after its last use; nil where it has none, as in stores of systems before 2016.
  private static func keptModel(_ db: Database, _ url: URL) throws -> ManagedObjectModel? {
    guard try db.tableExists("Z_MODELCACHE"),
      let cache = try Data.fetchOne(db, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE Z_CONTENT IS NOT NULL LIMIT 1")
    else { return nil }
    return try ManagedObjectModel(modelCache: cache, file: url.path, isKept: false)
  }

  /// The model that a file keeps of itself, freed after its last use.
  static func model(at url: URL) throws -> ManagedObjectModel {
    try SQLiteStore.translating(url) {
      let configuration = configuration(CoreDataStoreOptions(), timeout: SQLiteStore.lockTimeout, DerivedValues())
      let file = try ReadOnlyFile(url, configuration) { db in
        _ = try metadata(db, url)
        return try keptModel(db, url)
      }
      try file.pool.close()
      guard let model = file.checked else { throw CoreDataStoreError.noModel(path: url.path) }
      return model
    }
  }

  package func snapshot() throws -> any StoreReader { try SQLiteSnapshot(of: tables, pool) }

  package func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try tables.translating {
      try writer.write { db in
        var history: CoreDataHistoryWriter?
        return try write(changes, isChecked: true, in: db, history: &history)
      }
    }
  }

  /// Writes changes within a transaction, which the caller rolls back if it throws.
  /// - Parameters:
  ///   - isChecked: whether rows may have changed since they were read, and must be checked.
  ///   - history: records the transaction's changes; made by its first write.
  func write(
    _ changes: StoreChanges, isChecked: Bool, in db: Database, history: inout CoreDataHistoryWriter?
  ) throws -> StoreWriteResult {
    let write = CoreDataWrite(db, of: self)
    var result = try write.run(changes, isChecked: isChecked)
    guard let shape = map.history else { return result }
    let keeper =
      history
      ?? CoreDataHistoryWriter(
        db, shape, map, author: changes.transactionAuthor, contextName: changes.contextName)
    history = keeper
    try write.record(changes, result.ids, isChecked: isChecked, in: keeper)
    result.historyToken = keeper.transaction.map { PersistentHistoryToken([identifier: $0]) }
    return result
  }

  package func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try tables.translating {
      try writer.write { db in try body(InPlaceTransaction(of: self, on: db)) }
    }
  }

  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try tables.translating { try writer.inOneTransaction(body) }
  }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try tables.translating {
      try writer.write { db in
        var numbers = CoreDataNumbers(of: self)
        let ids = try entities.map { entity in
          ManagedObjectID(scope: try tables.layout(of: entity).scope, number: try numbers.next(entity, db))
        }
        try numbers.keep(db)
        return ids
      }
    }
  }

  package func synchronize() throws {
    if isReadOnly { return }
    try writer.refuseInTransaction("wait for the disk")
    // Moves the log's content to the file, which syncs both.
    try tables.translating { try writer.withoutTransaction { db in _ = try db.checkpoint(.passive) } }
  }

  package func close() throws {
    try writer.refuseInTransaction("close the store")
    watcher.withLock { watcher in
      watcher?.stop()
      watcher = nil
    }
    // The last connection moves the log's content to the file, so that the file alone can be handed on.
    try tables.translating {
      if let external { try writer.withoutTransaction { external.close($0) } }
      try pool.close()
    }
  }

  package func followRemoteChanges(_ handler: @escaping @Sendable (Int64?) -> Void) throws {
    guard options.remoteChangeNotifications else { return }
    let lastTransaction = map.history.map { history -> RemoteChangeWatcher.LastTransaction in
      { try history.lastTransaction($0) }
    }
    try tables.translating {
      let new = try RemoteChangeWatcher(
        writer, file: tables.url, lastTransaction: lastTransaction,
        handler: handler, report: report)
      watcher.withLock { $0 = new }
    }
  }
}

extension InPlaceStore: SQLiteStoreReader {
  package func read<T>(_ body: (Database) throws -> T) throws -> T {
    guard let external = tables.external else {
      return try writer.read { db in try db.interruptible { try body(db) } }
    }
    return try external.whileReading { try writer.read { db in try db.interruptible { try body(db) } } }
  }
}

/// A batch request's view of a Core Data store: the writing connection.
private final class InPlaceTransaction: SQLiteStoreReader, StoreTransaction, @unchecked Sendable {
  // Sendable: it is used only by the thread that runs the transaction, while that runs.
  private let store: InPlaceStore
  package var tables: StoreTables { store.tables }
  private let db: Database
  /// Records all writes of the batch as one transaction of the history; nil before the first.
  private var history: CoreDataHistoryWriter?

  init(of store: InPlaceStore, on db: Database) {
    self.store = store
    self.db = db
  }

  func read<T>(_ body: (Database) throws -> T) throws -> T { try body(db) }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    var result = StoreWriteResult(ids: [])
    try db.inSavepoint {
      result = try store.write(changes, isChecked: false, in: db, history: &history)
      return .commit
    }
    return result
  }
}

/// Numbers new rows within one transaction, by the counters in `Z_PRIMARYKEY` that Core Data uses too.
struct CoreDataNumbers {
  private let store: InPlaceStore
  private var last: [Int64: Int64] = [:]

  init(of store: InPlaceStore) { self.store = store }

  /// The next number of an entity's hierarchy.
  mutating func next(_ entity: EntityDescription, _ db: Database) throws -> Int64 {
    guard let counter = store.map.counters[entity] else { throw ManagedObjectError.noStore(entity: entity.name) }
    let table = store.tables.schema.table(of: entity)
    let known: Int64
    if let given = last[counter] {
      known = given
    } else {
      let count = try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?"), arguments: [counter])
      // Another program may have added rows.
      let present = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(Z_PK) FROM \(table.quotedName)"))
      known = max(count ?? 0, present ?? 0, store.writer.lastNumber(of: table))
    }
    let (number, overflows) = known.addingReportingOverflow(1)
    guard !overflows else {
      throw ManagedObjectError.store(
        StoreFailure(
          .outOfRange, path: store.tables.url.path,
          message: "the table \(table) has a row with the number \(Int64.max), the greatest that there is"))
    }
    last[counter] = number
    store.writer.note([table: number])
    return number
  }

  /// Stores the last numbers that were given.
  func keep(_ db: Database) throws {
    for (counter, number) in last {
      try db.cachedStatement(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = max(IFNULL(Z_MAX, 0), ?) WHERE Z_ENT = ?")
        .execute(arguments: [number, counter])
    }
  }
}
