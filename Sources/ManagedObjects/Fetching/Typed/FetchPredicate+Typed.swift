public import Foundation

extension FetchPredicate {
  /// The predicate that `#Predicate` wrote over a typed class.
  ///
  /// ```swift
  /// try FetchPredicate(#Predicate<Person> { $0.employer?.name == name && $0.projects.contains { $0.title == "x" } })
  /// ```
  ///
  /// Understood are comparisons, `&&`, `||`, `!`, arithmetic, `?.`, `??`, `!` after an optional, ternaries, ranges, `nil`, arrays of values;
  /// of to-many relationships `contains`, `contains(where:)`, `allSatisfy`, `filter`, `count`, `isEmpty`; of strings
  /// `contains`, `starts(with:)`, `isEmpty`. The values compare as those of a store do, see ``FetchPredicate``. Casts,
  /// subscripts and regular expressions are refused by name. Foundation has no `localizedStandardContains` and
  /// `caseInsensitiveCompare` in predicates on Linux. An object ID can't stand in a `#Predicate`, which wants what it holds
  /// to be `Codable`: add it with `&&` as a ``FetchPredicate``.
  ///
  /// A computed property that reads exactly one stored one is taken for it.
  /// Source: `Predicate` of Foundation; Core Data takes it through `NSPredicate(_:)`.
  /// - Throws: ``TypedPredicateError`` with the part that no store can answer.
  public init<T: ManagedObject>(_ predicate: Predicate<T>) throws(TypedPredicateError) {
    var translation = PredicateTranslation()
    translation.bindings[predicate.variable.key] = .evaluatedObject
    self = try translation.predicate(predicate.expression)
  }
}

extension FetchSortDescriptor {
  /// Orders by the property behind a key path, such as `\Person.name` or `\Person.employer?.name`.
  /// - Throws: ``TypedPredicateError/noProperty(_:)``.
  public init<T: ManagedObject>(
    _ keyPath: PartialKeyPath<T>, ascending: Bool = true, comparison: Comparison = .natural
  ) throws(TypedPredicateError) {
    self.init(
      try KeyPathNames.names(of: keyPath).joined(separator: "."), ascending: ascending, comparison: comparison)
  }

  /// The order that Foundation's descriptor names. Strings are ordered by their bytes, as stores do, whatever its string
  /// comparator says.
  /// - Throws: ``TypedPredicateError/noProperty(_:)``.
  public init<T: ManagedObject>(_ sort: SortDescriptor<T>) throws(TypedPredicateError) {
    guard let keyPath = sort.keyPath else { throw .noProperty("the sort descriptor \(sort)") }
    try self.init(keyPath, ascending: sort.order == .forward)
  }
}

extension FetchRequest {
  /// A request for objects of the typed class, which is called as its entity is.
  ///
  /// ```swift
  /// try FetchRequest(predicate: #Predicate<Person> { $0.name == "x" }, sortBy: [SortDescriptor(\.age)])
  /// ```
  /// - Throws: ``TypedPredicateError`` with the part that no store can answer.
  public init(
    entityName: String = "\(Result.self)", predicate: Predicate<Result>, sortBy: [SortDescriptor<Result>] = []
  ) throws(TypedPredicateError) {
    var sorts: [FetchSortDescriptor] = []
    for sort in sortBy { sorts.append(try FetchSortDescriptor(sort)) }
    self.init(entityName: entityName, predicate: try FetchPredicate(predicate), sortDescriptors: sorts)
  }
}
