import Foundation
import ManagedObjects
import Synchronization

/// A store that refuses to write while a test says so, as one on a full disk does.
final class FailingStore: IncrementalStore {
  private let store: any IncrementalStore
  private let faults: Faults

  final class Faults: Sendable {
    private let state = Mutex((isFailing: false, refused: 0, writesLeft: Int?.none))
    var isFailing: Bool {
      get { state.withLock { $0.isFailing } }
      set { state.withLock { $0.isFailing = newValue } }
    }
    /// The number of writes after which all fail, as after a kill; nil for no limit.
    var writesLeft: Int? {
      get { state.withLock { $0.writesLeft } }
      set { state.withLock { $0.writesLeft = newValue } }
    }
    var refused: Int { state.withLock { $0.refused } }
    func check() throws {
      let fails = state.withLock { state in
        let fails = state.isFailing || state.writesLeft == 0
        if fails { state.refused += 1 } else { state.writesLeft? -= 1 }
        return fails
      }
      if fails {
        throw ManagedObjectError.store(StoreFailure(.full, path: "queue", message: "database or disk is full"))
      }
    }
  }

  init(_ store: any IncrementalStore, faults: Faults) {
    self.store = store
    self.faults = faults
  }

  var identifier: String { store.identifier }
  var url: URL? { store.url }
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try store.rows(fetch) }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try store.ids(fetch) }
  func count(_ fetch: StoreFetch) throws -> Int { try store.count(fetch) }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try store.dictionaries(query) }
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    try store.relatedRows(of: ids, relationship)
  }
  func snapshot() throws -> any StoreReader { try store.snapshot() }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { try store.rows(with: ids) }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try store.relatedIDs(of: id, relationship)
  }
  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try faults.check()
    return try store.transaction(body)
  }
  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try faults.check()
    return try store.write(changes)
  }
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try store.permanentIDs(for: entities)
  }
  func synchronize() throws { try store.synchronize() }
}

extension PersistentStoreDescription {
  /// The same store, with faults.
  func failing(_ faults: FailingStore.Faults) -> PersistentStoreDescription {
    PersistentStoreDescription { model, entities in
      FailingStore(try self.open(model, entities), faults: faults)
    }
  }
}
