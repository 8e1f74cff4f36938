import Foundation
import ManagedObjects
import OrderedCollections
import Synchronization

/// A store of one's own kind, as a program outside would write it: with the public interface alone.
///
/// It keeps all rows in one value, and replaces that value with each write. It is slow, and keeps the contract.
final class ToyStore: IncrementalStore {
  let identifier = UUID().uuidString
  var url: URL? { nil }
  private let state = Mutex(ToyContent())
  /// Held by the thread that writes. Recursive: a batch request writes within its transaction.
  private let writing = NSRecursiveLock()
  /// What the store does wrong, for tests of the suite itself.
  private let fault: Fault?

  enum Fault: String, CaseIterable {
    case reusesIDs, forgetsConflicts, writesHalf, ignoresLimits, losesOrder, sharesSnapshots
  }

  init(fault: Fault? = nil) { self.fault = fault }

  private var content: ToyContent { state.withLock { $0 } }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    let content = content
    if fault == .ignoresLimits, fetch.limit > 0 { return content.rows.values.filter { $0.id.entity == fetch.entity } }
    return try content.rows(fetch)
  }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try content.dictionaries(query) }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { content.rows(with: ids) }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    content.objects(of: id, by: relationship)
  }
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    content.relatedRows(of: ids, relationship)
  }

  func snapshot() throws -> any StoreReader { fault == .sharesSnapshots ? self : ToySnapshot(content) }

  func write(_ changes: StoreChanges) throws -> StoreWriteResult {
    try writing.withLock {
      var draft = content
      do {
        let result = try draft.write(
          changes, identifier, checksRows: fault != .forgetsConflicts, keepsOrder: fault != .losesOrder)
        if fault == .reusesIDs { draft.lastNumber = Int64(draft.rows.count) }
        state.withLock { $0 = draft }
        return result
      } catch {
        if fault == .writesHalf { state.withLock { $0 = draft } }
        throw error
      }
    }
  }

  func transaction<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
    try writing.withLock {
      let before = content
      do {
        return try body(self)
      } catch {
        if fault != .writesHalf { state.withLock { $0 = before } }
        throw error
      }
    }
  }

  func permanentIDs(for entities: [EntityDescription]) throws -> [ManagedObjectID] {
    writing.withLock { state.withLock { content in entities.map { content.newID(of: $0, identifier) } } }
  }
}

/// Batch requests work on the store itself: a reader on another thread would see a part of one, which no case looks at.
extension ToyStore: StoreTransaction {}

/// The content at one moment.
private final class ToySnapshot: StoreReader {
  private let content: ToyContent
  init(_ content: ToyContent) { self.content = content }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try content.rows(fetch) }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { try content.dictionaries(query) }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { content.rows(with: ids) }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    content.objects(of: id, by: relationship)
  }
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    content.relatedRows(of: ids, relationship)
  }
}

/// Everything that a toy store holds.
private struct ToyContent {
  var rows: [ManagedObjectID: StoreRow] = [:]
  /// The objects of each many-to-many relationship, in their order, kept at one end.
  var sets: [ManagedObjectID: [String: OrderedSet<ManagedObjectID>]] = [:]
  var lastNumber: Int64 = 0

  /// What predicates read.
  private final class Source: StoreRowSource {
    let content: ToyContent
    init(_ content: ToyContent) { self.content = content }
    func row(with id: ManagedObjectID) -> StoreRow? { content.rows[id] }
    func objects(of id: ManagedObjectID, by relationship: RelationshipDescription) -> Value {
      content.objects(of: id, by: relationship)
    }
  }

