/// A column of a dictionary result other than a plain property: an aggregate, a computation, or a renamed key path.
///
/// ```swift
/// var request = FetchRequest<Person>(entityName: "Person")
/// request.propertiesToGroupBy = ["employer.name"]
/// request.propertiesToFetch = [
///   "employer.name", .expression(ExpressionDescription("oldest", .maximum("age"))),
///   .expression(try ExpressionDescription("spread", format: "max:(age) - min:(age)")),
/// ]
/// ```
///
/// A request can sort by such a column by name, and group by it if it doesn't aggregate.
///
/// Source: Core Data's `NSExpressionDescription`.
public struct ExpressionDescription: Sendable, Hashable {
  /// The column's name.
  public var name: String
  /// The column's content.
  public var expression: Expression
  /// The type of the values; `undefined` for the expression's own type: counts, and sums of whole numbers or booleans, are
  /// integers, an average is a double (a decimal for decimals), a minimum or maximum has its attribute's type. Numbers convert
  /// to any numeric type, truncating to whole ones. The result of arithmetic may be whole or fractional from row to row.
  public var expressionResultType: AttributeType

  /// A column called `name`.
  public init(_ name: String, _ expression: Expression, expressionResultType: AttributeType = .undefined) {
    self.name = name
    self.expression = expression
    self.expressionResultType = expressionResultType
  }

  /// A column called `name` computed from a row, or a group of rows, by an expression of the predicate language.
  ///
  /// See ``FetchPredicate/init(format:_:)`` for the language. `sum:(price)`, `count:`, `average:`, `min:` and `max:` of a value
  /// per row aggregate all rows, or each group; of a to-many relationship they aggregate per row.
  /// - Throws: ``PredicateFormatError`` with the position and what was expected there.
  public init(
    _ name: String, format: String, _ arguments: Any?..., expressionResultType: AttributeType = .undefined
  ) throws(PredicateFormatError) {
    let expression = try FetchPredicate.Expression(
      format: format, arguments: PredicateArgument.arguments(arguments, format: format))
    self.init(name, .computed(expression), expressionResultType: expressionResultType)
  }

  /// The content of a column.
  public enum Expression: Sendable, Hashable {
    /// The value at a key path over to-one relationships; `objectID` is the object itself.
    case keyPath(String)
    /// An aggregate of the values at a key path over all rows, or over each group. Ignores nil.
    case aggregate(Aggregate, String, distinct: Bool = false)
    /// An expression of the predicate language over a row, or a group of rows; see
    /// ``ExpressionDescription/init(_:format:_:expressionResultType:)``.
    case computed(FetchPredicate.Expression)

    /// The number of values at the key path; without one, the number of objects.
    public static func count(_ keyPath: String = "objectID", distinct: Bool = false) -> Expression {
      .aggregate(.count, keyPath, distinct: distinct)
    }
    /// The sum of numbers; 0 if there are none.
    public static func sum(_ keyPath: String) -> Expression { .aggregate(.sum, keyPath) }
    /// The average of numbers; nil if there are none.
    public static func average(_ keyPath: String) -> Expression { .aggregate(.average, keyPath) }
    /// The minimum; nil if there are no values.
    public static func minimum(_ keyPath: String) -> Expression { .aggregate(.minimum, keyPath) }
    /// The maximum; nil if there are no values.
    public static func maximum(_ keyPath: String) -> Expression { .aggregate(.maximum, keyPath) }
  }

  /// The aggregate functions, under `NSExpression`'s names.
  public enum Aggregate: String, Sendable, Hashable, CaseIterable {
    /// The number of values.
    case count = "count:"
    /// The sum of numbers.
    case sum = "sum:"
    /// The average of numbers.
    case average = "average:"
    /// The minimum.
    case minimum = "min:"
    /// The maximum.
    case maximum = "max:"
  }
}

/// A column of a fetch: a property of the entity, or an expression.
///
/// A string literal is a property: `["name", "employer.name"]`.
public enum FetchedProperty: Sendable, Hashable, ExpressibleByStringLiteral {
  /// An attribute or to-one relationship, by its name or by a key path over to-one relationships, which names the column. A
  /// relationship's value is the object's ID.
  case property(String)
  /// An expression, in dictionary results only.
  case expression(ExpressionDescription)

  /// A property by its name.
  public init(stringLiteral value: String) { self = .property(value) }
}
