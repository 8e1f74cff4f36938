import Foundation
import ManagedObjects
import Synchronization
import TestSupport

/// A coordinator over a store in memory that counts what is read from it.
final class CountingStack: Sendable {
  let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
  private let counter = Recorder<String>()

  init() {
    let counter = counter
    let description = PersistentStoreDescription { _, entities in
      CountingStore(InMemoryStore(entities: entities), counter)
    }
    do {
      try coordinator.addPersistentStore(description)
    } catch {
      preconditionFailure("a store in memory always opens: \(error)")
    }
  }

  /// How often the store was read.
  var reads: Int { counter.items.count }

  func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }
}

/// Passes everything on, and notes what is read.
private final class CountingStore: PersistentStore {
  private let store: InMemoryStore
  private let counter: Recorder<String>

  init(_ store: InMemoryStore, _ counter: Recorder<String>) {
    self.store = store
    self.counter = counter
  }

  var identifier: String { store.identifier }
  var url: URL? { nil }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    counter.note("fetch \(fetch.entity.name)")
    return try store.rows(fetch)
  }

  func count(_ fetch: StoreFetch) throws -> Int {
    counter.note("count \(fetch.entity.name)")
    return try store.count(fetch)
  }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    counter.note("rows \(ids)")
    return try store.rows(with: ids)
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Set<ManagedObjectID> {
    counter.note("\(relationship.name) of \(id)")
    return try store.relatedIDs(of: id, relationship)
  }

  func write(_ changes: StoreChanges) throws -> [ManagedObjectID] { try store.write(changes) }
  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try store.permanentIDs(for: entities)
  }
  func synchronize() throws { try store.synchronize() }
}
