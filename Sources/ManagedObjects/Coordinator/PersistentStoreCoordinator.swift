import Foundation
import Synchronization

/// Brings contexts and stores together: every fetch and save of a context goes to the store that holds the entity.
///
/// Safe from any thread. Two contexts may fetch and save at the same time; a store in SQLite lets readers go on while
/// it writes.
///
/// Source: Core Data's `NSPersistentStoreCoordinator`.
public final class PersistentStoreCoordinator: Sendable {
  /// The model that all its contexts share.
  public let model: ManagedObjectModel
  private let temporaryScopes: [IDScope]
  private let state = Mutex(State())
  /// Keeps saves in the order of their numbers. Recursive: who is told of a write from within it may save, too.
  private let saving = NSRecursiveLock()
  /// The number of the last save.
  nonisolated(unsafe) private var lastSave: Int64 = 0  // under `saving`
  /// The contexts that merge by themselves what is saved.
  let followers = SaveFollowers()

  private struct State {
    var stores: [any PersistentStore] = []
    /// The store of each entity, by the entity's index.
    var storeOfEntity: [Int: any PersistentStore] = [:]
  }

  /// A coordinator without stores.
  public init(model: ManagedObjectModel) {
    self.model = model
    temporaryScopes = model.entities.map { IDScope(entity: $0, storeIdentifier: "") }
  }

  /// Opens a store and adds it. It gets the entities of its configuration, or those that no store holds yet.
  /// - Returns: the store's identifier.
  /// - Throws: ``ManagedObjectError/classMismatch(_:)`` with everything in which typed classes don't fit the
  ///   model, or the store's error.
  @discardableResult
  public func addPersistentStore(_ description: PersistentStoreDescription) throws -> String {
    guard model.classMismatches.isEmpty else { throw ManagedObjectError.classMismatch(model.classMismatches) }
    let taken = state.withLock { Set($0.storeOfEntity.keys) }
    let entities: [EntityDescription]
    if let configuration = description.configuration {
      guard let names = model.configurations[configuration] else {
        throw ManagedObjectError.noStore(entity: "configuration \(configuration)")
      }
      entities = model.entities.filter { names.contains($0.name) && !taken.contains($0.index) }
    } else {
      entities = model.entities.filter { !taken.contains($0.index) }
    }
    let store = try description.open(model, entities)
    try followRemoteChanges(of: store)
    state.withLock {
      $0.stores.append(store)
      for entity in entities { $0.storeOfEntity[entity.index] = store }
    }
    return store.identifier
  }

  /// Closes every store, at the end of a program: contexts of the coordinator can't read or save afterwards.
  public func close() throws {
    for store in persistentStores { try store.close() }
  }

  /// The stores, in the order of their addition.
  package var persistentStores: [any PersistentStore] { state.withLock { $0.stores } }

  /// The store that holds an entity's objects.
  package func store(of entity: EntityDescription) throws -> any PersistentStore {
    guard let store = state.withLock({ $0.storeOfEntity[entity.index] }) else {
      throw ManagedObjectError.noStore(entity: entity.name)
    }
    return store
  }

  /// The ID that a URI stands for.
  /// - Returns: nil when the URI isn't of a store of this coordinator.
  public func managedObjectID(forURIRepresentation uri: String) -> ManagedObjectID? {
    let parts = uri.split(separator: "/", omittingEmptySubsequences: true)
    guard parts.count == 4, parts[0] == "x-coredata:", parts[3].first == "p", let number = Int64(parts[3].dropFirst()),
      let entity = model.entitiesByName[String(parts[2])],
      persistentStores.contains(where: { $0.identifier == parts[1] })
    else { return nil }
    return ManagedObjectID(scope: .of(entity, in: String(parts[1])), number: number)
  }

  /// The ID of the row with that number, whether or not it exists.
  /// - Throws: ``ManagedObjectError/unknownEntity(name:known:)`` or ``ManagedObjectError/noStore(entity:)``.
  package func managedObjectID(entity name: String, number: Int64) throws -> ManagedObjectID {
    guard let entity = model.entitiesByName[name] else {
      throw ManagedObjectError.unknownEntity(name: name, known: model.entities.map(\.name))
    }
    return ManagedObjectID(
      scope: .of(entity, in: try store(of: entity).identifier), number: number)
  }

