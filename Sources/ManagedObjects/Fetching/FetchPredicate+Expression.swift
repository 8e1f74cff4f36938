extension FetchPredicate {
  /// What is compared: a value, a way to one, or what is computed from others. Core Data's `NSExpression`.
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
    /// Names of properties that lead from the object to a value: `country.name`. Over a to-many relationship they lead
    /// to a collection, and `@count`, `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects` and `@distinctUnionOfObjects` may
    /// stand among them as in Key-Value Coding: `employees.@sum.salary`.
    case keyPath([String])
    /// The object itself: `SELF`.
    case evaluatedObject
    /// What a subquery goes through, or a value to be given by ``FetchPredicate/withSubstitutionVariables(_:)``: `$name`.
    case variable(String)
    /// Names that lead on from what the expression is: `$person.name`, `SUBQUERY(…).@count`.
    case member(of: Expression, [String])
    /// What a function makes of its arguments: `price * 2`, `lowercase:(name)`.
    case function(Function, [Expression])
    /// The value as one of another type: `CAST(born, "NSNumber")`.
    case cast(Expression, to: CastType)
    /// One of a collection with an order, an ordered relationship or a list, nil where there is none: `tracks[FIRST]`.
    case element(of: Expression, at: Index)
    /// Several expressions, for `IN` and `BETWEEN` and for aggregates: `{first, second}`.
    case list([Expression])
    /// The objects of a collection for which a predicate holds.
    case subquery(Subquery)
    /// One expression if the predicate holds, the other if not: `TERNARY(isCapital == TRUE, 1, 0)`.
    case conditional(FetchPredicate, then: Expression, otherwise: Expression)

    /// The key path that `path` writes with dots. `SELF` is the object itself; a path that begins with `$` leads on from a
    /// variable.
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

  /// The objects of a collection for which a predicate holds: Core Data's `SUBQUERY(collection, $variable, predicate)`.
  ///
  /// In the predicate the variable is one object of the collection, and `SELF` and key paths are those of the object
  /// outside.
  public struct Subquery: Sendable, Hashable {
    /// What is gone through: a key path over a to-many relationship, or another subquery.
    public var collection: Expression
    /// The variable's name, without the dollar sign.
    public var variable: String
    /// What must hold for an object to be in it.
    public var predicate: FetchPredicate

    /// A subquery.
    public init(_ collection: Expression, variable: String, predicate: FetchPredicate) {
      self.collection = collection
      self.variable = variable
      self.predicate = predicate
    }
  }

  /// Where an element stands: what `NSExpression` writes between brackets.
  public enum Index: Sendable, Hashable {
    /// `[FIRST]`
    case first
    /// `[LAST]`
    case last
    /// A whole number, from 0, which may be a variable until the predicate is used.
    case at(Expression)
  }

  /// What values can be cast to: the class names that `CAST` takes.
  public enum CastType: String, Sendable, Hashable, CaseIterable {
    /// A date, of seconds since 2001-01-01 00:00:00Z or of ISO 8601 text.
    case date = "NSDate"
    /// A double; of a date the seconds since 2001-01-01 00:00:00Z.
    case number = "NSNumber"
    /// A decimal number.
    case decimal = "NSDecimalNumber"
    /// Text: of a number its digits, of a date ISO 8601.
    case string = "NSString"
  }
}

extension FetchPredicate.Expression {
  /// An aggregate of what `path` leads to over a to-many relationship.
  public static func aggregate(_ function: FetchPredicate.Function, _ path: String) -> Self {
    .function(function, [.path(path)])
  }

  /// The objects of the collection at `path` for which `predicate` holds, in which they are called `$variable`.
  public static func subquery(_ path: String, _ variable: String, _ predicate: FetchPredicate) -> Self {
    .subquery(FetchPredicate.Subquery(.path(path), variable: variable, predicate: predicate))
  }

  /// The sum.
  public static func + (a: Self, b: Self) -> Self { .function(.add, [a, b]) }
  /// The difference.
  public static func - (a: Self, b: Self) -> Self { .function(.subtract, [a, b]) }
  /// The product.
  public static func * (a: Self, b: Self) -> Self { .function(.multiply, [a, b]) }
  /// The quotient; of integers cut towards zero.
  public static func / (a: Self, b: Self) -> Self { .function(.divide, [a, b]) }
  /// The number with its sign changed.
  public static prefix func - (a: Self) -> Self { .function(.negate, [a]) }
}
