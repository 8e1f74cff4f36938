import Foundation
import Importing
import ManagedObjects
import SQLiteStore

/// The data stores of the configuration, opened.
struct DataStores: Sendable {
  /// One store with what leads to it.
  struct Store: Sendable {
    let configuration: StoreConfiguration
    let coordinator: PersistentStoreCoordinator
    /// The entities that are the user's, without those that imports keep for themselves.
    let entities: [String]
  }

  private let stores: [Store]

  /// Opens every store, and creates the files that are missing. Blocks.
  /// - Throws: ``DaemonError/store(name:reason:)``.
  init(_ configurations: [StoreConfiguration]) throws {
    try self.init(modelsOf: configurations)
    for store in stores { try Self.open(store) }
  }

  /// Reads the models, and touches no store: what names in recipes can be looked up in. Blocks.
  /// - Throws: ``DaemonError/store(name:reason:)``.
  init(modelsOf configurations: [StoreConfiguration]) throws {
    stores = try configurations.map { configuration in
      do {
        let data = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: configuration.model))
        let coordinator = PersistentStoreCoordinator(model: try ImportModel.adding(to: data))
        return Store(configuration: configuration, coordinator: coordinator, entities: data.entities.map(\.name))
      } catch {
        throw DaemonError.store(name: configuration.name, reason: "\(error)")
      }
    }
  }

  private static func open(_ store: Store) throws {
    let configuration = store.configuration
    do {
      let file = URL(fileURLWithPath: configuration.path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      var description = PersistentStoreDescription.sqlite(at: file)
      // What somebody left out of the model isn't dropped from the store, unless the configuration says that it may be.
      switch configuration.migration.allowedLoss {
      case .nothing: description.refusesLossyMigration = true
      case .anything: description.refusesLossyMigration = false
      case .these(let names):
        description.refusesLossyMigration = true
        description.permittedMigrationLosses = names
      }
      try store.coordinator.addPersistentStore(description)
    } catch {
      throw DaemonError.store(name: configuration.name, reason: "\(error)")
    }
  }

  var all: [Store] { stores }
  var coordinators: [String: PersistentStoreCoordinator] {
    Dictionary(uniqueKeysWithValues: stores.map { ($0.configuration.name, $0.coordinator) })
  }
  var names: [String] { stores.map(\.configuration.name) }

  subscript(name: String) -> Store? { stores.first { $0.configuration.name == name } }

  /// The only store, when there is one.
  var only: Store? { stores.count == 1 ? stores.first : nil }
}
