public import Foundation

extension FetchPredicate {
  /// Translates a `#Predicate` over a typed class.
  ///
  /// ```swift
  /// try FetchPredicate(#Predicate<Person> { $0.employer?.name == name && $0.projects.contains { $0.title == "x" } })
  /// ```
  ///
  /// It supports comparisons, `&&`, `||`, `!`, arithmetic, `?.`, `??`, forced unwrapping, ternaries, ranges, `nil` and arrays of
  /// values; for to-many relationships `contains`, `contains(where:)`, `allSatisfy`, `filter`, `count`, `isEmpty`; for strings
  /// `contains`, `starts(with:)`, `isEmpty`. Values compare as ``FetchPredicate`` describes. Casts, subscripts and regular
  /// expressions are refused by name. On Linux, Foundation has no `localizedStandardContains` or `caseInsensitiveCompare` in
  /// predicates. A `#Predicate` can't capture an object ID, since captured values must be `Codable`: add a
  /// ``FetchPredicate`` with `&&` instead.
  ///
  /// A computed property that reads exactly one stored property stands for that property.
  /// Source: Foundation's `Predicate`; Core Data accepts it through `NSPredicate(_:)`.
  /// - Throws: ``TypedPredicateError`` with the part that no store can evaluate.
  public init<T: ManagedObject>(_ predicate: Predicate<T>) throws(TypedPredicateError) {
    var translation = PredicateTranslation()
    translation.bindings[predicate.variable.key] = .evaluatedObject
    self = try translation.predicate(predicate.expression)
  }
}

extension FetchSortDescriptor {
  /// Orders by the property of a key path, such as `\Person.name` or `\Person.employer?.name`.
  /// - Throws: ``TypedPredicateError/noProperty(_:)``.
  public init<T: ManagedObject>(
    _ keyPath: PartialKeyPath<T>, ascending: Bool = true, comparison: Comparison = .natural
  ) throws(TypedPredicateError) {
    self.init(
      try KeyPathNames.names(of: keyPath).joined(separator: "."), ascending: ascending, comparison: comparison)
  }

  /// Converts Foundation's descriptor.
  ///
  /// `SortDescriptor(\.name)` sorts text as ``Comparison/localizedStandard``, which is what it means to Core Data: Foundation's
  /// default there is `String.StandardComparator.localizedStandard`, which Foundation on Linux doesn't have. With
  /// `comparator: .lexical` text sorts by its bytes, which an index provides. The other comparisons take a
  /// ``FetchSortDescriptor``.
  /// - Throws: ``TypedPredicateError/noProperty(_:)``; ``TypedPredicateError/unsupported(_:)`` with any other comparator.
  public init<T: ManagedObject>(_ sort: SortDescriptor<T>) throws(TypedPredicateError) {
    guard let keyPath = sort.keyPath else { throw .noProperty("the sort descriptor \(sort)") }
    var comparison = Comparison.natural
    if let comparator = sort.stringComparator {
      guard String.StandardComparator(comparator, order: .forward) == .lexical else {
        throw .unsupported("the string comparator \(comparator)")
      }
    } else {
      let type = type(of: keyPath).valueType
      if type == String.self || type == String?.self { comparison = .localizedStandard }
    }
    try self.init(keyPath, ascending: sort.order == .forward, comparison: comparison)
  }
}

extension FetchRequest {
  /// A request for objects of a typed class, whose name is its entity's.
  ///
  /// ```swift
  /// try FetchRequest(predicate: #Predicate<Person> { $0.name == "x" }, sortBy: [SortDescriptor(\.age)])
  /// ```
  /// - Throws: ``TypedPredicateError`` with the part that no store can evaluate.
  public init(
    entityName: String = "\(Result.self)", predicate: Predicate<Result>, sortBy: [SortDescriptor<Result>] = []
  ) throws(TypedPredicateError) {
    var sorts: [FetchSortDescriptor] = []
    for sort in sortBy { sorts.append(try FetchSortDescriptor(sort)) }
    self.init(entityName: entityName, predicate: try FetchPredicate(predicate), sortDescriptors: sorts)
  }
}
