/// Why a predicate or sort descriptor doesn't fit the entity it is used with.
public enum FetchPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The entity has no property of that name. Carries the nearest name, if one is close, and all names.
  case unknownProperty(name: String, entity: String, nearest: String?, known: [String])
  /// The key path continues after a property that isn't a to-one relationship.
  case notTraversable(path: String, name: String, entity: String, isToMany: Bool)
  /// The property is of a kind that can't be used there.
  case notComparable(property: String, type: String, operation: String)
  /// The constant doesn't fit the property.
  case mismatch(property: String, type: String, value: String, expected: String)
  /// The two sides are of different kinds.
  case differentKinds(left: String, right: String)
  /// The operator needs something else on one side.
  case badOperand(operation: String, expected: String, found: String)
  /// A variable that no subquery defines and that was given no value.
  case unboundVariable(String)
  /// A construct that no store can evaluate, with an alternative.
  case unsupported(part: String, hint: String)
  /// The regular expression can't be used.
  case badPattern(String)

  /// What doesn't fit, and what would.
  public var description: String {
    switch self {
    case .unknownProperty(let name, let entity, let nearest, let known):
      if let nearest { return "\(entity) has no property \(name); did you mean \(nearest)?" }
      return "\(entity) has no property \(name); it has \(known.isEmpty ? "none" : known.joined(separator: ", "))"
    case .notTraversable(let path, let name, let entity, let isToMany):
      return isToMany
        ? "the key path \(path) leads over \(entity).\(name), a to-many relationship, which can't be compared: "
          + "use ANY, ALL, IN, SUBQUERY or @count"
        : "the key path \(path) goes on behind \(entity).\(name), which isn't a relationship"
    case .notComparable(let property, let type, let operation):
      return "\(property) is \(type), which \(operation) can't be used with"
    case .mismatch(let property, let type, let value, let expected):
      return "\(property) is \(type): compare it with \(expected), not with \(value)"
    case .differentKinds(let left, let right): return "\(left) can't be compared with \(right)"
    case .badOperand(let operation, let expected, let found): return "\(operation) needs \(expected), not \(found)"
    case .unboundVariable(let name):
      return "$\(name) has no value: give it one with withSubstitutionVariables, or name it in a SUBQUERY"
    case .unsupported(let part, let hint): return "\(part) isn't supported: \(hint)"
    case .badPattern(let pattern): return "\(pattern.debugDescription) isn't a regular expression"
    }
  }
}
