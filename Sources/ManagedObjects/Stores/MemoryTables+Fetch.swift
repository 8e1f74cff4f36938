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
    let tables = rows
    return (tables[fetch.entity.rootEntity.index] ?? [:]).values.lazy.filter { row in
      fetch.includesSubentities ? row.id.entity.isKindOf(fetch.entity) : row.id.entity === fetch.entity
    }.map { RowSubject(row: $0, tables: tables) }.filter { fetch.predicate?.evaluate(on: $0) ?? true }
  }
}

/// A stored row for the evaluation of predicates over it and the rows it points to.
struct RowSubject: PredicateSubject {
  let row: StoreRow
  let tables: [Int: [Int64: StoreRow]]

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? {
    guard case .object(let id) = row.values[slot] else { return nil }
    return tables[id.entity.rootEntity.index]?[id.number].map { RowSubject(row: $0, tables: tables) }
  }
}
