package import Foundation
import Glibc
import Synchronization

/// A store in memory: Core Data's `NSInMemoryStoreType`. Safe from any thread. A write is atomic, and its cost is proportional
/// to its changes. A fetch reads a snapshot, so that reads and writes don't wait for each other; a write during a fetch copies
/// the table it changes.
package final class InMemoryStore: MetadataKeeping, NumberKeeping {
  package let identifier: String
  package var url: URL? { nil }
  private let scopes: [Int: IDScope]
  private let state: Mutex<State>
  /// The write lock, held by a batch request while it works on a copy, or for a transaction of several writes. Recursive, for
  /// the writes of the latter.
  private let writer = NSRecursiveLock()

  private struct Content {
    var tables: MemoryTables
    /// The last number given, of each entity hierarchy by the root's index.
    var lastNumber: [Int: Int64] = [:]
    /// The metadata that programs have set.
    var userInfo: [String: Value] = [:]
  }

  private struct State {
    /// The committed content.
    var content: Content
    /// The content as an open transaction of several writes has changed it so far, and that transaction's thread.
    var draft: Content?
    var owner: pthread_t?

    /// Whether the calling thread has a transaction of several writes open.
    var isInTransaction: Bool { owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    /// The content that the calling thread reads and writes.
    var current: Content {
      get { isInTransaction ? draft ?? content : content }
      _modify {
        if isInTransaction, draft != nil {
          // Moved out, so that a change doesn't copy it.
          var taken = draft ?? content
          draft = nil
          defer { draft = taken }
          yield &taken
        } else {
          yield &content
        }
      }
    }
  }

  /// An empty store of entities.
  package init(entities: [EntityDescription]) {
    let identifier = UUID().uuidString
    self.identifier = identifier
    state = Mutex(State(content: Content(tables: MemoryTables(entities))))
    scopes = Dictionary(
      uniqueKeysWithValues: entities.map { ($0.index, IDScope.of($0, in: identifier, isExact: true)) })
  }

  /// An independent copy.
  private init(copying store: InMemoryStore) {
    identifier = store.identifier
    scopes = store.scopes
    state = Mutex(State(content: store.withContent { $0 }))
  }

  /// Runs a batch request on a copy of the content, which readers see only when it is complete.
  package func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try writer.withLock {
      let copy = InMemoryStore(copying: self)
      let result = try body(copy)
      let written = copy.withContent { $0 }
      withContent {
        $0.tables = written.tables
        $0.lastNumber = written.lastNumber
      }
      return result
    }
  }

  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try writer.withLock {
      try state.withLock { state in
        if state.isInTransaction {
          throw StoreTransactionError.nested(path: StoreTransactionError.name(of: self))
        }
        state.draft = state.content
        state.owner = pthread_self()
      }
      var end = TransactionEnd.rollBack
      defer {
        state.withLock { state in
          if let draft = state.draft {
            if end == .commit {
              state.content = draft
            } else {
              // Numbers that were given out aren't reused.
              state.content.lastNumber = draft.lastNumber
            }
          }
          state.draft = nil
          state.owner = nil
        }
      }
      let (result, ending) = try body()
      end = ending
      return result
    }
  }

  /// Runs `body` with the content that the calling thread sees.
  private func withContent<T>(_ body: (inout Content) throws -> T) rethrows -> T {
    try state.withLock { try body(&$0.current) }
  }

  package func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try tables.rows(fetch) }
  package func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try tables.ids(fetch) }
  package func count(_ fetch: StoreFetch) throws -> Int { tables.count(fetch) }
  package func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try tables.dictionaries(query) }
  package func snapshot() throws -> any StoreReader { MemorySnapshot(tables) }

  package func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    withContent { content in ids.compactMap { content.tables.row($0) } }
  }

  package func relatedIDs(
    of id: ManagedObjectID, _ relationship: RelationshipDescription
  ) throws -> Value {
    withContent { $0.tables.related(to: id, by: relationship) }
  }

  package func relatedRows(
    of ids: [ManagedObjectID], _ relationship: RelationshipDescription
  ) throws -> [RelatedRow] {
    withContent { $0.tables.relatedRows(of: ids, relationship) }
  }

  private var tables: MemoryTables { withContent { $0.tables } }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    writer.lock()
    defer { writer.unlock() }
    return try withContent { content in
      try entities.map { try newID(of: $0, values: nil, &content.lastNumber) }
    }
  }

  package func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    writer.lock()
    defer { writer.unlock() }
    return try withContent { content in
      let ids = try changes.inserted.map { row in
        row.id.isTemporaryID ? try newID(of: row.id.entity, values: row.values, &content.lastNumber) : row.id
      }
      let refreshed = try content.tables.transaction { tables in
        guard tables.hasDerivations else {
          try MemoryWrite(changes, ids).run(on: &tables)
          return [StoreWriteResult.Refresh]()
        }
        return try derive(changes, ids, in: &tables)
      }
      return StoreWriteResult(ids: ids, refreshed: refreshed)
    }
  }

  /// Runs a write and updates derived attributes.
  private func derive(
    _ changes: StoreChanges, _ ids: [ManagedObjectID], in tables: inout MemoryTables
  ) throws -> [StoreWriteResult.Refresh] {
    var changes = changes
    var derivations = DerivationWrite()
    try derivations.prepare(&changes, tables)
    let write = MemoryWrite(changes, ids)
    try write.run(on: &tables)
    return try derivations.finish(changes, ids, number: { write.permanentID($0).number }, to: &tables)
  }

  package func metadata() throws -> PersistentStoreMetadata {
    let hashes = scopes.values.map { ($0.entity.name, $0.entity.versionHash) }
    return PersistentStoreMetadata(
      storeType: "InMemory", storeIdentifier: identifier,
      modelVersionHashes: Dictionary(hashes, uniquingKeysWith: { first, _ in first }),
      userInfo: withContent { $0.userInfo })
  }

  package func setUserInfo(_ userInfo: [String: Value]) throws { withContent { $0.userInfo = userInfo } }

  package func highestNumber() throws -> Int64 {
    try withContent { content in
      let rows = try scopes.values.map { scope in
        try content.tables.ids(StoreFetch(entity: scope.entity, includesSubentities: false)).map(\.number).max() ?? 0
      }
      return max(rows.max() ?? 0, content.lastNumber.values.max() ?? 0)
    }
  }

  package func raiseNumbers(above number: Int64) throws {
    withContent { content in
      for scope in scopes.values {
        let root = scope.entity.rootEntity.index
        content.lastNumber[root] = max(content.lastNumber[root] ?? 0, number)
      }
    }
  }

  private func newID(
    of entity: EntityDescription, values: ContiguousArray<Value>?, _ lastNumber: inout [Int: Int64]
  ) throws -> ManagedObjectID {
    guard let scope = scopes[entity.index] else { throw ManagedObjectError.noStore(entity: entity.name) }
    if let key = entity.primaryKey, let values, case .int(let number) = values[key.slot] {
      return ManagedObjectID(scope: scope, number: number)
    }
    lastNumber[entity.rootEntity.index, default: 0] += 1
    return ManagedObjectID(scope: scope, number: lastNumber[entity.rootEntity.index] ?? 0)
  }
}

/// A batch request works on a copy of the store.
extension InMemoryStore: StoreTransaction {}

/// One state of a store in memory. It costs nothing until the store is written to, which then copies the tables it changes.
private final class MemorySnapshot: StoreReader {
  private let tables: MemoryTables

  init(_ tables: MemoryTables) { self.tables = tables }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try tables.rows(fetch) }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try tables.ids(fetch) }
  func count(_ fetch: StoreFetch) throws -> Int { tables.count(fetch) }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try tables.dictionaries(query) }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { ids.compactMap { tables.row($0) } }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    tables.related(to: id, by: relationship)
  }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    tables.relatedRows(of: ids, relationship)
  }
}
