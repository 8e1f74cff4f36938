/// A dictionary before it is chosen and sorted: the values of a query's outputs.
struct OutputRow: PredicateSubject {
  let values: ContiguousArray<Value>

  /// A dictionary is no object. Whatever asks for one sorts all of them alike.
  var subjectID: ManagedObjectID { ManagedObjectID(scope: Self.scope, number: 0) }
  func value(inSlot slot: Int) -> Value { values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }

  private static let scope = IDScope(
    entity: EntityDescription(EntityDefinition("dictionary")), storeIdentifier: "dictionary")
}

extension StoreQuery {
  /// The query without order and page, which are for all that is found together.
  var unpaged: StoreQuery {
    var query = self
    query.order = []
    (query.fetch.sort, query.fetch.limit, query.fetch.offset) = ([], 0, 0)
    return query
  }

  /// Whether an aggregate counts equal values once.
  var hasDistinctAggregates: Bool {
    columns.contains { column in
      if case .aggregate(_, _, isDistinct: true) = column { return true }
      return false
    }
  }

  /// The dictionaries that are asked for, of all groups or distinct values: those that ``having`` chooses, in order, the
  /// page cut out.
  func chosen(_ rows: [OutputRow]) -> [ContiguousArray<Value>] {
    var found = rows
    if let having { found.removeAll { !having.evaluate(on: $0) } }
    if isDistinct {
      var seen: Set<GroupKey> = []
      found.removeAll { !seen.insert(GroupKey($0.values.prefix(columns.count))).inserted }
    }
    if hasOrder {
      let ties = tiebreakers.map { attribute in
        ResolvedSort(path: ResolvedPath(steps: [], end: .attribute(attribute)), ascending: true, options: [])
      }
      found.sort { (order + ties).areInIncreasingOrder($0, $1) }
    }
    let tail = found.dropFirst(fetch.offset)
    return (fetch.limit > 0 ? tail.prefix(fetch.limit) : tail).map { ContiguousArray($0.values.prefix(columns.count)) }
  }
}
