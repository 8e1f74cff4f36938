package import Jobs

/// When files of a recipe are to come, and with how much: `expect` of a recipe.
package struct RecipeExpectation: Sendable, Equatable {
  /// By when one is to have been imported: at every time that one of these stands for.
  package var by: [CalendarExpression] = []
  /// How long after the last import the next is to have completed.
  package var maxAge: Duration?
  /// Fewer imported records are suspicious.
  package var atLeast: Int64?
  /// By how much the number of records may differ from the usual, as a share of that.
  package var change: Double?

  package init() {}
}

extension RecipeExpectation {
  enum Key: String, CaseIterable {
    case by, change
    case maxAge = "max_age"
    case atLeast = "at_least"
  }

  /// Nil with a problem reported.
  init?(_ value: YAMLValue, in zone: CalendarZone) {
    guard let section = YAMLSection<Key>(value) else { return nil }
    self.init()
    by = section[.by]?.calendar(in: zone) ?? []
    maxAge = section[.maxAge]?.duration(.seconds(1) ... .seconds(3650 * 86_400))
    atLeast = section[.atLeast]?.integer(1...Int.max).map { Int64($0) }
    change = section[.change]?.growth()
    guard section.isWithoutProblems else { return nil }
    if by.isEmpty, maxAge == nil, atLeast == nil, change == nil {
      value.conflict("it expects nothing: give `by`, `max_age`, `at_least` or `change`")
      return nil
    }
  }
}

extension YAMLValue {
  /// A percentage above 0, which may be above 100.
  fileprivate func growth() -> Double? {
    guard let text = scalar("a percentage such as 50%") else { return nil }
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), percent > 0, percent <= 10_000 else {
      wrong("write a percentage above 0%, such as 50%")
      return nil
    }
    return percent / 100
  }
}
