package import Foundation

/// A sort descriptor bound to an entity.
package struct ResolvedSort: Sendable, Hashable {
  /// The path to the values.
  package let path: ResolvedPath
  /// Whether the order is ascending.
  package let ascending: Bool
  /// How values are compared.
  package let comparison: FetchSortDescriptor.Comparison

  /// The value that a subject sorts by, as it is compared.
  func value(of subject: any PredicateSubject) -> Value { folded(path.value(of: subject)) }

  /// A value as it is compared: a string is folded, or becomes its collation key.
  func folded(_ value: Value) -> Value {
    guard comparison != .natural, case .string(let text) = value else { return value }
    if let collation = comparison.collation { return .data(collation.key(of: text)) }
    return .string(FetchPredicate.Options.caseInsensitive.folded(text))
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
    // Only collation keys are data.
    if case .data(let first) = a, case .data(let second) = b { return order(first, second) }
    switch (a.comparisonKey.isNull, b.comparisonKey.isNull) {
    case (true, true): return 0
    case (true, false): return -1
    case (false, true): return 1
    case (false, false): return a.order(to: b) ?? 0
    }
  }

  private static func order(_ a: Data, _ b: Data) -> Int {
    let shared = min(a.count, b.count)
    let difference = a.withUnsafeBytes { first in
      b.withUnsafeBytes { second -> Int32 in
        guard shared > 0, let first = first.baseAddress, let second = second.baseAddress else { return 0 }
        return memcmp(first, second, shared)
      }
    }
    return difference != 0 ? Int(difference) : a.count - b.count
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

  /// The subjects in order. The keys of text that is folded or collated are computed once for each subject. Call on the
  /// subjects' queue.
  package func sorted<Subject: PredicateSubject>(_ subjects: [Subject]) -> [Subject] {
    guard contains(where: { $0.comparison != .natural }) else { return subjects.sorted(by: areInIncreasingOrder) }
    let keyed = subjects.map { subject in (subject: subject, key: ContiguousArray(map { $0.value(of: subject) })) }
    return keyed.sorted { order($0.key, $0.subject.subjectID, $1.key, $1.subject.subjectID) < 0 }.map(\.subject)
  }

  /// The order of two subjects by the values of ``ResolvedSort/value(of:)`` and their IDs.
  func order(
    _ a: ContiguousArray<Value>, _ first: ManagedObjectID, _ b: ContiguousArray<Value>, _ second: ManagedObjectID
  ) -> Int {
    for (index, sort) in enumerated() {
      let order = sort.order(a[index], b[index])
      if order != 0 { return order }
    }
    return orderOfIDs(first, second)
  }
}
