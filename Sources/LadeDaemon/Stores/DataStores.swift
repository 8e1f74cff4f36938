// A migration changes the file in one transaction, while readers continue with the state before it. Then requests get the new
// model with its coordinator, and the old coordinator closes the file after the reads that are under way; later reads
// through it fail.

import CLinux
import Foundation
import Importing
import Jobs
import Logging
import ManagedObjects
import PostgresStore
import SQLiteStore
import Synchronization

/// The open data stores of the configuration. A migration replaces a ``Store``: code that keeps one for longer than a request
/// must expect its coordinator to have lost the store.
final class DataStores: Sendable {
  /// One store with what leads to it.
  struct Store: Sendable {
    let configuration: StoreConfiguration
    let coordinator: PersistentStoreCoordinator
    /// Merges everything that is saved through the coordinator.
    let main: StoreMainContext
    /// The entities that are the user's, without those that imports keep for themselves.
    let entities: [String]

    /// The space that it takes; nil while a server doesn't tell. Blocks.
    var sizes: StoreSizes? {
      if let path = configuration.place.path { return StoreSizes(ofSQLiteFile: path) }
      do {
        return try coordinator.persistentStores.first.map { try coordinator.maintenance(of: $0).sizes() }
      } catch {
        return nil
      }
    }
  }

  private let state: Mutex<[Store]>
  /// Stores that were replaced, and whose replacement hasn't been taken note of.
  private let replaced = Mutex<Set<String>>([])

  /// Opens every store, and creates the files that are missing. Blocks.
  /// - Throws: ``DaemonError/store(name:reason:)``.
  convenience init(_ configurations: [StoreConfiguration], _ logger: Logger) throws {
    try self.init(modelsOf: configurations)
    for store in all {
      do {
        try Self.open(store, logger)
      } catch {
        guard let path = store.configuration.place.path else {
          throw DaemonError.store(
            name: store.configuration.name, reason: "\(error)", cause: PathDiagnosis.cause(of: error))
        }
        let trouble = PathDiagnosis(path, error)
        throw DaemonError.store(name: store.configuration.name, reason: trouble.reason, cause: trouble.cause)
      }
    }
  }

  /// Reads the models, and touches no store: what names in recipes can be looked up in. Blocks.
  /// - Throws: ``DaemonError/store(name:reason:)``.
  init(modelsOf configurations: [StoreConfiguration]) throws {
    state = Mutex(
      try configurations.map { configuration in
        do {
          return try Self.read(configuration)
        } catch {
          throw DaemonError.store(name: configuration.name, reason: "\(error)")
        }
      })
  }

  /// Those of them whose models can be read, and what is wrong with the others. Blocks.
  static func readable(_ configurations: [StoreConfiguration]) -> (stores: DataStores, errors: [DaemonError]) {
    var stores: [Store] = []
    var errors: [DaemonError] = []
    for configuration in configurations {
      do {
        stores.append(try read(configuration))
      } catch ModelError.malformed(let mistakes) {
        errors += mistakes.map { DaemonError.store(name: configuration.name, reason: "\($0)") }
      } catch {
        errors.append(.store(name: configuration.name, reason: "\(error)"))
      }
    }
    return (DataStores(stores), errors)
  }

  private init(_ stores: [Store]) { state = Mutex(stores) }

  /// A store with the model that the configuration's path holds now, not opened.
  /// - Parameter former: the main context that the store had, whose measurements go on.
  /// - Parameter model: the path of its model; nil: the configuration's.
  static func read(
    _ configuration: StoreConfiguration, model: String? = nil, continuing former: StoreMainContext? = nil
  ) throws -> Store {
    let data = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: model ?? configuration.model))
    let coordinator = PersistentStoreCoordinator(model: try ImportModel.adding(to: data))
    return Store(
      configuration: configuration, coordinator: coordinator,
      main: StoreMainContext(of: coordinator, name: configuration.name, continuing: former),
      entities: data.entities.map(\.name))
  }

  /// Opens a store's file, and migrates it if need be, which is said in the log.
  /// - Parameter losses: what it may lose beside what the configuration permits.
  static func open(
    _ store: Store, _ logger: Logger, losses: Set<String> = [], shouldStop: (@Sendable () -> Bool)? = nil
  ) throws {
    let configuration = store.configuration
    var description = try description(of: configuration)
    description.migration = configuration.migration.options
    if !losses.isEmpty { description.migration.permittedMigrationLosses.formUnion(losses) }
    description.migration.shouldStop = shouldStop
    let log = MigrationLog(store: configuration.name, logger)
    description.migration.willMigrate = { log.begin($0) }
    description.migration.migrationWarningHandler = { log.warn($0) }
    description.logBackgroundFailures(of: "store \(configuration.name)", to: logger, ["store": "\(configuration.name)"])
    try store.coordinator.addPersistentStore(description)
    log.end()
  }

  /// What a store is opened by.
  private static func description(of configuration: StoreConfiguration) throws -> PersistentStoreDescription {
    switch configuration.place {
    case .file(let path):
      let file = URL(fileURLWithPath: path)
      let answer = lade_make_folders(file.deletingLastPathComponent().path, 0o755)
      guard answer == 0 else { throw SystemFailure(code: -answer) }
      return .sqlite(at: file)
    case .postgres(let place):
      var options = PostgresStoreOptions()
      options.password = try place.password()
      options.direct = place.direct
      return .postgres(place.connection, schema: place.schema, options: options)
    }
  }

  /// Puts a store that is open in the place of the one of the same name.
  func replace(with store: Store) {
    state.withLock { stores in
      guard let place = stores.firstIndex(where: { $0.configuration.name == store.configuration.name }) else { return }
      stores[place] = store
    }
    replaced.withLock { _ = $0.insert(store.configuration.name) }
  }

  /// Whether a store was replaced since this was asked last.
  func takeReplacement(of store: String) -> Bool { replaced.withLock { $0.remove(store) != nil } }

  var all: [Store] { state.withLock { $0 } }
  var coordinators: [String: PersistentStoreCoordinator] {
    Dictionary(uniqueKeysWithValues: all.map { ($0.configuration.name, $0.coordinator) })
  }
  var names: [String] { all.map(\.configuration.name) }

  subscript(name: String) -> Store? { all.first { $0.configuration.name == name } }

  /// The only store, when there is one.
  var only: Store? { all.count == 1 ? all.first : nil }
}

