package import Foundation

/// A store: holds rows of some of the model's entities. Safe from any thread.
package protocol PersistentStore: StoreReader {
  /// A UUID that stays with the store's content.
  var identifier: String { get }
  /// Where it is, nil for a store in memory.
  var url: URL? { get }
  /// The store as it is now, to be read however it changes afterwards.
  func snapshot() throws -> any StoreReader
  /// Writes changes in one transaction.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult
  /// Runs `body`, and keeps what it writes if it doesn't throw; nobody else writes meanwhile. What batch requests run in.
  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T
  /// IDs for new objects, never given again.
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID]
  /// Makes everything written so far survive a loss of power.
  func synchronize() throws
  /// Lets go of files and connections. Every later use fails.
  func close() throws
}

extension PersistentStore {
  /// A store without files has nothing to let go of.
  package func close() throws {}
}

/// What a store is to be: its kind, its place, and which entities it holds.
///
/// Source: Core Data's `NSPersistentStoreDescription`.
public struct PersistentStoreDescription: Sendable {
  /// The configuration whose entities the store holds; nil for all that no other store holds.
  public var configuration: String?
  package var migration = MigrationOptions()
  private let opening:
    @Sendable (ManagedObjectModel, [EntityDescription], MigrationOptions) throws -> any PersistentStore

  /// A store that needs no migration, or that wraps one.
  package init(
    configuration: String? = nil,
    open: @escaping @Sendable (ManagedObjectModel, [EntityDescription]) throws -> any PersistentStore
  ) {
    self.init(configuration: configuration) { model, entities, _ in try open(model, entities) }
  }

  /// A store that migrates as the options say.
  package init(
    configuration: String? = nil,
    migrating open:
      @escaping @Sendable (ManagedObjectModel, [EntityDescription], MigrationOptions) throws ->
      any PersistentStore
  ) {
    self.configuration = configuration
    opening = open
  }

  /// Opens the store for some of a model's entities.
  package func open(_ model: ManagedObjectModel, _ entities: [EntityDescription]) throws -> any PersistentStore {
    try opening(model, entities, migration)
  }

  /// A store in memory, gone with its coordinator.
  public static func inMemory(configuration: String? = nil) -> PersistentStoreDescription {
    PersistentStoreDescription(configuration: configuration) { _, entities in InMemoryStore(entities: entities) }
  }
}
