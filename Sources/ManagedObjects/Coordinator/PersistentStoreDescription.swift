public import Foundation

/// What a store is to be: its type, its place, how it is opened, and which entities it holds.
///
/// Source: Core Data's `NSPersistentStoreDescription`. Here it is a value: change the one in
/// ``PersistentContainer/persistentStoreDescriptions`` itself, not a copy of it.
public struct PersistentStoreDescription: Sendable {
  /// What a store is opened with, beside its entities.
  public struct OpeningOptions: Sendable {
    /// The store's place.
    public let url: URL?
    /// Whether the store must not be written.
    public let isReadOnly: Bool
    /// How long the store waits for a lock of another connection or process, in seconds.
    public let timeout: TimeInterval
    package var migration: MigrationOptions
    /// The options of the store's type: see ``PersistentStoreDescription/storeOptions``.
    package let storeOptions: (any Sendable)?
    /// Receives failures of the store's work in the background: see
    /// ``PersistentStoreDescription/backgroundFailureHandler``.
    public var backgroundFailureHandler: @Sendable (StoreFailure) -> Void
  }

  /// Opens a store for some of a model's entities.
  public typealias Opening =
    @Sendable (ManagedObjectModel, [EntityDescription], OpeningOptions) throws -> any IncrementalStore

  /// The store's type. Setting another one makes the description one of that type, whatever it was made by.
  ///
  /// Source: `type` of Core Data's `NSPersistentStoreDescription`.
  public var type: PersistentStore.StoreType {
    didSet { if type != oldValue { opening = nil } }
  }
  /// The store's place: of an SQLite store its file. A store in memory has none.
  ///
  /// Source: `url` of Core Data's `NSPersistentStoreDescription`.
  public var url: URL?
  /// The configuration whose entities the store holds; nil for every entity except those of the configurations of stores
  /// that were added before. Several stores may have the same one.
  public var configuration: String?
  /// Whether the store is opened for reading only; false by default.
  ///
  /// A save, a batch request and anything else that would write to it is refused with
  /// ``PersistentStoreError/readOnly(store:operation:)``. New objects go to the first store that can be written. An SQLite file
  /// must exist and be of the model's version. It may be one that the process can't write, and others may write to it
  /// at the same time.
  ///
  /// Source: `isReadOnly` of Core Data's `NSPersistentStoreDescription`.
  public var isReadOnly = false
  /// How long the store waits for a lock of another connection or process before it fails as
  /// ``StoreFailure/Kind/busy``, in seconds; 30 by default.
  ///
  /// Source: `timeout` of Core Data's `NSPersistentStoreDescription`, whose default is 240.
  public var timeout: TimeInterval = 30
  /// Whether ``PersistentStoreCoordinator/addPersistentStore(with:completionHandler:)`` opens the store on a thread in the
  /// background; false by default. The completion handler is then called on that thread.
  ///
  /// Source: `shouldAddStoreAsynchronously` of Core Data's `NSPersistentStoreDescription`.
  public var shouldAddStoreAsynchronously = false
  package var migration = MigrationOptions()
  /// Options that only the store's type knows; that type's target declares them as a property.
  package var storeOptions: (any Sendable)?
  /// Receives failures of work that no caller waits for: checkpoints beside the saves, and looking for changes by other
  /// processes. And that a server can't be reached, while callers wait for it. The store goes on working. Called on any thread, once
  /// for each row of failures of the same kind of work.
  /// By default it writes a line to standard error.
  public var backgroundFailureHandler: @Sendable (StoreFailure) -> Void = Self.reportToStandardError
  /// Opens a store of the program's own kind; nil for one that is opened by its type.
  private var opening: Opening?

  /// A store in the SQLite file at `url`, which is created if it doesn't exist. The program must link the `SQLiteStore` library.
  ///
  /// Source: `init(url:)` of Core Data's `NSPersistentStoreDescription`.
  public init(url: URL, configuration: String? = nil) {
    type = .sqlite
    self.url = url
    self.configuration = configuration
  }

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
  /// - Parameters:
  ///   - type: the type that the description shows.
  ///   - open: as in ``init(configuration:open:)``, with the options.
  public init(
    type: PersistentStore.StoreType = .custom, url: URL? = nil, configuration: String? = nil,
    openWithOptions open: @escaping Opening
  ) {
    self.type = type
    self.url = url
    self.configuration = configuration
    opening = open
  }

  private init(type: PersistentStore.StoreType, configuration: String?) {
    self.type = type
    self.configuration = configuration
  }

  /// Opens the store for some of a model's entities.
  package func open(_ model: ManagedObjectModel, _ entities: [EntityDescription]) throws -> any IncrementalStore {
    let options = OpeningOptions(
      url: url, isReadOnly: isReadOnly, timeout: timeout, migration: migration, storeOptions: storeOptions,
      backgroundFailureHandler: backgroundFailureHandler)
    return try (opening ?? PersistentStoreCoordinator.opening(of: type))(model, entities, options)
  }

  /// Writes a failure to standard error, as one line.
  package static let reportToStandardError: @Sendable (StoreFailure) -> Void = { failure in
    FileHandle.standardError.write(Data("\(failure)\n".utf8))
  }

  /// A store in memory, gone with its coordinator.
  public static func inMemory(configuration: String? = nil) -> PersistentStoreDescription {
    PersistentStoreDescription(type: .inMemory, configuration: configuration)
  }
}
