// What a store needs that answers fetches and checks saves in memory: the evaluation of fetches over rows that it gives, and
// the comparison of changes with the rows that it holds.

/// The rows that predicates reach from the row they are evaluated on.
public protocol StoreRowSource: AnyObject {
  /// The row with that ID, nil when there is none.
  func row(with id: ManagedObjectID) -> StoreRow?
  /// The objects of a to-many relationship: `objects`, or `orderedObjects` of an ordered one.
  func objects(of id: ManagedObjectID, by relationship: RelationshipDescription) -> Value
}

extension StoreFetch {
  /// Selects and sorts rows as the fetch asks.
  /// - Parameters:
  ///   - rows: all rows of ``entity`` and, if the fetch includes them, of entities that inherit from it. Rows of others are
  ///     left out.
  ///   - source: where predicates and sort keys over relationships read other rows, all of one state of the store.
  /// - Throws: `CancellationError` when the fetch was cancelled.
  public func rows(among rows: some Sequence<StoreRow>, in source: any StoreRowSource) throws -> [StoreRow] {
    let found = try page(rows, in: source).map { subject in
      guard let slots else { return subject.row }
      var row = subject.row
      for slot in row.values.indices where !slots.contains(slot) { row.values[slot] = .unresolved }
      return row
    }
    try monitor?.note(found.count)
    return found
  }

  /// The rows that match, in order, limit and offset applied.
  func page(_ rows: some Sequence<StoreRow>, in source: any StoreRowSource) throws -> ArraySlice<RowSubject> {
    let found = sort.sorted(matching(rows, in: source))
    // Sorting is the part that takes long.
    if monitor?.isCancelled == true { throw CancellationError() }
    let tail = found.dropFirst(offset)
    return limit > 0 ? tail.prefix(limit) : tail
  }

  /// The rows that match, in no order.
  func matching(_ rows: some Sequence<StoreRow>, in source: any StoreRowSource) -> [RowSubject] {
    rows.lazy.filter { row in
      includesSubentities ? row.id.entity.isKindOf(entity) : row.id.entity === entity
    }.map { RowSubject(row: $0, source: source) }.filter { predicate?.evaluate(on: $0) ?? true }
  }
}

extension StoreQuery {
  /// Computes the values that the query asks for.
  /// - Parameters:
  ///   - rows: as for ``StoreFetch/rows(among:in:)``.
  ///   - source: where expressions over relationships read other rows.
  /// - Throws: ``ManagedObjectError/store(_:)`` when a sum is out of range.
  public func dictionaries(
    among rows: some Sequence<StoreRow>, in source: any StoreRowSource
  ) throws -> [ContiguousArray<Value>] {
    if isRowwise { return try fetch.page(rows, in: source).map { $0.values(of: columns) } }
    let matching = fetch.matching(rows, in: source)
    if isGrouped { return chosen(try grouped(matching)) }
    return chosen(matching.map { OutputRow(values: $0.values(of: outputs)) })
  }

  private func grouped(_ rows: [RowSubject]) throws -> [OutputRow] {
    struct Group {
      let first: RowSubject?
      var accumulators: [Accumulator?]

      mutating func add(_ row: RowSubject, _ columns: [StoreQuery.Column]) {
        for place in columns.indices where accumulators[place] != nil {
          accumulators[place]?.add(row.value(of: columns[place]))
        }
      }
    }
    let (columns, keys) = (gathered, gatheredKeys.map { gathered[$0] })
    let blank = columns.map(Accumulator.init)
    var found: [GroupKey: Group] = [:]
    // Without anything to group by there is one group, even of no rows.
    if groups.isEmpty { found[GroupKey([])] = Group(first: nil, accumulators: blank) }
    for row in rows {
      found[GroupKey(row.values(of: keys)), default: Group(first: row, accumulators: blank)].add(row, columns)
    }
    return try found.values.map { group in
      outputRow(
        ContiguousArray(
          try zip(columns, group.accumulators).map { column, accumulator in
            try accumulator?.result() ?? group.first?.value(of: column) ?? .null
          }))
    }
  }
}

/// A stored row for the evaluation of predicates over it and the rows it leads to.
struct RowSubject: PredicateSubject {
  let row: StoreRow
  let source: any StoreRowSource

  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }

  func subject(inSlot slot: Int) -> (any PredicateSubject)? {
    guard case .object(let id) = row.values[slot] else { return nil }
    return subject(id)
  }

  func subjects(inSlot slot: Int) -> [any PredicateSubject] {
    guard let relationship = row.id.entity.properties[slot] as? RelationshipDescription else { return [] }
    return source.objects(of: row.id, by: relationship).relatedIDs.compactMap(subject)
  }

  private func subject(_ id: ManagedObjectID) -> RowSubject? {
    source.row(with: id).map { RowSubject(row: $0, source: source) }
  }

  fileprivate func values(of columns: [StoreQuery.Column]) -> ContiguousArray<Value> {
    ContiguousArray(columns.map(value))
  }

  /// The column's value for the row.
  fileprivate func value(of column: StoreQuery.Column) -> Value {
    guard let expression = column.expression else { return .null }
    return expression.value(of: self).settled(as: expression.valueType)
  }
}

extension StoreChanges {
  /// Optimistic locking: the rows to change or delete that aren't any more as they were read.
  /// - Parameter read: the row that the store holds under an ID, nil when there is none.
  public func mergeConflicts(reading read: (ManagedObjectID) throws -> StoreRow?) rethrows -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    func check(_ id: ManagedObjectID, _ object: ContiguousArray<Value>?, _ former: ContiguousArray<Value>) throws {
      guard let stored = try read(id) else {
        conflicts.append(.init(id, object: object, cached: former, persisted: nil))
        return
      }
      let isAsRead = id.entity.properties.allSatisfy { property in
        if property.isTransient || property.isDerived || property.holdsSet { return true }
        return stored.values[property.slot].isStoredAlike(former[property.slot])
      }
      if !isAsRead { conflicts.append(.init(id, object: object, cached: former, persisted: stored.values)) }
    }
    for update in updated { try check(update.id, update.values, update.committed) }
    for row in deleted { try check(row.id, nil, row.values) }
    return conflicts
  }
}

extension ConstraintConflict {
  /// A row that couldn't be written.
  /// - Parameters:
  ///   - row: the row, by the ID that it has in the changes.
  ///   - constraint: the names of the constraint's attributes.
  ///   - stored: the row that has the same values, of the store or of the same changes.
  public init(_ row: StoreRow, constraint: [String], stored: StoreRow) {
    self.init(row, constraint: constraint, database: stored, earlier: nil)
  }
}

extension ManagedObjectID {
  /// The permanent ID of a row, for a store to make.
  /// - Parameters:
  ///   - entity: the row's own entity.
  ///   - identifier: the store's ``IncrementalStore/identifier``.
  ///   - number: the row's number, which no other row of the entity's hierarchy has or has had.
  public init(entity: EntityDescription, storeIdentifier identifier: String, number: Int64) {
    self.init(scope: .of(entity, in: identifier), number: number)
  }

  /// The row's number in its store, less than 0 for a temporary ID.
  public var rowNumber: Int64 { number }
}
