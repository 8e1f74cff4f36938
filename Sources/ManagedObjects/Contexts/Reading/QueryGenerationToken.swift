import Synchronization

/// A state of a coordinator's stores that contexts can be pinned to. All that they read is then of one moment, whatever others
/// save.
///
/// It comes from a context's ``ManagedObjectContext/queryGenerationToken``; ``current`` stands for the stores as they are.
/// A pinned context retains old content: an SQLite store's write-ahead log can't be checkpointed past it, and grows until no
/// context is pinned.
///
/// Source: Core Data's `NSQueryGenerationToken`.
public final class QueryGenerationToken: Sendable {
  /// The content of the stores when a context pinned to it first reads.
  public static let current = QueryGenerationToken(nil)

  /// The coordinator of the stores; nil in ``current``.
  let coordinator: PersistentStoreCoordinator?
  /// The stores as they were, by their identifiers; nil until something is read.
  private let snapshots = Mutex<[String: any StoreReader]?>(nil)

  private let save = Atomic(Int64.max)

  init(_ coordinator: PersistentStoreCoordinator?) { self.coordinator = coordinator }

  /// The number of the latest save that it is sure to contain; the greatest number before something is read.
  var latestSave: Int64 { save.load(ordering: .relaxed) }

  /// The snapshot of a store. The first call takes snapshots of all stores; a store that is added later has none.
  func snapshot(of store: PersistentStore, in coordinator: PersistentStoreCoordinator) throws -> (any StoreReader)? {
    try snapshots.withLock { snapshots in
      if let taken = snapshots { return taken[store.identifier] }
      save.store(coordinator.latestSave, ordering: .relaxed)
      var all: [String: any StoreReader] = [:]
      for store in coordinator.persistentStores { all[store.identifier] = try store.content.snapshot() }
      snapshots = all
      return all[store.identifier]
    }
  }
}

/// Why a context can't be pinned.
public enum QueryGenerationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The context has a parent, and reads what that reads.
  case childContext
  /// The token is of another coordinator.
  case otherCoordinator

  /// The reason, and what to do.
  public var description: String {
    switch self {
    case .childContext: return "a child context sees what its parent sees: pin the context at the top"
    case .otherCoordinator: return "the query generation is of another coordinator's stores"
    }
  }
}

/// Reads a state of the stores, and writes into the stores as they are.
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
    confinement.check()
    return rowSource.generation
  }

  /// Pins the context to a state of the stores: to their content when it first reads (``QueryGenerationToken/current``), or to
  /// the state that another context is pinned to (its token). nil unpins it.
  ///
  /// Fetches, counts, faults and relationships then read that state. A save compares with the stores as they are. The
  /// context moves to the current state when it saves, merges another's save, or is reset; the values of its objects stay
  /// until they are refreshed. Until then it doesn't see stores that are added later.
  /// Source: `setQueryGenerationFrom(_:)` of Core Data.
  /// - Throws: ``QueryGenerationError``.
  public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws {
    confinement.check()
    guard parent == nil else { throw QueryGenerationError.childContext }
    guard let token else {
      return rowSource.pin(to: nil)
    }
    guard token.coordinator == nil || token.coordinator === persistentStoreCoordinator else {
      throw QueryGenerationError.otherCoordinator
    }
    rowSource.pin(to: token.coordinator == nil ? QueryGenerationToken(persistentStoreCoordinator) : token)
  }
}
