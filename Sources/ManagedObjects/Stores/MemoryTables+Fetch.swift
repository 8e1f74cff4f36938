extension MemoryTables {
  /// The rows that a fetch finds, in order.
  func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    let rows = try page(fetch).map { subject in
      guard let slots = fetch.slots else { return subject.row }
      var row = subject.row
      for slot in row.values.indices where !slots.contains(slot) { row.values[slot] = .unresolved }
      return row
    }
    try fetch.monitor?.note(rows.count)
    return rows
  }

  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { try page(fetch).map(\.row.id) }

  func count(_ fetch: StoreFetch) -> Int {
    let rest = max(0, matching(fetch).count - fetch.offset)
    return fetch.limit > 0 ? min(rest, fetch.limit) : rest
  }

  /// The rows at the other end of a to-many relationship of several objects.
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) -> [RelatedRow] {
    ids.flatMap { owner in
      related(to: owner, by: relationship).relatedIDs.compactMap { id in
        row(id).map { RelatedRow(owner: owner, row: $0) }
      }
    }
  }

  /// The rows that match, in order, limit and offset applied.
  func page(_ fetch: StoreFetch) throws -> ArraySlice<RowSubject> {
    let found = matching(fetch).sorted { fetch.sort.areInIncreasingOrder($0, $1) }
    // Sorting is the part that takes long.
    if fetch.monitor?.isCancelled == true { throw CancellationError() }
    let tail = found.dropFirst(fetch.offset)
    return fetch.limit > 0 ? tail.prefix(fetch.limit) : tail
  }

  /// The rows that match, in no order.
  func matching(_ fetch: StoreFetch) -> [RowSubject] {
    let snapshot = Snapshot(self)
    return (rows[fetch.entity.rootEntity.index] ?? [:]).values.lazy.filter { row in
      fetch.includesSubentities ? row.id.entity.isKindOf(fetch.entity) : row.id.entity === fetch.entity
    }.map { RowSubject(row: $0, snapshot: snapshot) }.filter { fetch.predicate?.evaluate(on: $0) ?? true }
  }
}

/// The tables as they are when a fetch begins, shared by the rows that it looks at.
final class Snapshot {
  let tables: MemoryTables
  init(_ tables: MemoryTables) { self.tables = tables }
}

/// A stored row for the evaluation of predicates over it and the rows it points to.
struct RowSubject: PredicateSubject {
  let row: StoreRow
  let snapshot: Snapshot

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }

  func subject(inSlot slot: Int) -> (any PredicateSubject)? {
    guard case .object(let id) = row.values[slot] else { return nil }
    return subject(id)
  }

  func subjects(inSlot slot: Int) -> [any PredicateSubject] {
    guard let relationship = row.id.entity.properties[slot] as? RelationshipDescription else { return [] }
    guard relationship.isOrdered else {
      return snapshot.tables.held(by: relationship, row.id.number).compactMap(subject)
    }
    return snapshot.tables.related(to: row.id, by: relationship).relatedIDs.compactMap(subject)
  }

  private func subject(_ id: ManagedObjectID) -> RowSubject? {
    snapshot.tables.row(id).map { RowSubject(row: $0, snapshot: snapshot) }
  }
}
