public import Foundation
public import OrderedCollections

/// The value of one slot of a managed object.
///
/// An object's values are an array indexed by slot. With this enum instead of `Any`, reading one costs a bounds check and a tag
/// check. Relationships hold object IDs, which the context turns into objects. A value is `Sendable` and holds no object, so
/// rows may pass from store to context and between contexts. Literals are values: `"Ada"`, `36`, `nil`.
public enum Value: Sendable, Hashable {
  /// No value: a nil attribute or an empty to-one relationship.
  case null
  /// A boolean.
  case bool(Bool)
  /// An integer of 16, 32 or 64 bits; the attribute's type bounds it.
  case int(Int64)
  /// A double or a float.
  case double(Double)
  /// A decimal number of up to 38 digits.
  indirect case decimal(Decimal)
  /// A string.
  case string(String)
  /// An instant.
  case date(Date)
  /// Binary data, also that of a transformable attribute.
  case data(Data)
  /// A UUID.
  case uuid(UUID)
  /// A URI.
  case uri(URL)
  /// The object of a to-one relationship.
  case object(ManagedObjectID)
  /// The objects of a to-many relationship.
  case objects(Set<ManagedObjectID>)
  /// The objects of an ordered to-many relationship, in order.
  case orderedObjects(OrderedSet<ManagedObjectID>)
  /// The values of a composite attribute's elements, by name. Never in a slot: each element has its own.
  case composite([String: Value])
  /// A to-many relationship that hasn't been read from the store.
  case unresolved

  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }
}

// Values are equal when a store treats them as equal; strings compare by their bytes. Swift's own comparison equates
// different encodings of one character (é as one scalar, or as e and an accent). With it, an object would keep an encoding
// that was meant to be replaced, and would match in memory a key that the store doesn't have.

extension Value {
  /// Whether two values are the same. Strings compare by their bytes.
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null), (.unresolved, .unresolved): return true
    case (.string(let a), .string(let b)): return UTF8Order.areEqual(a, b)
    case (.int(let a), .int(let b)): return a == b
    case (.object(let a), .object(let b)): return a == b
    case (.bool(let a), .bool(let b)): return a == b
    case (.double(let a), .double(let b)): return a == b
    case (.date(let a), .date(let b)): return a == b
    case (.decimal(let a), .decimal(let b)): return a == b
    case (.data(let a), .data(let b)): return a == b
    case (.uuid(let a), .uuid(let b)): return a == b
    case (.uri(let a), .uri(let b)): return a == b
    case (.objects(let a), .objects(let b)): return a == b
    case (.orderedObjects(let a), .orderedObjects(let b)): return a == b
    case (.composite(let a), .composite(let b)): return a == b
    default: return false
    }
  }

  /// Hashes the value; strings by their bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .unresolved: hasher.combine(1)
    case .string(var text):
      hasher.combine(2)
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .int(let number): hasher.combine(number)
    case .object(let id): hasher.combine(id)
    case .bool(let flag): hasher.combine(flag)
    case .double(let number): hasher.combine(number)
    case .date(let date): hasher.combine(date)
    case .decimal(let number): hasher.combine(number)
    case .data(let data): hasher.combine(data)
    case .uuid(let uuid): hasher.combine(uuid)
    case .uri(let uri): hasher.combine(uri)
    case .objects(let ids): hasher.combine(ids)
    case .orderedObjects(let ids): hasher.combine(ids)
    case .composite(let values): hasher.combine(values)
    }
  }
}

extension Value {
  /// Converts a number to another numeric type, truncating to whole ones; nil if it doesn't fit. Other values must fit as they
  /// are.
  func converted(to type: AttributeType) -> Value {
    switch (self, type) {
    case (.bool(let value), _) where type != .boolean: return Value.int(value ? 1 : 0).converted(to: type)
    case (.int(let value), .boolean): return .bool(value != 0)
    case (.int(let value), .double), (.int(let value), .float): return Value.double(Double(value)).converted(to: type)
    case (.int(let value), .decimal): return .decimal(Decimal(value))
    case (.double(let value), .float): return .double(Double(Float(value)))
    case (.double(let value), .decimal): return Decimal(string: "\(value)").map(Value.decimal) ?? .null
    case (.double(let value), .boolean): return .bool(value != 0)
    case (.double(let value), _) where type.isInteger:
      return Int64(exactly: value.rounded(.towardZero)).map { Value.int($0).converted(to: type) } ?? .null
    case (.decimal(let value), .double), (.decimal(let value), .float):
      return Double(value.description).map { Value.double($0).converted(to: type) } ?? .null
    case (.decimal(let value), .boolean): return .bool(value != 0)
    case (.decimal(let value), _) where type.isInteger:
      return value.rounded(.towardZero).wholeInt64.map { Value.int($0).converted(to: type) } ?? .null
    default: return fits(type) ? self : .null
    }
  }
}

extension Value {
  /// Whether both are the same in a store, which keeps dates to the microsecond and no NaN.
  package func isStoredAlike(_ other: Value) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.date, .date), (.double, .double), (.double, .null), (.null, .double), (.decimal, .decimal),
      (.decimal, .null),
      (.null, .decimal):
      return comparisonKey == other.comparisonKey
    default: return false
    }
  }
}

extension Value {
  /// The value as text for messages and tables, without type or quotes.
  public var plainText: String {
    switch self {
    case .null: return ""
    case .bool(let value): return value ? "true" : "false"
    case .int(let value): return String(value)
    case .double(let value): return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    case .decimal(let value): return value.description
    case .string(let value): return value
    case .date(let value): return ISODate.text(of: value) ?? value.description
    case .data(let value): return value.base64EncodedString()
    case .uuid(let value): return value.uuidString.lowercased()
    case .uri(let value): return value.absoluteString
    case .object(let id): return id.description
    case .objects, .orderedObjects: return "\(objectCount ?? 0) object(s)"
    case .composite(let values):
      return "{" + values.sorted { $0.key < $1.key }.map { "\($0): \($1.plainText)" }.joined(separator: ", ") + "}"
    case .unresolved: return "(not read)"
    }
  }
}