  func temporaryScope(of entity: EntityDescription) -> IDScope { temporaryScopes[entity.index] }
}

extension PersistentStoreCoordinator: RoutingSource {
  func reader(of entity: EntityDescription) throws -> any StoreReader { try store(of: entity) }

  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    // A row numbered by its own attribute has its ID once that is known, on saving.
    var ids = entities.map { ManagedObjectID(scope: temporaryScope(of: $0), number: 0) }
    let wanting = entities.indices.filter { entities[$0].primaryKey == nil }
    for (_, places) in Dictionary(grouping: wanting, by: { entities[$0].rootEntity.index }) {
      let new = try store(of: entities[places[0]]).permanentIDs(for: places.map { entities[$0] })
      for (place, id) in zip(places, new) { ids[place] = id }
    }
    return ids
  }

  /// Writes one save after the other, and numbers them: who follows them is told in that order. A store has one writer
  /// at a time anyway.
  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try saving.withLock {
      var result = try writeParts(of: changes)
      lastSave += 1
      result.number = lastSave
      return result
    }
  }

  /// Each store's part is one transaction. With several stores a failure in a later one leaves the earlier ones
  /// written, as in Core Data.
  private func writeParts(of changes: StoreChanges) throws -> StoreWriteResult {
    let stores = persistentStores
    if stores.count == 1 { return try stores[0].write(changes) }
    var parts: [ObjectIdentifier: Part] = [:]
    func withPart(of entity: EntityDescription, _ body: (inout Part) -> Void) throws {
      body(&parts[ObjectIdentifier(try store(of: entity)), default: Part(of: changes)])
    }
    for (position, row) in changes.inserted.enumerated() {
      try withPart(of: row.id.entity) {
        $0.changes.inserted.append(row)
        $0.positions.append(position)
      }
    }
    for update in changes.updated { try withPart(of: update.id.entity) { $0.changes.updated.append(update) } }
    for row in changes.deleted { try withPart(of: row.id.entity) { $0.changes.deleted.append(row) } }
    try checkStores(changes)
    var result = StoreWriteResult(ids: changes.inserted.map(\.id))
    var hasWritten = false
    for store in stores {
      guard let part = parts[ObjectIdentifier(store)] else { continue }
      let written: StoreWriteResult
      do {
        written = try store.write(part.changes)
      } catch {
        // What is written already can't be tried again.
        throw hasWritten ? PartialWriteError(underlying: error) : error
      }
      hasWritten = true
      for (position, id) in zip(part.positions, written.ids) { result.ids[position] = id }
      result.refreshed += written.refreshed
    }
    return result
  }
}

extension PersistentStoreCoordinator {
  /// References don't lead from store to store, as in Core Data.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with every one that does.
  private func checkStores(_ changes: StoreChanges) throws {
    var failures: [ValidationFailure] = []
    func check(_ id: ManagedObjectID, _ values: ContiguousArray<Value>) throws {
      let home = try store(of: id.entity)
      for relationship in id.entity.relationships {
        let targets: Set<ManagedObjectID>
        switch values[relationship.slot] {
        case .object(let target): targets = [target]
        case .objects(let ids): targets = ids
        case .orderedObjects(let ids): targets = Set(ids)
        default: continue
        }
        if try targets.contains(where: { try store(of: $0.entity) !== home }) {
          failures.append(
            .init(entity: id.entity, objectID: id, property: relationship.name, reason: .otherStore))
        }
      }
    }
    for row in changes.inserted { try check(row.id, row.values) }
    for update in changes.updated { try check(update.id, update.values) }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }
}

/// One store's part of a save, with the places of its insertions among all.
private struct Part {
  var changes: StoreChanges
  var positions: [Int] = []

  init(of changes: StoreChanges) {
    self.changes = StoreChanges(contextName: changes.contextName, transactionAuthor: changes.transactionAuthor)
  }
}

/// A save that one store has written and another refuses.
struct PartialWriteError: Error {
  /// Why the other refuses.
  let underlying: any Error
}
