/// A predicate bound to an entity: names have become properties and slots, constants have their property's type, and
/// strings that are compared with `[c]` or `[d]` are folded. What both evaluators work from; made by
/// ``FetchPredicate/resolved(in:)``.
package indirect enum ResolvedPredicate: Sendable {
  /// Holds for every object, or for none.
  case constant(Bool)
  /// Compares a value with another; the left one is a path.
  case compare(ResolvedPath, Relation, ResolvedOperand, FetchPredicate.Options)
  /// The value is one of a list.
  case isIn(ResolvedPath, ResolvedList, FetchPredicate.Options)
  /// One string begins with, ends with or contains the other; at least one is a path.
  case text(ResolvedOperand, TextOperator, ResolvedOperand, FetchPredicate.Options)
  /// The string is like a pattern.
  case like(ResolvedPath, LikePattern, FetchPredicate.Options)
  /// The string is matched as a whole.
  case matches(ResolvedPath, WholeMatch)
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

/// One side of a comparison.
package enum ResolvedOperand: Sendable, Hashable {
  case constant(Value)
  case path(ResolvedPath)
}

/// The way from an object to a value.
package struct ResolvedPath: Sendable, Hashable {
  /// Where a path ends.
  package enum End: Sendable, Hashable {
    case attribute(AttributeDescription)
    /// A to-one relationship: the ID of the object at its other end.
    case relationship(RelationshipDescription)
    /// The object itself: its ID.
    case objectID(EntityDescription)
  }

  /// To-one relationships to go along first, in order.
  package let steps: [RelationshipDescription]
  /// What is read from the object reached.
  package let end: End

  /// Whether it ends at an object itself.
  var isSelf: Bool {
    if case .objectID = end { return true }
    return false
  }

  /// The path as it would be written.
  package var text: String { (steps.map(\.name) + [endName]).joined(separator: ".") }

  private var endName: String {
    switch end {
    case .attribute(let attribute): return attribute.name
    case .relationship(let relationship): return relationship.name
    case .objectID: return "objectID"
    }
  }

  /// What the values are.
  package var kind: ValueKind {
    switch end {
    case .attribute(let attribute): return ValueKind(attribute.type)
    case .relationship, .objectID: return .object
    }
  }
}

/// Types whose values can be compared with each other.
package enum ValueKind: String, Sendable, Hashable {
  case number = "a number"
  case string = "a string"
  case date = "a date"
  case uuid = "a UUID"
  case uri = "a URI"
  case data = "binary data"
  case object = "an object"
  /// Composites and undefined attributes: only nil can be asked for.
  case opaque = "a value of no simple type"

  /// The kind of an attribute's values.
  package init(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: self = .number
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .binaryData, .transformable: self = .data
    case .objectID: self = .object
    case .composite, .undefined: self = .opaque
    }
  }

  /// The kind of a constant, nil for nil.
  init?(_ value: Value) {
    switch value {
    case .null, .unresolved, .objects, .orderedObjects, .composite: return nil
    case .bool, .int, .double, .decimal: self = .number
    case .string: self = .string
    case .date: self = .date
    case .data: self = .data
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .object: self = .object
    }
  }

  /// Whether `<` and its like make sense.
  var isOrdered: Bool {
    switch self {
    case .number, .string, .date, .uuid, .uri: return true
    case .data, .object, .opaque: return false
    }
  }
}
