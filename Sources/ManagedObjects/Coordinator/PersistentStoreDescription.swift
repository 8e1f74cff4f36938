import Foundation

/// What a store is to be: its kind, its place, and which entities it holds.
///
/// Source: Core Data's `NSPersistentStoreDescription`.
public struct PersistentStoreDescription: Sendable {
  /// What a store is opened with, beside its entities.
  public struct OpeningOptions: Sendable {
    package var migration: MigrationOptions
    /// Receives failures of the store's work in the background: see
    /// ``PersistentStoreDescription/backgroundFailureHandler``.
    public var backgroundFailureHandler: @Sendable (StoreFailure) -> Void
  }

  /// The configuration whose entities the store holds; nil for every entity except those of the configurations of stores
  /// that were added before. Several stores may have the same one.
  public var configuration: String?
  package var migration = MigrationOptions()
  /// Receives failures of work that no caller waits for: checkpoints beside the saves, and looking for changes by other
  /// processes. The store goes on working. Called on any thread, once for each row of failures of the same kind of work.
  /// By default it writes a line to standard error.
  public var backgroundFailureHandler: @Sendable (StoreFailure) -> Void = Self.reportToStandardError
  private let opening:
    @Sendable (ManagedObjectModel, [EntityDescription], OpeningOptions) throws -> any IncrementalStore

  /// A store of your own kind, which needs no options.
  /// - Parameter open: opens the store for some of a model's entities. Called when the description is added to a coordinator,
  ///   on the thread that adds it; what it throws is thrown there.
  public init(
    configuration: String? = nil,
    open: @escaping @Sendable (ManagedObjectModel, [EntityDescription]) throws -> any IncrementalStore
  ) {
    self.init(configuration: configuration) { model, entities, _ in try open(model, entities) }
  }

  /// A store of your own kind, which is opened with the description's options.
  /// - Parameter open: as in ``init(configuration:open:)``, with the options.
  public init(
    configuration: String? = nil,
    openWithOptions open:
      @escaping @Sendable (ManagedObjectModel, [EntityDescription], OpeningOptions) throws ->
      any IncrementalStore
  ) {
    self.configuration = configuration
    opening = open
  }

  /// Opens the store for some of a model's entities.
  package func open(_ model: ManagedObjectModel, _ entities: [EntityDescription]) throws -> any IncrementalStore {
    try opening(
      model, entities, OpeningOptions(migration: migration, backgroundFailureHandler: backgroundFailureHandler))
  }

  /// Writes a failure to standard error, as one line.
  package static let reportToStandardError: @Sendable (StoreFailure) -> Void = { failure in
    FileHandle.standardError.write(Data("\(failure)\n".utf8))
  }

  /// A store in memory, gone with its coordinator.
  public static func inMemory(configuration: String? = nil) -> PersistentStoreDescription {
    PersistentStoreDescription(configuration: configuration) { _, entities in InMemoryStore(entities: entities) }
  }
}
