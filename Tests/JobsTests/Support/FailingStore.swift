import Foundation
import ManagedObjects
import Synchronization

/// A store that refuses to write while a test says so, as one on a full disk does; or to read after a write, as one for which
/// no descriptor is left.
final class FailingStore: IncrementalStore {
  private let store: any IncrementalStore
  private let faults: Faults

  final class Faults: Sendable {
    private let state = Mutex((isFailing: false, refused: 0, writesLeft: Int?.none))
    private let reading = Mutex((failsAfterWrite: false, isFailing: false))
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
    /// Whether fetches fail from the end of the next write on.
    var failsReadingAfterWrite: Bool {
      get { reading.withLock { $0.failsAfterWrite } }
      set { reading.withLock { $0 = (newValue, false) } }
    }
    func checkReading() throws {
      guard reading.withLock({ $0.isFailing }) else { return }
      throw ManagedObjectError.store(StoreFailure(.cannotOpen, path: "queue", message: "unable to open database file"))
    }
    func wrote() { reading.withLock { $0.isFailing = $0.failsAfterWrite } }
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
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    try faults.checkReading()
    return try store.rows(fetch)
  }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    try faults.checkReading()
    return try store.ids(fetch)
  }
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
    let result = try store.transaction(body)
    faults.wrote()
    return result
  }
  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try faults.check()
    let result = try store.write(changes)
    faults.wrote()
    return result
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
