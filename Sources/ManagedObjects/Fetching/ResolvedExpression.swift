import Foundation

/// An expression bound to an entity, like ``ResolvedPredicate``. Constant parts are already computed.
package indirect enum ResolvedExpression: Sendable {
  case constant(Value)
  case path(ResolvedPath)
  /// A function of one or two values, or an aggregate of a list.
  case call(FetchPredicate.Function, [ResolvedExpression])
  /// A conversion to another type.
  case cast(ResolvedExpression, FetchPredicate.CastType)
  /// An aggregate over a collection: of a value per object, or of the objects themselves if there is no value.
  case aggregate(FetchPredicate.Function, ResolvedCollection, ResolvedExpression?)
  case conditional(ResolvedPredicate, ResolvedExpression, ResolvedExpression)
  /// A value of one object of an ordered collection; nil if the index is out of range.
  case element(ResolvedCollection, ResolvedIndex, ResolvedExpression)
}

/// An index into an ordered collection.
package enum ResolvedIndex: Sendable, Hashable {
  /// From 0.
  case at(Int)
  case last

  /// The element at the index.
  func element<Element>(of list: some RandomAccessCollection<Element>) -> Element? {
    switch self {
    case .last: return list.last
    case .at(let offset):
      guard list.indices.count > offset, offset >= 0 else { return nil }
      return list[list.index(list.startIndex, offsetBy: offset)]
    }
  }
}

/// The distinct objects reached over at least one to-many relationship.
package struct ResolvedCollection: Sendable {
  /// One step of the path.
  package enum Link: Sendable {
    /// Follows a relationship.
    case step(RelationshipDescription)
    /// Keeps the objects that match the predicate.
    case filter(ResolvedPredicate)
  }

  /// Where the path begins; see ``ResolvedPath/origin``.
  package let origin: Int
  /// The to-one relationships that come first.
  package let start: [RelationshipDescription]
  /// From the first to-many relationship on.
  package var links: [Link]
  /// The ``ResolvedPath/origin`` of paths that start at an object of this collection: its nesting depth, from 1.
  package let number: Int
  /// The entity of the objects.
  package var entity: EntityDescription
  /// Whether equal values count once in an aggregate.
  package var isDistinct = false

  /// The relationships after ``start``.
  package var steps: [RelationshipDescription] {
    links.compactMap { link in
      if case .step(let relationship) = link { return relationship }
      return nil
    }
  }
}

extension ResolvedExpression {
  /// The kind of the values; nil if every value is nil.
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

  /// Whether the values are decimals, so that arithmetic is decimal.
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

  /// The root entity of the objects whose IDs the values are, nil if unknown.
  package var objectRoot: EntityDescription? {
    switch self {
    case .constant(.object(let id)): return id.entity.rootEntity
    case .path(let path): return path.objectEntity?.rootEntity
    case .conditional(_, let first, let second): return first.objectRoot ?? second.objectRoot
    case .element(_, _, let value): return value.objectRoot
    case .constant, .call, .cast, .aggregate: return nil
    }
  }

  /// Whether the values have an order.
  var isOrdered: Bool {
    if case .path(let path) = self, path.isSelf { return true }
    return kind?.isOrdered ?? true
  }

  /// Its name in error messages.
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

  /// Its type in error messages.
  var typeName: String {
    if case .path(let path) = self { return path.typeName }
    return kind?.rawValue ?? "nil"
  }
}

extension ResolvedExpression {
  /// The type of all values as a store returns them; nil if whole and fractional numbers mix, or if every value is nil.
  package var valueType: AttributeType? {
    switch self {
    case .path(let path): return path.attributeType
    case .constant(let value): return value.attributeType
    case .element(_, _, let value): return value.valueType
    case .aggregate(.minimum, _, let element?), .aggregate(.maximum, _, let element?): return element.valueType
    case .conditional(_, let first, let second):
      if first.kind == nil { return second.valueType }
      if second.kind == nil || first.valueType == second.valueType { return first.valueType }
    case .cast, .call, .aggregate: break
    }
    switch kind {
    case .number?:
      switch self {
      case .call(.count, _), .call(.length, _), .aggregate(.count, _, _): return .integer64
      default: return isDecimal ? .decimal : nil
      }
    case .string?: return .string
    case .date?: return .date
    case .uuid?: return .uuid
    case .uri?: return .uri
    case .data?: return .binaryData
    case .object?: return .objectID
    case .opaque?: return .undefined
    case nil: return nil
    }
  }
}

extension Value {
  /// The attribute type of the value; nil for nil and for sets.
  fileprivate var attributeType: AttributeType? {
    switch self {
    case .null, .unresolved, .objects, .orderedObjects: return nil
    case .bool: return .boolean
    case .int: return .integer64
    case .double: return .double
    case .decimal: return .decimal
    case .string: return .string
    case .date: return .date
    case .data: return .binaryData
    case .uuid: return .uuid
    case .uri: return .uri
    case .object: return .objectID
    case .composite: return .composite
    }
  }

  /// A value of a column of that type, in the form that every store returns: a boolean only if the whole column is
  /// boolean.
  func settled(as type: AttributeType?) -> Value {
    switch (self, type) {
    case (.bool, .boolean?): return self
    case (.bool(let bool), _): return Value.int(bool ? 1 : 0).settled(as: type)
    case (.int(let number), .decimal?): return .decimal(Decimal(number))
    case (.int(let number), .double?), (.int(let number), .float?): return .double(Double(number))
    default: return self
    }
  }
}
