import Foundation

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
