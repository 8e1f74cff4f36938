/// A condition on objects, as a tree.
///
/// Write one in Core Data's format language, or build it from values:
///
/// ```swift
/// try FetchPredicate(format: "country.code == %@ AND population > %d", "CH", 10_000)
/// FetchPredicate.and([.equal("country.code", .string("CH")), .comparison(.path("population"), .greater, .constant(.int(10_000)))])
/// ```
///
/// Every store and the in-memory evaluator give the same answer:
/// - A condition is true or false, never unknown. `nil == nil` is true and `nil != x` is true for every `x` that isn't
///   nil; every other comparison with nil (`<`, `BETWEEN`, `BEGINSWITH`, …) is false, and its `NOT` is true.
/// - A key path through an empty to-one relationship is nil, or an empty collection if a to-many relationship follows.
/// - Each object of a collection counts once, however many paths lead to it. For an empty collection `ANY` is false, `ALL`
///   and `NONE` are true. A nil inside a collection compares as nil.
/// - Aggregates ignore nil. For an empty collection `@count` and `@sum` are 0; `@avg`, `@min` and `@max` are nil.
/// - Arithmetic with nil is nil, and so is any result that isn't a number: division by zero, the square root of a negative
///   number. Integer division truncates towards zero, as in `NSExpression` and SQL; an integer that overflows 64 bits becomes
///   a double. A decimal operand makes the arithmetic decimal; otherwise a double makes it double. A date plus or minus
///   seconds is a date; a date minus a date is a number of seconds.
/// - Numbers compare by value, whatever their types; a boolean is 0 or 1. NaN counts as nil.
/// - Strings compare by their UTF-8 bytes: `[c]` and `[d]` compare the bytes of the folded strings, `[l]` uses the collation of
///   the current locale. Every string begins with, ends with and contains the empty string.
/// - An element of an ordered relationship or list, `tracks[FIRST]`, is nil if the index is out of range.
/// - A composite attribute is nil when all its elements are; as a whole it can only be compared with nil.
/// - Dates compare to the microsecond.
///
/// Source: Core Data's `NSPredicate`; the name avoids Foundation's `Predicate`.
public indirect enum FetchPredicate: Sendable, Hashable {
  /// True for every object, or for none.
  case constant(Bool)
  /// Compares two expressions.
  case comparison(Comparison)
  /// True when all parts are; true for an empty list.
  case and([FetchPredicate])
  /// True when at least one part is; false for an empty list.
  case or([FetchPredicate])
  /// True when the other is false.
  case not(FetchPredicate)

  /// Two expressions and how they compare.
  public struct Comparison: Sendable, Hashable {
    /// The left operand.
    public var left: Expression
    /// The operator.
    public var `operator`: Operator
    /// The right operand.
    public var right: Expression
    /// How strings are compared.
    public var options: Options
    /// Whether the left operand is a single value, or a collection of which any or all elements must match.
    public var modifier: Modifier

    /// A comparison of `left` with `right`.
    public init(
      _ left: Expression, _ operator: Operator, _ right: Expression, options: Options = [],
      modifier: Modifier = .direct
    ) {
      self.left = left
      self.operator = `operator`
      self.right = right
      self.options = options
      self.modifier = modifier
    }
  }

  /// How many elements of a collection must match. Core Data's `NSComparisonPredicate.Modifier`.
  public enum Modifier: String, Sendable, Hashable, CaseIterable {
    /// The left operand is a single value.
    case direct = ""
    /// `ANY` or `SOME`: at least one element. `NONE` is `NOT ANY`.
    case any = "ANY"
    /// `ALL`: every element. True for an empty collection.
    case all = "ALL"
  }

  /// How two expressions compare.
  public enum Operator: String, Sendable, Hashable, CaseIterable {
    /// Equal; nil equals nil.
    case equal = "=="
    /// Not equal.
    case notEqual = "!="
    /// Less than.
    case less = "<"
    /// Less than or equal.
    case lessOrEqual = "<="
    /// Greater than.
    case greater = ">"
    /// Greater than or equal.
    case greaterOrEqual = ">="
    /// Equal to an element of a list or collection.
    case isIn = "IN"
    /// Not less than the first of two and not greater than the second.
    case between = "BETWEEN"
    /// The left string begins with the right.
    case beginsWith = "BEGINSWITH"
    /// The left string ends with the right.
    case endsWith = "ENDSWITH"
    /// The left string or collection contains the right operand.
    case contains = "CONTAINS"
    /// Matches a pattern in which `*` stands for any characters and `?` for one; a backslash escapes them.
    case like = "LIKE"
    /// The whole string matches a regular expression in the syntax of `NSRegularExpression`.
    case matches = "MATCHES"
  }

  /// How strings are compared. Ignored for other values.
  public struct Options: OptionSet, Sendable, Hashable {
    /// Bit 0 for `[c]`, bit 1 for `[d]`, bit 2 for `[n]`, bit 3 for `[l]`.
    public let rawValue: Int
    /// Options with the bits of `rawValue`.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Ignore case: `[c]`.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Ignore diacritics: `[d]`.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// The strings are folded already; compare them as they are, whatever the other options: `[n]`.
    public static let normalized = Options(rawValue: 4)
    /// Use the rules of `Locale.current`: `[l]`. `==`, `<` and the like, `IN` and `BETWEEN` use its collation; the other
    /// operators fold `[c]` and `[d]` by its rules. No index applies, and a comparison takes microseconds.
    public static let localeSensitive = Options(rawValue: 8)
  }
}

