import Foundation

/// A node of a `#Predicate` that has an equivalent in ``FetchPredicate``.
protocol TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression
}

/// A node that is a comparison or function of other nodes.
protocol SimplyTranslatable: TranslatablePredicateExpression {
  var form: TranslatedForm { get }
}

enum TranslatedForm {
  case comparison(Any, FetchPredicate.Operator, Any)
  case function(FetchPredicate.Function, [Any])
}

extension SimplyTranslatable {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    switch form {
    case .comparison(let left, let operation, let right): return try translation.comparison(left, operation, right)
    case .function(let function, let arguments): return try translation.function(function, arguments)
    }
  }
}

/// The translation of a node.
enum TranslatedExpression {
  case predicate(FetchPredicate)
  case expression(FetchPredicate.Expression)
  /// The bounds of a range, the upper one included or not.
  case range(FetchPredicate.Expression, FetchPredicate.Expression, isClosed: Bool)
}

/// Walks the tree of a `#Predicate`.
struct PredicateTranslation {
  /// The values of variables.
  var bindings: [PredicateExpressions.VariableID: FetchPredicate.Expression] = [:]
  private var count = 0

  func unsupported(_ any: Any) -> TypedPredicateError {
    let name = String(describing: type(of: any)).prefix { $0 != "<" }
    return .unsupported("\(name) in a #Predicate")
  }

  private mutating func translate(_ any: Any) throws(TypedPredicateError) -> TranslatedExpression {
    guard let known = any as? any TranslatablePredicateExpression else { throw unsupported(any) }
    return try known.translated(&self)
  }

  /// The node as a condition: a boolean must be true.
  mutating func predicate(_ any: Any) throws(TypedPredicateError) -> FetchPredicate {
    switch try translate(any) {
    case .predicate(let predicate): return predicate
    case .expression(.constant(.bool(let holds))): return .constant(holds)
    case .expression(let expression): return .comparison(expression, .equal, .constant(.bool(true)))
    case .range: throw unsupported(any)
    }
  }

  /// The node as a value: a condition becomes a boolean.
  mutating func expression(_ any: Any) throws(TypedPredicateError) -> FetchPredicate.Expression {
    switch try translate(any) {
    case .expression(let expression): return expression
    case .predicate(let predicate):
      return .conditional(predicate, then: .constant(.bool(true)), otherwise: .constant(.bool(false)))
    case .range: throw unsupported(any)
    }
  }

  mutating func comparison(
    _ left: Any, _ operation: FetchPredicate.Operator, _ right: Any
  ) throws(TypedPredicateError) -> TranslatedExpression {
    .predicate(.comparison(try expression(left), operation, try expression(right)))
  }

  mutating func function(
    _ function: FetchPredicate.Function, _ arguments: [Any]
  ) throws(TypedPredicateError) -> TranslatedExpression {
    var list: [FetchPredicate.Expression] = []
    for argument in arguments { list.append(try expression(argument)) }
    return .expression(.function(function, list))
  }

  /// The objects of a collection that pass a test.
  mutating func subquery(
    _ sequence: Any, _ variable: PredicateExpressions.VariableID, _ test: Any, isNegated: Bool = false
  ) throws(TypedPredicateError) -> FetchPredicate.Expression {
    let collection = try expression(sequence)
    count += 1
    let name = "v\(count)"
    bindings[variable] = .variable(name)
    let predicate = try predicate(test)
    return .subquery(.init(collection, variable: name, predicate: isNegated ? .not(predicate) : predicate))
  }

  /// The condition that a value lies in a range.
  mutating func contains(_ range: Any, _ element: Any) throws(TypedPredicateError) -> TranslatedExpression {
    let value = try expression(element)
    guard case .range(let low, let high, let isClosed) = try translate(range) else { throw unsupported(range) }
    return .predicate(
      .and([.comparison(value, .greaterOrEqual, low), .comparison(value, isClosed ? .lessOrEqual : .less, high)]))
  }
}

/// Why a `#Predicate` or a Swift key path can't be evaluated by a store.
public enum TypedPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key path isn't a path of properties: it belongs to no managed object class, to a class that doesn't name its slots,
  /// or is computed from several properties.
  case noProperty(String)
  /// A part of the predicate that no store can evaluate.
  case unsupported(String)
  /// A value of a type that no property has.
  case value(type: String)

  /// What is refused, and what to do instead.
  public var description: String {
    switch self {
    case .noProperty(let path):
      return
        "\(path) isn't a stored property of a managed object's class: override propertyNames, or name it in "
        + "keyPathNames; for a class with generated accessors make its model first"
    case .unsupported(let part): return "\(part) can't be asked of a store: fetch with the rest and look at the objects"
    case .value(let type): return "a \(type) can't be compared with any property"
    }
  }
}
