/// A sort descriptor bound to an entity.
package struct ResolvedSort: Sendable, Hashable {
  /// The way to the values.
  package let path: ResolvedPath
  /// Whether small values come first.
  package let ascending: Bool
  /// How strings are folded first.
  package let options: FetchPredicate.Options

  /// Whether `a` comes before `b` by `sorts`. Objects that these leave equal follow in the order of their numbers, the
  /// newest last, or first when the last descriptor descends: as SQLite walks an index. Unsaved objects count as newer
  /// than all that are saved.
  package static func areInIncreasingOrder(
    _ a: any PredicateSubject, _ b: any PredicateSubject, by sorts: [ResolvedSort]
  ) -> Bool {
    for sort in sorts {
      let order = sort.order(a, b)
      if order != 0 { return sort.ascending ? order < 0 : order > 0 }
    }
    let order = order(a.subjectID, b.subjectID)
    return sorts.last?.ascending ?? true ? order < 0 : order > 0
  }

  /// The objects in order. Reads every key once, so that long lists cost no more than they must.
  package static func sorted<Subject: PredicateSubject>(_ subjects: [Subject], by sorts: [ResolvedSort]) -> [Subject] {
    let keyed = subjects.map { subject in (subject, sorts.map { $0.path.value(of: subject, $0.options) }) }
    return keyed.sorted { a, b in
      for (index, sort) in sorts.enumerated() {
        let order = Self.order(a.1[index], b.1[index])
        if order != 0 { return sort.ascending ? order < 0 : order > 0 }
      }
      let order = Self.order(a.0.subjectID, b.0.subjectID)
      return sorts.last?.ascending ?? true ? order < 0 : order > 0
    }.map(\.0)
  }

  private func order(_ a: any PredicateSubject, _ b: any PredicateSubject) -> Int {
    Self.order(path.value(of: a, options), path.value(of: b, options))
  }

  private static func order(_ a: Value, _ b: Value) -> Int {
    if case .object(let first) = a, case .object(let second) = b { return order(first, second) }
    switch (a.comparisonKey.isNull, b.comparisonKey.isNull) {
    case (true, true): return 0
    case (true, false): return -1
    case (false, true): return 1
    case (false, false): return a.order(to: b) ?? 0
    }
  }

  private static func order(_ a: ManagedObjectID, _ b: ManagedObjectID) -> Int {
    // Temporary numbers count downwards from -1.
    func rank(_ id: ManagedObjectID) -> (Int, Int64) { id.number < 0 ? (1, ~id.number) : (0, id.number) }
    let (first, second) = (rank(a), rank(b))
    return first < second ? -1 : first == second ? 0 : 1
  }
}
