package import Foundation
import Synchronization

/// A store in memory: Core Data's `NSInMemoryStoreType`. Safe from any thread; a write replaces all or nothing.
package final class InMemoryStore: PersistentStore {
  package let identifier = UUID().uuidString
  package var url: URL? { nil }
  private let scopes: [Int: IDScope]
  private let content = Mutex(Content())

  private struct Content {
    /// Rows by number, of each entity hierarchy by the root's index.
    var tables: [Int: [Int64: StoreRow]] = [:]
    var lastNumber: [Int: Int64] = [:]

    mutating func nextNumber(of entity: EntityDescription) -> Int64 {
      lastNumber[entity.rootEntity.index, default: 0] += 1
      return lastNumber[entity.rootEntity.index] ?? 0
    }
  }

  package init(entities: [EntityDescription]) {
    let identifier = identifier
    scopes = Dictionary(
      uniqueKeysWithValues: entities.map { ($0.index, IDScope(entity: $0, storeIdentifier: identifier)) })
  }

  package func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    let tables = content.withLock { $0.tables }
    let table = tables[fetch.entity.rootEntity.index] ?? [:]
    let found = table.values.lazy.filter { row in
      fetch.includesSubentities ? row.id.entity.isKindOf(fetch.entity) : row.id.entity === fetch.entity
    }.map { RowSubject(row: $0, tables: tables) }.filter { fetch.predicate?.evaluate(on: $0) ?? true }
    let tail = found.sorted { fetch.sort.areInIncreasingOrder($0, $1) }.map(\.row).dropFirst(fetch.offset)
    return Array(fetch.limit > 0 ? tail.prefix(fetch.limit) : tail)
  }

  package func count(_ fetch: StoreFetch) throws -> Int { try rows(fetch).count }

  package func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    content.withLock { content in ids.compactMap { content.tables[$0.entity.rootEntity.index]?[$0.number] } }
  }

  package func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Set<ManagedObjectID> {
    content.withLock { content in
      if relationship.isManyToMany {
        guard let row = content.tables[id.entity.rootEntity.index]?[id.number],
          case .objects(let ids) = row.values[relationship.slot]
        else { return [] }
        return ids
      }
      guard let inverse = relationship.inverseRelationship else { return [] }
      let table = content.tables[inverse.entity.rootEntity.index] ?? [:]
      return Set(
        table.values.lazy.filter { $0.id.entity.isKindOf(inverse.entity) && $0.values[inverse.slot] == .object(id) }
          .map(\.id))
    }
  }

  package func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    try content.withLock { content in
      try entities.map { try newID(of: $0, values: nil, in: &content) }
    }
  }

  package func write(_ changes: StoreChanges) throws -> [ManagedObjectID] {
    try content.withLock { content in
      var new = content
      let ids = try changes.inserted.map { row in
        row.id.isTemporaryID ? try newID(of: row.id.entity, values: row.values, in: &new) : row.id
      }
      let permanent = Dictionary(zip(changes.inserted, ids).map { ($0.id, $1) }) { $1 }
      var conflicts: [MergeConflict] = []
      for row in changes.deleted {
        if new.tables[row.id.entity.rootEntity.index]?.removeValue(forKey: row.id.number) == nil {
          conflicts.append(MergeConflict(objectID: row.id, isDeleted: true))
        }
      }
      for update in changes.updated {
        let root = update.id.entity.rootEntity.index
        guard let stored = new.tables[root]?[update.id.number] else {
          conflicts.append(MergeConflict(objectID: update.id, isDeleted: true))
          continue
        }
        if !agree(stored.values, update.committed, update.id.entity) {
          conflicts.append(MergeConflict(objectID: update.id, isDeleted: false))
        }
        new.tables[root]?[update.id.number] = stored.with(settled(update.values, update.id.entity, permanent))
      }
      guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
      for (row, id) in zip(changes.inserted, ids) {
        let root = id.entity.rootEntity.index
        if new.tables[root]?[id.number] != nil, let key = id.entity.primaryKey {
          throw ManagedObjectError.constraintConflicts([.init(objectID: row.id, constraint: [key.name])])
        }
        new.tables[root, default: [:]][id.number] = StoreRow(id: id, values: settled(row.values, id.entity, permanent))
      }
      try checkUniqueness(changes, ids, in: new)
      content = new
      return ids
    }
  }

  package func synchronize() throws {}

  private func newID(
    of entity: EntityDescription, values: ContiguousArray<Value>?, in content: inout Content
  ) throws -> ManagedObjectID {
    guard let scope = scopes[entity.index] else { throw ManagedObjectError.noStore(entity: entity.name) }
    if let key = entity.primaryKey, let values, case .int(let number) = values[key.slot] {
      return ManagedObjectID(scope: scope, number: number)
    }
    return ManagedObjectID(scope: scope, number: content.nextNumber(of: entity))
  }

  /// Values as they are kept: permanent IDs, and no sets that are derived from the other side.
  private func settled(
    _ values: ContiguousArray<Value>, _ entity: EntityDescription, _ permanent: [ManagedObjectID: ManagedObjectID]
  ) -> ContiguousArray<Value> {
    var values = values
    for relationship in entity.relationships {
      switch values[relationship.slot] {
      case .object(let id): values[relationship.slot] = .object(permanent[id] ?? id)
      case .objects(let ids) where relationship.isManyToMany:
        values[relationship.slot] = .objects(Set(ids.map { permanent[$0] ?? $0 }))
      case .objects: values[relationship.slot] = .unresolved
      default: break
      }
    }
    return values
  }

  private func agree(
    _ stored: ContiguousArray<Value>, _ read: ContiguousArray<Value>, _ entity: EntityDescription
  ) -> Bool {
    for property in entity.properties {
      if let relationship = property as? RelationshipDescription, relationship.isToMany { continue }
      if stored[property.slot] != read[property.slot] { return false }
    }
    return true
  }

  private func checkUniqueness(_ changes: StoreChanges, _ ids: [ManagedObjectID], in content: Content) throws {
    var conflicts: [ConstraintConflict] = []
    let written =
      zip(changes.inserted, ids).map { ($0.id, $1) } + changes.updated.map { ($0.id, $0.id) }
    for entity in Set(written.map { $1.entity }) {
      for constraint in entity.uniquenessConstraints {
        var owners: [[Value]: Int64] = [:]
        var clashing: Set<Int64> = []
        let rows = content.tables[entity.rootEntity.index, default: [:]].values.sorted { $0.id.number < $1.id.number }
        for row in rows where row.id.entity.isKindOf(constraint[0].entity) {
          let key = constraint.map { row.values[$0.slot] }
          if key.contains(.null) { continue }
          if owners[key] != nil { clashing.insert(row.id.number) } else { owners[key] = row.id.number }
        }
        for (given, id) in written where id.entity === entity && clashing.contains(id.number) {
          conflicts.append(.init(objectID: given, constraint: constraint.map(\.name)))
        }
      }
    }
    guard conflicts.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
  }
}

extension StoreRow {
  fileprivate func with(_ values: ContiguousArray<Value>) -> StoreRow { StoreRow(id: id, values: values) }
}

/// A stored row for the evaluation of predicates over it and the rows it points to.
private struct RowSubject: PredicateSubject {
  let row: StoreRow
  let tables: [Int: [Int64: StoreRow]]

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? {
    guard case .object(let id) = row.values[slot] else { return nil }
    return tables[id.entity.rootEntity.index]?[id.number].map { RowSubject(row: $0, tables: tables) }
  }
}
