/// The types an attribute can have: those of Core Data's `NSAttributeType`.
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
  case integer16 = "Integer 16"
  case integer32 = "Integer 32"
  case integer64 = "Integer 64"
  case decimal = "Decimal"
  case double = "Double"
  case float = "Float"
  case string = "String"
  case boolean = "Boolean"
  case date = "Date"
  case binaryData = "Binary"
  case uuid = "UUID"
  case uri = "URI"
  case transformable = "Transformable"
  case objectID = "ObjectID"
  case composite = "Composite"
  case undefined = "Undefined"

  /// Whether the values are whole numbers.
  public var isInteger: Bool { self == .integer16 || self == .integer32 || self == .integer64 }

  /// The whole numbers that the type can hold, nil when it isn't an integer type.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .integer16: return Int64(Int16.min)...Int64(Int16.max)
    case .integer32: return Int64(Int32.min)...Int64(Int32.max)
    case .integer64: return Int64.min...Int64.max
    default: return nil
    }
  }
}
