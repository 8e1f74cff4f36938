/// What a store is to be: its kind, its place, and which entities it holds.
///
/// Source: Core Data's `NSPersistentStoreDescription`.
public struct PersistentStoreDescription: Sendable {
  /// The configuration whose entities the store holds; nil for every entity, but those of the configurations of stores
  /// that were added before. Several stores may have the same one.
  public var configuration: String?
  package var migration = MigrationOptions()
  private let opening:
    @Sendable (ManagedObjectModel, [EntityDescription], MigrationOptions) throws -> any IncrementalStore

  /// A store that needs no migration, or that wraps one.
  package init(
    configuration: String? = nil,
    open: @escaping @Sendable (ManagedObjectModel, [EntityDescription]) throws -> any IncrementalStore
  ) {
    self.init(configuration: configuration) { model, entities, _ in try open(model, entities) }
  }

  /// A store that migrates as the options say.
  package init(
    configuration: String? = nil,
    migrating open:
      @escaping @Sendable (ManagedObjectModel, [EntityDescription], MigrationOptions) throws ->
      any IncrementalStore
  ) {
    self.configuration = configuration
    opening = open
  }

  /// Opens the store for some of a model's entities.
  package func open(_ model: ManagedObjectModel, _ entities: [EntityDescription]) throws -> any IncrementalStore {
    try opening(model, entities, migration)
  }

  /// A store in memory, gone with its coordinator.
  public static func inMemory(configuration: String? = nil) -> PersistentStoreDescription {
    PersistentStoreDescription(configuration: configuration) { _, entities in InMemoryStore(entities: entities) }
  }
}
