package import Foundation
package import ManagedObjects
import Synchronization
package import TestSupport

/// Makes a store fail for as long as it is broken.
package final class Breaker: Sendable {
  private let broken = Atomic(false)
  private let hook = Mutex<(@Sendable () -> Void)?>(nil)
  private let fetchHook = Mutex<(@Sendable () -> Void)?>(nil)
  package init() {}

  /// The error that a broken store throws.
  package static let error = ManagedObjectError.store(StoreFailure(.io, path: "test", message: "disk I/O error"))

  /// What a write waits for.
  package var beforeWrite: (@Sendable () -> Void)? {
    get { hook.withLock { $0 } }
    set { hook.withLock { $0 = newValue } }
  }

  /// Called by a fetch that has read its rows, before it returns them.
  package var afterFetch: (@Sendable () -> Void)? {
    get { fetchHook.withLock { $0 } }
    set { fetchHook.withLock { $0 = newValue } }
  }

  package var isBroken: Bool {
    get { broken.load(ordering: .relaxed) }
    set { broken.store(newValue, ordering: .relaxed) }
  }

  package func check() throws {
    if isBroken { throw Self.error }
  }
}

/// Forwards everything to a store, records its reads, fails on request, and keeps the store's directory for
/// as long as the store is used.
package final class WatchedStore: IncrementalStore {
  private let store: any IncrementalStore
  private let reads: Recorder<String>
  private let breaker: Breaker
  private let directory: ScratchDirectory?

  package init(
    _ store: any IncrementalStore, noting reads: Recorder<String>, breaker: Breaker, in directory: ScratchDirectory?
  ) {
    self.store = store
    self.reads = reads
    self.breaker = breaker
    self.directory = directory
  }

  private func noteRead(_ what: String) throws {
    reads.note(what)
    try breaker.check()
  }

  package var identifier: String { store.identifier }
  package var url: URL? { store.url }

  package func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    try noteRead("fetch \(fetch.entity.name)")
    let rows = try store.rows(fetch)
    breaker.afterFetch?()
    return rows
  }

  package func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    try noteRead("fetch \(fetch.entity.name)")
    try store.eachRow(fetch, take)
  }

  package func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    try noteRead("IDs \(fetch.entity.name)")
    return try store.ids(fetch)
  }

  package func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    try noteRead("dictionaries \(query.fetch.entity.name)")
    return try store.dictionaries(query)
  }

  package func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    try noteRead("\(relationship.name) of \(ids.count)")
    return try store.relatedRows(of: ids, relationship)
  }

  package func inOneTransaction<T>(_ body: () throws -> (T, TransactionEnd)) throws -> T {
    try store.inOneTransaction(body)
  }

  package func snapshot() throws -> any StoreReader {
    try breaker.check()
    return try store.snapshot()
  }

  package func count(_ fetch: StoreFetch) throws -> Int {
    try noteRead("count \(fetch.entity.name)")
    return try store.count(fetch)
  }

  package func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    try noteRead("rows \(ids)")
    return try store.rows(with: ids)
  }

  package func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try noteRead("\(relationship.name) of \(id)")
    return try store.relatedIDs(of: id, relationship)
  }

  package func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try breaker.check()
    return try store.transaction(body)
  }
  package func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try breaker.check()
    breaker.beforeWrite?()
    return try store.write(changes)
  }

  package func synchronize() throws { try store.synchronize() }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try store.permanentIDs(for: entities)
  }
}
