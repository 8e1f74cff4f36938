/// A result row before filtering and sorting: the values of a query's outputs.
struct OutputRow: PredicateSubject {
  let values: ContiguousArray<Value>

  /// Rows aren't objects and have no ID; this one makes all of them tie.
  var subjectID: ManagedObjectID { ManagedObjectID(scope: Self.scope, number: 0) }
  func value(inSlot slot: Int) -> Value { values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }

  private static let scope = IDScope.of(.ofColumns("dictionary"), in: "dictionary")
}

/// A group of rows: their common values, and aggregates over them.
private struct GroupSubject: PredicateSubject {
  let values: [ResolvedPath: Value]

  var subjectID: ManagedObjectID { OutputRow(values: []).subjectID }
  func value(at path: ResolvedPath) -> Value { values[path] ?? .null }
  func value(inSlot slot: Int) -> Value { .null }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }
}

extension StoreQuery {
  /// The query without order and page, which apply to the combined result.
  var unpaged: StoreQuery {
    var query = self
    query.order = []
    (query.fetch.sort, query.fetch.limit, query.fetch.offset) = ([], 0, 0)
    return query
  }

  /// The columns to read from the rows of a group: every output that isn't computed, then ``aggregates``, from which the
  /// computed ones are derived.
  var gathered: [Column] {
    outputs.filter { !$0.isComputed } + aggregates.map { Column.aggregate($0.aggregate) }
  }

  /// The indexes of ``groups`` in ``gathered``.
  var gatheredKeys: [Int] { groups.map { place in outputs[..<place].count { !$0.isComputed } } }

  /// The outputs for a group, from its values for ``gathered``.
  func outputRow(_ values: ContiguousArray<Value>) -> OutputRow {
    guard isComputed else { return OutputRow(values: values) }
    var paths: [ResolvedPath: Value] = [:]
    for (column, value) in zip(gathered, values) {
      if case .value(.path(let path)) = column { paths[path] = value }
    }
    for (entry, value) in zip(aggregates, values.suffix(aggregates.count)) {
      paths[ResolvedPath(steps: [], end: .attribute(entry.attribute))] = value
    }
    let subject = GroupSubject(values: paths)
    var rest = values[...]
    return OutputRow(
      values: ContiguousArray(
        outputs.map { output in
          guard case .computed(let expression) = output else { return rest.popFirst() ?? .null }
          return expression.value(of: subject).settled(as: expression.valueType)
        }))
  }

  /// Whether the aggregate counts equal values once.
  var hasDistinctAggregates: Bool {
    gathered.contains { column in
      if case .aggregate(let aggregate) = column { return aggregate.isDistinct }
      return false
    }
  }

  /// The requested dictionaries out of all groups or distinct rows: filtered by ``having``, sorted, and cut to the page.
  func chosen(_ rows: [OutputRow]) -> [ContiguousArray<Value>] {
    var found = rows
    if let having { found.removeAll { !having.evaluate(on: $0) } }
    if isDistinct {
      var seen: Set<GroupKey> = []
      found.removeAll { !seen.insert(GroupKey($0.values.prefix(columns.count))).inserted }
    }
    if hasOrder {
      let ties = tiebreakers.map { attribute in
        ResolvedSort(path: ResolvedPath(steps: [], end: .attribute(attribute)), ascending: true, comparison: .natural)
      }
      found = (order + ties).sorted(found)
    }
    let tail = found.dropFirst(fetch.offset)
    return (fetch.limit > 0 ? tail.prefix(fetch.limit) : tail).map { ContiguousArray($0.values.prefix(columns.count)) }
  }
}

/// A key for grouping, equal when a store puts the values in one group: nil equals nil, numbers compare by value, strings by
/// their bytes.
struct GroupKey: Hashable {
  private let values: [Value]

  init(_ values: some Sequence<Value>) {
    self.values = values.map(\.comparisonKey)
  }
}
