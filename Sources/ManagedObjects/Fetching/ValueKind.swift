/// A class of types whose values can be compared with each other.
package enum ValueKind: String, Sendable, Hashable {
  case number = "a number"
  case string = "a string"
  case date = "a date"
  case uuid = "a UUID"
  case uri = "a URI"
  case data = "binary data"
  case object = "an object"
  /// Composites and undefined attributes, which can only be compared with nil.
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

  /// Whether the values have an order.
  var isOrdered: Bool {
    switch self {
    case .number, .string, .date, .uuid, .uri: return true
    case .data, .object, .opaque: return false
    }
  }
}
