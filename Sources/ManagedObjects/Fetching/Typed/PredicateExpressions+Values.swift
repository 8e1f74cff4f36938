import Foundation
import OrderedCollections

extension PredicateExpressions.Variable: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    guard let bound = translation.bindings[key] else { throw .unsupported("a variable of another predicate") }
    return .expression(bound)
  }
}

extension PredicateExpressions.Value: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    if let range = value as? any TranslatableRange { return try range.translated() }
    switch PredicateArgument(value) {
    case .value(let value): return .expression(.constant(value))
    case .list(let values): return .expression(.constants(values))
    case nil: throw .value(type: "\(Output.self)")
    }
  }
}

/// A captured range of values.
private protocol TranslatableRange {
  func translated() throws(TypedPredicateError) -> TranslatedExpression
}

private func constant(_ any: Any) throws(TypedPredicateError) -> FetchPredicate.Expression {
  guard case .value(let value)? = PredicateArgument(any) else { throw .value(type: "\(type(of: any))") }
  return .constant(value)
}

extension Range: TranslatableRange {
  fileprivate func translated() throws(TypedPredicateError) -> TranslatedExpression {
    .range(try constant(lowerBound), try constant(upperBound), isClosed: false)
  }
}

extension ClosedRange: TranslatableRange {
  fileprivate func translated() throws(TypedPredicateError) -> TranslatedExpression {
    .range(try constant(lowerBound), try constant(upperBound), isClosed: true)
  }
}

extension PredicateExpressions.NilLiteral: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) -> TranslatedExpression { .expression(.constant(.null)) }
}

extension PredicateExpressions.KeyPath: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    let root = try translation.expression(root)
    if let kind {
      switch (kind, Root.Output.self) {
      case (.collectionCount, let type) where type is String.Type:
        throw .unsupported("the count of a string's characters")
      case (.collectionCount, _): return .expression(.function(.count, [root]))
      case (.collectionIsEmpty, let type) where type is String.Type:
        return .predicate(.comparison(root, .equal, .constant(.string(""))))
      case (.collectionIsEmpty, _):
        return .predicate(.comparison(.function(.count, [root]), .equal, .constant(.int(0))))
      case (.collectionFirst, let type) where !(type is String.Type):
        return .expression(.element(of: root, at: .first))
      case (.bidirectionalCollectionLast, let type) where !(type is String.Type):
        return .expression(.element(of: root, at: .last))
      default: throw .unsupported("the first or last of a string's characters")
      }
    }
    if let ordered = Root.Output.self as? any OrderedParts.Type, let part = ordered.part(keyPath, of: root) {
      return part
    }
    let names = try KeyPathNames.names(of: keyPath)
    switch root {
    case .evaluatedObject: return .expression(.keyPath(names))
    case .keyPath(let first): return .expression(.keyPath(first + names))
    case .member(let base, let first): return .expression(.member(of: base, first + names))
    default: return .expression(.member(of: root, names))
    }
  }
}

/// Properties of ordered sets that aren't those of `Collection`.
private protocol OrderedParts {
  static func part(_ keyPath: AnyKeyPath, of root: FetchPredicate.Expression) -> TranslatedExpression?
}

extension OrderedSet: OrderedParts {
  fileprivate static func part(
    _ keyPath: AnyKeyPath, of root: FetchPredicate.Expression
  ) -> TranslatedExpression? {
    if keyPath == \Self.first { return .expression(.element(of: root, at: .first)) }
    if keyPath == \Self.last { return .expression(.element(of: root, at: .last)) }
    let count = FetchPredicate.Expression.function(.count, [root])
    if keyPath == \Self.count { return .expression(count) }
    if keyPath == \Self.isEmpty { return .predicate(.comparison(count, .equal, .constant(.int(0)))) }
    return nil
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .expression(.element(of: try translation.expression(wrapped), at: .at(try translation.expression(index))))
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatablePredicateExpression {
  /// Optional chaining: in a store, too, a nil on the way makes the result nil.
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    let inner = try translation.expression(wrapped)
    translation.bindings[variable.key] = inner
    let result = try translation.expression(transform)
    // Unlike in Swift, a condition on nil or a sum with nil isn't nil here.
    switch result {
    case .keyPath, .member, .evaluatedObject, .variable: return .expression(result)
    default:
      return .expression(
        .conditional(.comparison(inner, .notEqual, .constant(.null)), then: result, otherwise: .constant(.null)))
    }
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .expression(try translation.expression(inner))
  }
}

extension PredicateExpressions.NilCoalesce: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    let value = try translation.expression(lhs)
    let other = try translation.expression(rhs)
    return .expression(
      .conditional(.comparison(value, .notEqual, .constant(.null)), then: value, otherwise: other))
  }
}

extension PredicateExpressions.Conditional: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .expression(
      .conditional(
        try translation.predicate(test), then: try translation.expression(trueBranch),
        otherwise: try translation.expression(falseBranch)))
  }
}

extension PredicateExpressions.Range: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .range(try translation.expression(lower), try translation.expression(upper), isClosed: false)
  }
}

extension PredicateExpressions.ClosedRange: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .range(try translation.expression(lower), try translation.expression(upper), isClosed: true)
  }
}