extension DataStores {
  /// The open stores whose configured paths hold another model now than the one that they were opened with. Blocks.
  func withOtherModels() -> [String] {
    all.filter { store in
      do {
        let now = try ImportModel.adding(
          to: ManagedObjectModel(contentsOf: URL(fileURLWithPath: store.configuration.model)))
        return try ModelDefinition(now).text() != ModelDefinition(store.coordinator.model).text()
      } catch {
        // A model that can't be read is a mistake of the configuration, and reported as that.
        return false
      }
    }.map(\.configuration.name)
  }

  /// Migrates a store to the model that its configuration's path holds now. Nothing else may write to it.
  /// - Throws: ``MigrationError``, `ModelError`, ``MaintenanceStopped``, or the store's error: the store is as it was then.
  func migrate(_ name: String, _ watch: MaintenanceWatch, _ logger: Logger) throws -> MigrationReport {
    try migrate(name, to: nil, losing: [], watch, logger)
  }

  /// - Parameters:
  ///   - model: the path of another model; nil for the configuration's.
  ///   - losses: what may be lost beside what the configuration permits.
  func migrate(
    _ name: String, to model: String?, losing losses: Set<String>, _ watch: MaintenanceWatch, _ logger: Logger
  ) throws -> MigrationReport {
    guard let old = self[name] else { throw DaemonError.store(name: name, reason: "it isn't in the configuration") }
    let new = try Self.read(old.configuration, model: model, continuing: old.main)
    let (before, after) = (old.coordinator.model, new.coordinator.model)
    if try ModelDefinition(before).text() == ModelDefinition(after).text() { return MigrationReport(differences: []) }
    let differences = VersionDifference.between(
      before.entityVersionHashesByName, after.entityVersionHashesByName, from: before, to: after)
    watch.report(MaintenanceProgress(phase: "migrating"))
    try Self.open(new, logger, losses: losses, shouldStop: watch.shouldStop)
    replace(with: new)
    var report = MigrationReport(differences: differences)
    for store in old.coordinator.persistentStores {
      do {
        try old.coordinator.remove(store)
      } catch {
        report.remarks.append("a reader still uses the former model: \(error)")
      }
    }
    return report
  }
}

/// Logs the migration of a store. For one opening of a store.
final class MigrationLog: Sendable {
  private let store: String
  private let logger: Logger
  private let begun = Mutex<ContinuousClock.Instant?>(nil)

  init(store: String, _ logger: Logger) {
    self.store = store
    self.logger = logger
  }

  func begin(_ differences: [VersionDifference]) {
    begun.withLock { $0 = .now }
    let what = differences.map { "\($0)" }.joined(separator: "; ")
    logger.notice("store \(store): its model has changed, and it is migrated: \(what)", metadata: ["store": "\(store)"])
  }

  func warn(_ message: String) { logger.warning("store \(store): \(message)", metadata: ["store": "\(store)"]) }

  /// The store is open.
  func end() {
    guard let begun = begun.withLock({ $0 }) else { return }
    let time = begun.duration(to: .now).formatted(.units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow))
    logger.notice(
      "store \(store): migrated in \(time)", metadata: JournalMessage.storeMigrated.metadata(["store": "\(store)"]))
  }
}

extension PersistentStoreDescription {
  /// Logs failures of the store's work in the background as warnings: the store goes on working.
  mutating func logBackgroundFailures(of store: String, to logger: Logger, _ metadata: Logger.Metadata = [:]) {
    backgroundFailureHandler = { failure in
      let fields = metadata.merging(["code": "\(failure.kind.rawValue)", "error": "\(failure)"]) { $1 }
      logger.warning("\(store): \(failure)", metadata: fields)
    }
  }
}
