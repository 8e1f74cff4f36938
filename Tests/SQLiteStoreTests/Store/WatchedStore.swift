import Foundation
import ManagedObjects
import TestSupport

/// Passes everything on to a store, notes what is read from it, and keeps its directory for as long as it is used.
final class WatchedStore: PersistentStore {
  private let store: any PersistentStore
  private let reads: Recorder<String>
  private let directory: ScratchDirectory?

  init(_ store: any PersistentStore, noting reads: Recorder<String>, in directory: ScratchDirectory?) {
    self.store = store
    self.reads = reads
    self.directory = directory
  }

  var identifier: String { store.identifier }
  var url: URL? { store.url }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    reads.note("fetch \(fetch.entity.name)")
    return try store.rows(fetch)
  }

  func count(_ fetch: StoreFetch) throws -> Int {
    reads.note("count \(fetch.entity.name)")
    return try store.count(fetch)
  }

  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    reads.note("rows \(ids)")
    return try store.rows(with: ids)
  }

  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Set<ManagedObjectID> {
    reads.note("\(relationship.name) of \(id)")
    return try store.relatedIDs(of: id, relationship)
  }

  func write(_ changes: StoreChanges) throws -> [ManagedObjectID] { try store.write(changes) }
  func synchronize() throws { try store.synchronize() }

  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try store.permanentIDs(for: entities)
  }
}
