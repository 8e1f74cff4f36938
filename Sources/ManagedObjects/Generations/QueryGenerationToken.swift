import Synchronization

/// A state of a coordinator's stores that contexts can be pinned to, so that everything they read is of one moment,
/// whatever others save meanwhile.
///
/// It comes from a context's ``ManagedObjectContext/queryGenerationToken``; ``current`` stands for the stores as they are.
/// A context that is pinned holds on to old content: of an SQLite store the write-ahead log can't be taken back into the
/// file and grows until nobody is pinned to its beginning.
///
/// Source: Core Data's `NSQueryGenerationToken`.
public final class QueryGenerationToken: Sendable {
  /// What the stores hold when a context that is pinned to it first reads.
  public static let current = QueryGenerationToken(nil)

  /// Whose stores it is about; nil in ``current``.
  let coordinator: PersistentStoreCoordinator?
  /// The stores as they were, by their identifiers; nil until something is read.
  private let snapshots = Mutex<[String: any StoreReader]?>(nil)

  init(_ coordinator: PersistentStoreCoordinator?) { self.coordinator = coordinator }

  /// The snapshot of a store. The first call takes those of all stores; one that is added later has none.
  func snapshot(of store: PersistentStore, in coordinator: PersistentStoreCoordinator) throws -> (any StoreReader)? {
    try snapshots.withLock { snapshots in
      if let taken = snapshots { return taken[store.identifier] }
      var all: [String: any StoreReader] = [:]
      for store in coordinator.persistentStores { all[store.identifier] = try store.content.snapshot() }
      snapshots = all
      return all[store.identifier]
    }
  }
}

/// Why a context can't be pinned.
public enum QueryGenerationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The context has a parent, and sees what that sees.
  case childContext
  /// The token is of another coordinator.
  case otherCoordinator

  /// What can't be, and what to do.
  public var description: String {
    switch self {
    case .childContext: return "a child context sees what its parent sees: pin the context at the top"
    case .otherCoordinator: return "the query generation is of another coordinator's stores"
    }
  }
}

/// Reads of a moment, and writes into the stores as they are.
struct GenerationSource: RoutingSource {
  let token: QueryGenerationToken
  let coordinator: PersistentStoreCoordinator

  var map: StoreMap { coordinator.map }

  func reader(of store: PersistentStore) throws -> (any StoreReader)? {
    try token.snapshot(of: store, in: coordinator)
  }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult { try coordinator.write(changes) }

  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID] {
    try coordinator.permanentIDs(for: entities, in: stores)
  }
}

extension ManagedObjectContext {
  /// The state of the stores that the context is pinned to; nil while it reads whatever they hold, and in a child.
  ///
  /// Source: `queryGenerationToken` of Core Data.
  public var queryGenerationToken: QueryGenerationToken? {
    home.check()
    return generation
  }

  /// Pins the context to a state of the stores: to what they hold when it first reads (``QueryGenerationToken/current``),
  /// to what another context is pinned to (its token), or to nothing any more (nil).
  ///
  /// Fetches, counts, faults and relationships then read that state. A save compares with the stores as they are. The
  /// context goes on to the current state when it saves, merges another's save, or is reset; values that its objects have
  /// stay until they are refreshed. Stores that are added later aren't seen until then.
  /// Source: `setQueryGenerationFrom(_:)` of Core Data.
  /// - Throws: ``QueryGenerationError``.
  public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws {
    home.check()
    guard parent == nil else { throw QueryGenerationError.childContext }
    guard let token else {
      generation = nil
      source = persistentStoreCoordinator
      return
    }
    guard token.coordinator == nil || token.coordinator === persistentStoreCoordinator else {
      throw QueryGenerationError.otherCoordinator
    }
    pin(to: token.coordinator == nil ? QueryGenerationToken(persistentStoreCoordinator) : token)
  }

  /// Goes on to the current state of the stores, if the context is pinned at all.
  func advanceGeneration() {
    if generation != nil { pin(to: QueryGenerationToken(persistentStoreCoordinator)) }
  }

  /// Where the latest rows are, whatever the context is pinned to: what a save has to reckon with.
  var latestSource: any ObjectSource { generation == nil ? source : persistentStoreCoordinator }

  private func pin(to token: QueryGenerationToken) {
    generation = token
    source = GenerationSource(token: token, coordinator: persistentStoreCoordinator)
  }
}
