/// A predicate bound to an entity: names are properties and slots, constants have their property's type, and constant
/// strings compared with `[c]` or `[d]` are folded. All evaluators work from this form. Made by
/// ``FetchPredicate/resolved(in:)``.
package indirect enum ResolvedPredicate: Sendable {
  /// True for every object, or for none.
  case constant(Bool)
  /// Compares two values. A constant is on the right; a comparison of two constants was evaluated on resolving.
  case compare(ResolvedExpression, Relation, ResolvedExpression, FetchPredicate.Options)
  /// The value is one of a list.
  case isIn(ResolvedExpression, ResolvedList, FetchPredicate.Options)
  /// One string begins with, ends with or contains the other.
  case text(ResolvedExpression, TextOperator, ResolvedExpression, FetchPredicate.Options)
  /// The string is like a pattern.
  case like(ResolvedExpression, LikePattern, FetchPredicate.Options)
  /// The whole string matches a regular expression.
  case matches(ResolvedExpression, WholeMatch)
  /// The predicate is true for at least one object of the collection.
  case exists(ResolvedCollection, ResolvedPredicate)
  case and([ResolvedPredicate])
  case or([ResolvedPredicate])
  case not(ResolvedPredicate)

  /// How two values compare.
  package enum Relation: Sendable, Hashable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The relation with its sides swapped.
    package var flipped: Relation {
      switch self {
      case .equal, .notEqual: return self
      case .less: return .greater
      case .lessOrEqual: return .greaterOrEqual
      case .greater: return .less
      case .greaterOrEqual: return .lessOrEqual
      }
    }
  }

  /// Where one string occurs in another.
  package enum TextOperator: Sendable, Hashable {
    case beginsWith, endsWith, contains
  }
}

/// The right side of `IN`: its values as a set to search, and in their order.
package struct ResolvedList: Sendable {
  /// The values without nil, each of the property's type.
  package let values: [Value]
  /// Whether nil is among them.
  package let containsNull: Bool
  private let keys: Set<Value>

  init(_ all: [Value]) {
    values = all.filter { !$0.comparisonKey.isNull }
    containsNull = values.count < all.count
    keys = Set(values.map(\.comparisonKey))
  }

  /// Whether `value` is one of them.
  package func contains(_ value: Value) -> Bool {
    let key = value.comparisonKey
    if key.isNull { return containsNull }
    return keys.contains(key)
  }
}
