/// A predicate bound to an entity: names have become properties and slots, constants have their property's type, and
/// strings that are compared with `[c]` or `[d]` are folded. What both evaluators work from; made by
/// ``FetchPredicate/resolved(in:)``.
package indirect enum ResolvedPredicate: Sendable {
  /// Holds for every object, or for none.
  case constant(Bool)
  /// Compares two values. A constant stands right; if both are constants, they were compared already.
  case compare(ResolvedExpression, Relation, ResolvedExpression, FetchPredicate.Options)
  /// The value is one of a list.
  case isIn(ResolvedExpression, ResolvedList, FetchPredicate.Options)
  /// One string begins with, ends with or contains the other.
  case text(ResolvedExpression, TextOperator, ResolvedExpression, FetchPredicate.Options)
  /// The string is like a pattern.
  case like(ResolvedExpression, LikePattern, FetchPredicate.Options)
  /// The string is matched as a whole.
  case matches(ResolvedExpression, WholeMatch)
  /// The predicate holds for one object of the collection at least.
  case exists(ResolvedCollection, ResolvedPredicate)
  case and([ResolvedPredicate])
  case or([ResolvedPredicate])
  case not(ResolvedPredicate)

  /// How two values compare.
  package enum Relation: Sendable, Hashable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The relation with its sides exchanged.
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

  /// How a string lies in another.
  package enum TextOperator: Sendable, Hashable {
    case beginsWith, endsWith, contains
  }
}
