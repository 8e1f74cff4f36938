import Foundation
import ManagedObjects
import Synchronization

/// What a data store does at the wrong moment: it refuses a write, or another writer is faster.
final class DataStoreFaults: Sendable {
  /// When the write that fails does so.
  enum Moment: Sendable, CaseIterable {
    /// Nothing is written: a full disk, or a kill before the commit.
    case before
    /// Everything is written, and nothing reports it: a kill just after.
    case after
  }

  struct Injected: Error {}

  private struct State {
    var failing: Int?
    var moment = Moment.before
    var writes = 0
    var afterSnapshot: (@Sendable () throws -> Void)?
    var beforeWrite: (@Sendable () throws -> Void)?
  }
  private let state = Mutex(State())

  /// Writes asked for since the faults were planned.
  var writes: Int { state.withLock { $0.writes } }

  func fail(write number: Int, _ moment: Moment) { state.withLock { $0 = State(failing: number, moment: moment) } }
  func heal() { state.withLock { $0 = State() } }

  /// Has `body` done once, just after the next snapshot of the store was taken.
  func afterSnapshot(_ body: @escaping @Sendable () throws -> Void) { state.withLock { $0.afterSnapshot = body } }

  /// Has `body` done once, just before the next write.
  func beforeWrite(_ body: @escaping @Sendable () throws -> Void) { state.withLock { $0.beforeWrite = body } }

  /// Has `body` done once, just before the write of that number from now on.
  func before(write number: Int, _ body: @escaping @Sendable () throws -> Void) {
    beforeWrite { [self] in
      if number == 1 { try body() } else { before(write: number - 1, body) }
    }
  }

  fileprivate func snapshotTaken() throws {
    let body = state.withLock { state in
      defer { state.afterSnapshot = nil }
      return state.afterSnapshot
    }
    try body?()
  }

  fileprivate func run<T>(_ write: () throws -> T) throws -> T {
    let intrusion = state.withLock { state in
      defer { state.beforeWrite = nil }
      return state.beforeWrite
    }
    try intrusion?()
    let moment = state.withLock { state -> Moment? in
      state.writes += 1
      return state.writes == state.failing ? state.moment : nil
    }
    if moment == .before { throw Injected() }
    let result = try write()
    if moment == .after { throw Injected() }
    return result
  }
}

/// A store with faults.
final class FaultyDataStore: IncrementalStore {
  private let store: any IncrementalStore
  private let faults: DataStoreFaults

  init(_ store: any IncrementalStore, faults: DataStoreFaults) {
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
  func snapshot() throws -> any StoreReader {
    let snapshot = try store.snapshot()
    try faults.snapshotTaken()
    return snapshot
  }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { try store.rows(with: ids) }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try store.relatedIDs(of: id, relationship)
  }
  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try faults.run { try store.transaction(body) }
  }
  func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T { try store.inOneTransaction(body) }
  func write(_ changes: StoreChanges) throws -> StoreWriteResult { try faults.run { try store.write(changes) } }
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try store.permanentIDs(for: entities)
  }
  func synchronize() throws { try store.synchronize() }
  func close() throws { try store.close() }
}
