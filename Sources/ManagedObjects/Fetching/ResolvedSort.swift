package import Foundation

/// A sort descriptor bound to an entity.
package struct ResolvedSort: Sendable, Hashable {
  /// The path to the values.
  package let path: ResolvedPath
  /// Whether the order is ascending.
  package let ascending: Bool
  /// How strings are folded first.
  package let options: FetchPredicate.Options

  /// The folded value that a subject sorts by.
  func value(of subject: any PredicateSubject) -> Value { path.value(of: subject, options) }

  /// A value as it is compared: strings are folded by the options.
  func folded(_ value: Value) -> Value {
    guard !options.isEmpty, case .string(let text) = value else { return value }
    return .string(options.folded(text))
  }

  /// The order of two folded values.
  func order(_ a: Value, _ b: Value) -> Int {
    let order = Self.order(a, b)
    return ascending ? order : -order
  }

  fileprivate func order(_ a: any PredicateSubject, _ b: any PredicateSubject) -> Int {
    order(value(of: a), value(of: b))
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

  fileprivate static func order(_ a: ManagedObjectID, _ b: ManagedObjectID) -> Int {
    // Temporary numbers count down from -1, and sort after all saved ones.
    func rank(_ id: ManagedObjectID) -> (Int, Int64) { id.isTemporaryID ? (1, ~id.number) : (0, id.number) }
    let (first, second) = (rank(a), rank(b))
    if first != second { return first < second ? -1 : 1 }
    // Two stores use the same numbers. A fixed order of stores keeps pages from overlapping.
    let (one, other) = (a.scope.storeIdentifier, b.scope.storeIdentifier)
    return one == other ? 0 : one < other ? -1 : 1
  }
}

extension [ResolvedSort] {
  /// The order of `a` and `b`. Ties are broken by object number, in reverse when the last descriptor is descending, as SQLite
  /// walks an index; unsaved objects count as newer than all saved ones. Call on the subjects' queue.
  package func order(_ a: any PredicateSubject, _ b: any PredicateSubject) -> ComparisonResult {
    var order = 0
    for sort in self where order == 0 { order = sort.order(a, b) }
    if order == 0 { order = orderOfIDs(a.subjectID, b.subjectID) }
    return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
  }

  /// The order of the IDs of objects that tie under all descriptors.
  func orderOfIDs(_ a: ManagedObjectID, _ b: ManagedObjectID) -> Int {
    let order = ResolvedSort.order(a, b)
    return last?.ascending == false ? -order : order
  }

  /// Whether `a` comes before `b`; see ``order(_:_:)``.
  package func areInIncreasingOrder(_ a: any PredicateSubject, _ b: any PredicateSubject) -> Bool {
    order(a, b) == .orderedAscending
  }
}
