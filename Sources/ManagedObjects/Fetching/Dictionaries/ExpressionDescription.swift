/// A column of a dictionary result that isn't a property as it is: an aggregate, what is computed, or a key path under
/// another name.
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
/// A request can group by such a column, by its name, if it is of one row, and sort by it.
///
/// Source: Core Data's `NSExpressionDescription`.
public struct ExpressionDescription: Sendable, Hashable {
  /// The column's name.
  public var name: String
  /// What stands in it.
  public var expression: Expression
  /// The type of its values; `undefined` for what the expression gives: a count or a sum of whole numbers or booleans is
  /// an integer, an average a double (of decimals a decimal), a least or greatest value is of its attribute's type.
  /// Numbers can be had as any type of number, cut off where that is whole. What is computed is as arithmetic leaves it:
  /// whole or not from row to row.
  public var expressionResultType: AttributeType

  /// A column called `name`.
  public init(_ name: String, _ expression: Expression, expressionResultType: AttributeType = .undefined) {
    self.name = name
    self.expression = expression
    self.expressionResultType = expressionResultType
  }

  /// A column called `name` of what an expression of the predicate language makes of a row, or of a group of rows.
  ///
  /// See ``FetchPredicate/init(format:_:)`` for the language. `sum:(price)`, `count:`, `average:`, `min:` and `max:` of what
  /// is one value for a row are of all rows, or of each group of rows; of a to-many relationship they are of each row's.
  /// - Throws: ``PredicateFormatError`` with the place and what was expected there.
  public init(
    _ name: String, format: String, _ arguments: Any?..., expressionResultType: AttributeType = .undefined
  ) throws(PredicateFormatError) {
    let expression = try FetchPredicate.Expression(
      format: format, arguments: PredicateArgument.arguments(arguments, format: format))
    self.init(name, .computed(expression), expressionResultType: expressionResultType)
  }

  /// What stands in a column.
  public enum Expression: Sendable, Hashable {
    /// The value at a key path over to-one relationships; `objectID` is the object itself.
    case keyPath(String)
    /// One value from the values at a key path of all rows, or of each group of rows. Nil doesn't count.
    case aggregate(Aggregate, String, distinct: Bool = false)
    /// What an expression of the predicate language makes of a row, or of a group of rows; see
    /// ``ExpressionDescription/init(_:format:_:expressionResultType:)``.
    case computed(FetchPredicate.Expression)

    /// How many values there are at the key path; without one, how many objects.
    public static func count(_ keyPath: String = "objectID", distinct: Bool = false) -> Expression {
      .aggregate(.count, keyPath, distinct: distinct)
    }
    /// The sum of numbers; 0 when there are none.
    public static func sum(_ keyPath: String) -> Expression { .aggregate(.sum, keyPath) }
    /// The average of numbers; nil when there are none.
    public static func average(_ keyPath: String) -> Expression { .aggregate(.average, keyPath) }
    /// The least value; nil when there are none.
    public static func minimum(_ keyPath: String) -> Expression { .aggregate(.minimum, keyPath) }
    /// The greatest value; nil when there are none.
    public static func maximum(_ keyPath: String) -> Expression { .aggregate(.maximum, keyPath) }
  }

  /// The functions that make one value of many, by the names that `NSExpression` has for them.
  public enum Aggregate: String, Sendable, Hashable, CaseIterable {
    /// How many values there are.
    case count = "count:"
    /// The sum of numbers.
    case sum = "sum:"
    /// The average of numbers.
    case average = "average:"
    /// The least value.
    case minimum = "min:"
    /// The greatest value.
    case maximum = "max:"
  }
}

/// What a fetch reads: a property of the entity, or an expression.
///
/// A string literal is a property: `["name", "employer.name"]`.
public enum FetchedProperty: Sendable, Hashable, ExpressibleByStringLiteral {
  /// An attribute or to-one relationship, by its name or by a key path over to-one relationships; the column has that
  /// name. A relationship's value is the object's ID.
  case property(String)
  /// An expression, in dictionary results only.
  case expression(ExpressionDescription)

  /// A property by its name.
  public init(stringLiteral value: String) { self = .property(value) }
}
