extension FetchPredicate {
  /// An operand: a constant, a key path or a computation. Core Data's `NSExpression`.
  ///
  /// ```swift
  /// try FetchPredicate.Expression(format: "price * (1 + tax)")
  /// FetchPredicate.Expression.function(.multiply, [.path("price"), .constant(.double(1.2))])
  /// ```
  public indirect enum Expression: Sendable, Hashable {
    /// One value.
    case constant(Value)
    /// Several values, for `IN` and `BETWEEN`.
    case constants([Value])
    /// A path of property names from the object to a value: `country.name`. Through a to-many relationship it leads to a
    /// collection, and may contain the operators of Key-Value Coding, `@count`, `@sum`, `@avg`, `@min`, `@max`,
    /// `@unionOfObjects` and `@distinctUnionOfObjects`: `employees.@sum.salary`.
    case keyPath([String])
    /// The object itself: `SELF`.
    case evaluatedObject
    /// A subquery's element, or a value supplied by ``FetchPredicate/withSubstitutionVariables(_:)``: `$name`.
    case variable(String)
    /// A key path that starts at another expression: `$person.name`, `SUBQUERY(…).@count`.
    case member(of: Expression, [String])
    /// A function call: `price * 2`, `lowercase:(name)`.
    case function(Function, [Expression])
    /// A conversion to another type: `CAST(born, "NSNumber")`.
    case cast(Expression, to: CastType)
    /// An element of an ordered relationship or list, nil if the index is out of range: `tracks[FIRST]`.
    case element(of: Expression, at: Index)
    /// Several expressions, for `IN` and `BETWEEN` and for aggregates: `{first, second}`.
    case list([Expression])
    /// The objects of a collection that match a predicate.
    case subquery(Subquery)
    /// One expression if the predicate is true, the other if not: `TERNARY(isCapital == TRUE, 1, 0)`.
    case conditional(FetchPredicate, then: Expression, otherwise: Expression)

    /// The key path for a dotted path. `SELF` is the object itself; a path that begins with `$` starts at a variable.
    public static func path(_ path: String) -> Expression {
      var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      if let first = names.first, first.hasPrefix("$"), first.count > 1 {
        let variable = Expression.variable(String(first.dropFirst()))
        return names.count == 1 ? variable : .member(of: variable, Array(names.dropFirst()))
      }
      if names.first?.uppercased() == "SELF" { names.removeFirst() }
      return names.isEmpty ? .evaluatedObject : .keyPath(names)
    }
  }

  /// The objects of a collection that match a predicate: Core Data's `SUBQUERY(collection, $variable, predicate)`.
  ///
  /// In the predicate the variable is an object of the collection; `SELF` and plain key paths refer to the outer object.
  public struct Subquery: Sendable, Hashable {
    /// The collection: a key path over a to-many relationship, or another subquery.
    public var collection: Expression
    /// The variable's name, without the dollar sign.
    public var variable: String
    /// The condition on each object.
    public var predicate: FetchPredicate

    /// A subquery.
    public init(_ collection: Expression, variable: String, predicate: FetchPredicate) {
      self.collection = collection
      self.variable = variable
      self.predicate = predicate
    }
  }

  /// The position of an element: what `NSExpression` writes between brackets.
  public enum Index: Sendable, Hashable {
    /// `[FIRST]`
    case first
    /// `[LAST]`
    case last
    /// A whole number from 0, which may be a variable until the predicate is used.
    case at(Expression)
  }

  /// The target of a cast: the class names that `CAST` takes.
  public enum CastType: String, Sendable, Hashable, CaseIterable {
    /// A date, from seconds since 2001-01-01 00:00:00Z or from ISO 8601 text.
    case date = "NSDate"
    /// A double; for a date, the seconds since 2001-01-01 00:00:00Z.
    case number = "NSNumber"
    /// A decimal number.
    case decimal = "NSDecimalNumber"
    /// Text: a number's digits, or a date in ISO 8601.
    case string = "NSString"
  }
}

extension FetchPredicate.Expression {
  /// An aggregate of the values at `path`, which crosses a to-many relationship.
  public static func aggregate(_ function: FetchPredicate.Function, _ path: String) -> Self {
    .function(function, [.path(path)])
  }

  /// The objects of the collection at `path` that match `predicate`, which calls them `$variable`.
  public static func subquery(_ path: String, _ variable: String, _ predicate: FetchPredicate) -> Self {
    .subquery(FetchPredicate.Subquery(.path(path), variable: variable, predicate: predicate))
  }

  /// The sum.
  public static func + (a: Self, b: Self) -> Self { .function(.add, [a, b]) }
  /// The difference.
  public static func - (a: Self, b: Self) -> Self { .function(.subtract, [a, b]) }
  /// The product.
  public static func * (a: Self, b: Self) -> Self { .function(.multiply, [a, b]) }
  /// The quotient; truncated towards zero for integers.
  public static func / (a: Self, b: Self) -> Self { .function(.divide, [a, b]) }
  /// The negated number.
  public static prefix func - (a: Self) -> Self { .function(.negate, [a]) }
}