extension FetchPredicate {
  /// Compares `left` with `right`.
  public static func comparison(
    _ left: Expression, _ operator: Operator, _ right: Expression, options: Options = []
  ) -> FetchPredicate {
    .comparison(Comparison(left, `operator`, right, options: options))
  }

  /// The value at `path` is `value`.
  public static func equal(_ path: String, _ value: Value, options: Options = []) -> FetchPredicate {
    .comparison(.path(path), .equal, .constant(value), options: options)
  }

  /// The value at `path` isn't `value`.
  public static func notEqual(_ path: String, _ value: Value, options: Options = []) -> FetchPredicate {
    .comparison(.path(path), .notEqual, .constant(value), options: options)
  }

  /// The value at `path` is one of `values`.
  public static func isIn(_ path: String, _ values: [Value], options: Options = []) -> FetchPredicate {
    .comparison(.path(path), .isIn, .constants(values), options: options)
  }

  /// The value at `path` is at least `low` and at most `high`.
  public static func between(_ path: String, _ low: Value, _ high: Value) -> FetchPredicate {
    .comparison(.path(path), .between, .constants([low, high]))
  }

  /// True when both predicates are.
  public static func && (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate { .and([a, b]) }
  /// True when at least one predicate is.
  public static func || (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate { .or([a, b]) }
  /// True when the other predicate is false.
  public static prefix func ! (a: FetchPredicate) -> FetchPredicate { .not(a) }
}

extension FetchPredicate {
  /// Whether the predicate uses this operator at any depth.
  package func uses(_ wanted: Operator) -> Bool {
    switch self {
    case .constant: false
    case .and(let parts), .or(let parts): parts.contains { $0.uses(wanted) }
    case .not(let inner): inner.uses(wanted)
    case .comparison(let comparison):
      comparison.operator == wanted || comparison.left.uses(wanted) || comparison.right.uses(wanted)
    }
  }
}

extension FetchPredicate.Expression {
  fileprivate func uses(_ wanted: FetchPredicate.Operator) -> Bool {
    switch self {
    case .constant, .constants, .keyPath, .evaluatedObject, .variable: false
    case .member(let base, _): base.uses(wanted)
    case .function(_, let arguments): arguments.contains { $0.uses(wanted) }
    case .cast(let inner, _): inner.uses(wanted)
    case .element(let base, .at(let index)): base.uses(wanted) || index.uses(wanted)
    case .element(let base, _): base.uses(wanted)
    case .list(let elements): elements.contains { $0.uses(wanted) }
    case .conditional(let predicate, let first, let second):
      predicate.uses(wanted) || first.uses(wanted) || second.uses(wanted)
    case .subquery(let subquery): subquery.collection.uses(wanted) || subquery.predicate.uses(wanted)
    }
  }
}
