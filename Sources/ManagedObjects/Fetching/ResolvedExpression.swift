/// An expression bound to an entity, as ``ResolvedPredicate`` is. Constants have been computed.
package indirect enum ResolvedExpression: Sendable {
  case constant(Value)
  case path(ResolvedPath)
  /// A function of one value or two; or an aggregate of the values that are listed.
  case call(FetchPredicate.Function, [ResolvedExpression])
  /// The value as one of another type.
  case cast(ResolvedExpression, FetchPredicate.CastType)
  /// An aggregate of a value of each object in a collection; of the objects themselves, if there is no value.
  case aggregate(FetchPredicate.Function, ResolvedCollection, ResolvedExpression?)
  case conditional(ResolvedPredicate, ResolvedExpression, ResolvedExpression)
  /// A value of one of the objects in an ordered collection; nil if there is none at that place.
  case element(ResolvedCollection, ResolvedIndex, ResolvedExpression)
}

/// A place in an order.
package enum ResolvedIndex: Sendable, Hashable {
  /// From 0.
  case at(Int)
  case last

  /// What stands there.
  func element<Element>(of list: some RandomAccessCollection<Element>) -> Element? {
    switch self {
    case .last: return list.last
    case .at(let offset):
      guard list.indices.count > offset, offset >= 0 else { return nil }
      return list[list.index(list.startIndex, offsetBy: offset)]
    }
  }
}

/// Objects reached over at least one to-many relationship, each of them once.
package struct ResolvedCollection: Sendable {
  /// One part of the way.
  package enum Link: Sendable {
    /// On to the objects at the other end.
    case step(RelationshipDescription)
    /// Only with those for which the predicate holds.
    case filter(ResolvedPredicate)
  }

  /// Where the way begins; see ``ResolvedPath/origin``.
  package let origin: Int
  /// The to-one relationships that come first.
  package let start: [RelationshipDescription]
  /// From the first to-many relationship on.
  package var links: [Link]
  /// What stands for an object of the collection as the origin of paths: one more than the number of collections that
  /// enclose this one.
  package let number: Int
  /// The entity of the objects.
  package var entity: EntityDescription
  /// Whether equal values count once in an aggregate.
  package var isDistinct = false

  /// The relationships gone along behind the start.
  package var steps: [RelationshipDescription] {
    links.compactMap { link in
      if case .step(let relationship) = link { return relationship }
      return nil
    }
  }
}

extension ResolvedExpression {
  /// What the values are; nil for nil.
  package var kind: ValueKind? {
    switch self {
    case .constant(let value): return ValueKind(value)
    case .path(let path): return path.kind
    case .cast(_, let type):
      switch type {
      case .date: return .date
      case .string: return .string
      case .number, .decimal: return .number
      }
    case .conditional(_, let first, let second): return first.kind ?? second.kind
    case .element(_, _, let value): return value.kind
    case .aggregate(let function, _, let value):
      return function == .minimum || function == .maximum ? value?.kind : .number
    case .call(let function, let arguments): return Self.kind(function, arguments)
    }
  }

  private static func kind(_ function: FetchPredicate.Function, _ arguments: [ResolvedExpression]) -> ValueKind? {
    switch function {
    case .lowercase, .uppercase, .canonical: return .string
    case .now: return .date
    case .minimum, .maximum: return arguments.lazy.compactMap(\.kind).first
    case .add: return arguments.contains { $0.kind == .date } ? .date : .number
    case .subtract:
      return arguments.first?.kind == .date && arguments.last?.kind != .date ? .date : .number
    default: return .number
    }
  }

  /// Whether the values are decimal numbers, which are computed with as such.
  package var isDecimal: Bool {
    switch self {
    case .constant(.decimal): return true
    case .constant: return false
    case .path(let path):
      if case .attribute(let attribute) = path.end { return attribute.type == .decimal }
      return false
    case .cast(_, let type): return type == .decimal
    case .conditional(_, let first, let second): return first.isDecimal || second.isDecimal
    case .element(_, _, let value): return value.isDecimal
    case .aggregate(let function, _, let value):
      return function != .count && value?.isDecimal == true
    case .call(let function, let arguments):
      switch function {
      case .add, .subtract, .multiply, .divide, .modulus, .negate, .absolute, .ceiling, .floor, .truncate, .sum,
        .minimum, .maximum, .average:
        return arguments.contains(where: \.isDecimal)
      default: return false
      }
    }
  }

  /// The hierarchy of the objects whose IDs the values are, nil if that isn't known.
  package var objectRoot: EntityDescription? {
    switch self {
    case .constant(.object(let id)): return id.entity.rootEntity
    case .path(let path): return path.objectEntity?.rootEntity
    case .conditional(_, let first, let second): return first.objectRoot ?? second.objectRoot
    case .element(_, _, let value): return value.objectRoot
    case .constant, .call, .cast, .aggregate: return nil
    }
  }

  /// Whether `<` and its like can compare it.
  var isOrdered: Bool {
    if case .path(let path) = self, path.isSelf { return true }
    return kind?.isOrdered ?? true
  }

  /// What an error calls it.
  var name: String {
    switch self {
    case .constant(let value): return "\(FetchPredicate.Expression.constant(value))"
    case .path(let path): return path.name
    case .call(let function, let arguments):
      let names = arguments.map(\.name).joined(separator: ", ")
      if let symbol = function.symbol { return arguments.map(\.name).joined(separator: " \(symbol) ") }
      return function == .negate ? "-\(names)" : "\(function.rawValue)(\(names))"
    case .cast(let inner, let type): return "CAST(\(inner.name), \"\(type.rawValue)\")"
    case .aggregate(let function, let collection, let value):
      let path = (collection.start + collection.steps).map(\.name).joined(separator: ".")
      return "\(function.rawValue)(\(path)\(value.map { ", \($0.name)" } ?? ""))"
    case .conditional: return "TERNARY"
    case .element(let collection, let index, let value):
      let path = (collection.start + collection.steps).map(\.name).joined(separator: ".")
      switch index {
      case .last: return "\(path)[LAST] (\(value.name))"
      case .at(let place): return "\(path)[\(place)] (\(value.name))"
      }
    }
  }

  /// What an error says the values are.
  var typeName: String {
    if case .path(let path) = self { return path.typeName }
    return kind?.rawValue ?? "nil"
  }
}
