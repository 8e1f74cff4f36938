import Foundation

extension PredicateExpressions.Equal: SimplyTranslatable {
  var form: TranslatedForm { .comparison(lhs, .equal, rhs) }
}

extension PredicateExpressions.NotEqual: SimplyTranslatable {
  var form: TranslatedForm { .comparison(lhs, .notEqual, rhs) }
}

extension PredicateExpressions.Comparison: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    switch op {
    case .lessThan: return try translation.comparison(lhs, .less, rhs)
    case .lessThanOrEqual: return try translation.comparison(lhs, .lessOrEqual, rhs)
    case .greaterThan: return try translation.comparison(lhs, .greater, rhs)
    case .greaterThanOrEqual: return try translation.comparison(lhs, .greaterOrEqual, rhs)
    @unknown default: throw translation.unsupported(self)
    }
  }
}

extension PredicateExpressions.Conjunction: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .predicate(.and([try translation.predicate(lhs), try translation.predicate(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .predicate(.or([try translation.predicate(lhs), try translation.predicate(rhs)]))
  }
}

extension PredicateExpressions.Negation: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .predicate(.not(try translation.predicate(wrapped)))
  }
}

extension PredicateExpressions.Arithmetic: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    switch op {
    case .add: return try translation.function(.add, [lhs, rhs])
    case .subtract: return try translation.function(.subtract, [lhs, rhs])
    case .multiply: return try translation.function(.multiply, [lhs, rhs])
    @unknown default: throw translation.unsupported(self)
    }
  }
}

extension PredicateExpressions.FloatDivision: SimplyTranslatable {
  var form: TranslatedForm { .function(.divide, [lhs, rhs]) }
}

extension PredicateExpressions.IntDivision: SimplyTranslatable {
  var form: TranslatedForm { .function(.divide, [lhs, rhs]) }
}

extension PredicateExpressions.IntRemainder: SimplyTranslatable {
  var form: TranslatedForm { .function(.modulus, [lhs, rhs]) }
}

extension PredicateExpressions.UnaryMinus: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    let inner = try translation.expression(wrapped)
    // A negative literal arrives as the negation of a positive one.
    if case .constant(let value) = inner {
      return .expression(.constant(FetchPredicate.Function.negate.value(of: [value])))
    }
    return .expression(.function(.negate, [inner]))
  }
}

extension PredicateExpressions.SequenceContains: SimplyTranslatable {
  var form: TranslatedForm { .comparison(element, .isIn, sequence) }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    let found = try translation.subquery(sequence, variable.key, test)
    return .predicate(.comparison(.function(.count, [found]), .greater, .constant(.int(0))))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    let others = try translation.subquery(sequence, variable.key, test, isNegated: true)
    return .predicate(.comparison(.function(.count, [others]), .equal, .constant(.int(0))))
  }
}

extension PredicateExpressions.Filter: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    .expression(try translation.subquery(sequence, variable.key, filter))
  }
}

extension PredicateExpressions.SequenceStartsWith: SimplyTranslatable {
  var form: TranslatedForm { .comparison(base, .beginsWith, prefix) }
}

extension PredicateExpressions.CollectionContainsCollection: SimplyTranslatable {
  var form: TranslatedForm { .comparison(base, .contains, other) }
}

extension PredicateExpressions.RangeExpressionContains: TranslatablePredicateExpression {
  func translated(_ translation: inout PredicateTranslation) throws(TypedPredicateError) -> TranslatedExpression {
    try translation.contains(range, element)
  }
}

extension PredicateExpressions.SequenceMaximum: SimplyTranslatable {
  var form: TranslatedForm { .function(.maximum, [elements]) }
}

extension PredicateExpressions.SequenceMinimum: SimplyTranslatable {
  var form: TranslatedForm { .function(.minimum, [elements]) }
}