  // MARK: Reading

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { try fetch.rows(among: rows.values, in: Source(self)) }

  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    try query.dictionaries(among: rows.values, in: Source(self))
  }

  func rows(with ids: [ManagedObjectID]) -> [StoreRow] { ids.compactMap { rows[$0] } }

  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) -> [RelatedRow] {
    ids.flatMap { owner in
      related(to: owner, by: relationship).compactMap { rows[$0].map { RelatedRow(owner: owner, row: $0) } }
    }
  }

  func objects(of id: ManagedObjectID, by relationship: RelationshipDescription) -> Value {
    let found = related(to: id, by: relationship)
    return relationship.isOrdered ? .orderedObjects(found) : .objects(Set(found))
  }

  private func related(
    to id: ManagedObjectID, by relationship: RelationshipDescription
  ) -> OrderedSet<ManagedObjectID> {
    guard let inverse = relationship.inverseRelationship else { return sets[id]?[relationship.name] ?? [] }
    if inverse.isToMany {
      if isKept(relationship) { return sets[id]?[relationship.name] ?? [] }
      return OrderedSet(sets.filter { $0.value[inverse.name]?.contains(id) == true }.map(\.key))
    }
    return OrderedSet(
      rows.values.filter { $0.id.entity.isKindOf(inverse.entity) && $0.values[inverse.slot] == .object(id) }
        .map(\.id))
  }

  /// Whether pairs are kept at this end: of two ends at the one whose name comes first.
  private func isKept(_ relationship: RelationshipDescription) -> Bool {
    relationship.inverseRelationship.map { relationship.name < $0.name } ?? true
  }

  // MARK: Writing

  mutating func newID(of entity: EntityDescription, _ identifier: String) -> ManagedObjectID {
    lastNumber += 1
    return ManagedObjectID(entity: entity, storeIdentifier: identifier, number: lastNumber)
  }

  mutating func write(
    _ changes: StoreChanges, _ identifier: String, checksRows: Bool, keepsOrder: Bool
  ) throws -> StoreWriteResult {
    let stale = changes.mergeConflicts { rows[$0] }
    guard stale.isEmpty || !checksRows else { throw ManagedObjectError.mergeConflicts(stale) }
    var permanent: [ManagedObjectID: ManagedObjectID] = [:]
    let ids = changes.inserted.map { row in
      let id = row.id.isTemporaryID ? newID(of: row.id.entity, identifier) : row.id
      permanent[row.id] = id
      return id
    }
    for row in changes.deleted { remove(row.id) }
    // Each row under its permanent ID, with the ID that the context knows and the values that it has read.
    var written: [(row: StoreRow, given: ManagedObjectID, former: ContiguousArray<Value>?)] = []
    for update in changes.updated {
      written.append((StoreRow(id: update.id, values: update.values), update.id, update.committed))
    }
    for (row, id) in zip(changes.inserted, ids) {
      written.append((StoreRow(id: id, values: row.values), row.id, nil))
    }
    for (row, _, _) in written { rows[row.id] = stored(row, permanent) }
    let clashes = written.compactMap { clash($0.row, $0.given) }
    guard clashes.isEmpty else { throw ManagedObjectError.constraintConflicts(clashes) }
    for (row, _, former) in written { writeSets(row, former, permanent, keepsOrder) }
    let broken = written.flatMap { brokenReferences(of: $0.row.id, $0.given) }
    guard broken.isEmpty else { throw ManagedObjectError.brokenReferences(broken) }
    return StoreWriteResult(ids: ids)
  }

  /// A row as it is kept: without sets and transient values, and with permanent IDs.
  private func stored(_ row: StoreRow, _ permanent: [ManagedObjectID: ManagedObjectID]) -> StoreRow {
    var row = row
    for property in row.id.entity.properties {
      let relationship = property as? RelationshipDescription
      if relationship?.isToMany == true {
        row.values[property.slot] = .unresolved
      } else if property.isTransient {
        row.values[property.slot] = .null
      } else if case .object(let id) = row.values[property.slot] {
        row.values[property.slot] = .object(permanent[id] ?? id)
      }
    }
    return row
  }

  private mutating func remove(_ id: ManagedObjectID) {
    rows[id] = nil
    sets[id] = nil
    for (owner, owned) in sets { sets[owner] = owned.mapValues { $0.filter { $0 != id } } }
  }

  /// Writes the difference of each set that a save has changed.
  private mutating func writeSets(
    _ row: StoreRow, _ former: ContiguousArray<Value>?, _ permanent: [ManagedObjectID: ManagedObjectID],
    _ keepsOrder: Bool
  ) {
    for relationship in row.id.entity.relationships where relationship.isToMany {
      guard relationship.inverseRelationship?.isToMany ?? true, isKept(relationship),
        let now = members(row.values[relationship.slot])
      else { continue }
      let old = former.flatMap { members($0[relationship.slot]) } ?? []
      var set = sets[row.id]?[relationship.name] ?? []
      if relationship.isOrdered, now != old {
        set = OrderedSet((keepsOrder ? Array(now) : now.reversed()).map { permanent[$0] ?? $0 })
      } else {
        for id in old where !now.contains(id) { set.remove(id) }
        for id in now where !old.contains(id) { set.append(permanent[id] ?? id) }
      }
      sets[row.id, default: [:]][relationship.name] = set
    }
    // A save that reaches the pairs from the other end.
    for relationship in row.id.entity.relationships where relationship.isToMany && !isKept(relationship) {
      guard let inverse = relationship.inverseRelationship, inverse.isToMany,
        let now = members(row.values[relationship.slot])
      else { continue }
      let old = former.flatMap { members($0[relationship.slot]) } ?? []
      for id in old where !now.contains(id) { sets[id]?[inverse.name]?.remove(row.id) }
      for id in now where !old.contains(id) {
        sets[permanent[id] ?? id, default: [:]][inverse.name, default: []].append(row.id)
      }
    }
  }

  private func members(_ value: Value) -> OrderedSet<ManagedObjectID>? {
    switch value {
    case .objects(let ids): OrderedSet(ids)
    case .orderedObjects(let ids): ids
    default: nil
    }
  }

  private func clash(_ row: StoreRow, _ given: ManagedObjectID) -> ConstraintConflict? {
    for constraint in row.id.entity.uniquenessConstraints {
      let values = constraint.map { row.values[$0.slot] }
      guard !values.contains(.null) else { continue }
      let other = rows.values.first { other in
        other.id != row.id && other.id.entity.rootEntity == row.id.entity.rootEntity
          && constraint.map { other.values[$0.slot] } == values
      }
      if let other {
        let asked = StoreRow(id: given, values: row.values)
        return ConstraintConflict(asked, constraint: constraint.map(\.name), stored: other)
      }
    }
    return nil
  }

  private func brokenReferences(of id: ManagedObjectID, _ given: ManagedObjectID) -> [BrokenReference] {
    id.entity.relationships.compactMap { relationship in
      guard !relationship.isToMany, case .object(let target)? = rows[id]?.values[relationship.slot],
        rows[target] == nil
      else { return nil }
      return BrokenReference(objectID: given, relationship: relationship.name, missingObjectID: target)
    }
  }
}
