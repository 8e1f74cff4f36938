/// A type with a value that isn't written: a key that isn't there means it.
public protocol Omittable: Codable, Hashable {
  /// The value of a key that isn't there.
  static var omitted: Self { get }
}

extension Bool: Omittable {
  /// The value of a key that isn't there.
  public static var omitted: Bool { false }
}

extension Int: Omittable {
  /// The value of a key that isn't there.
  public static var omitted: Int { 0 }
}

extension Array: Omittable where Element: Codable & Hashable {
  /// The value of a key that isn't there.
  public static var omitted: [Element] { [] }
}

/// A property that is left out of what is written while it is false, 0 or empty.
@propertyWrapper
public struct OmittedWhenEmpty<Value: Omittable>: Codable, Hashable {
  /// The value.
  public var wrappedValue: Value

  /// A value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

  /// Reads the value.
  public init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }

  /// Writes the value.
  public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension OmittedWhenEmpty: Sendable where Value: Sendable {}

/// A text that is always written, as an empty one while there is none.
@propertyWrapper
public struct EmptyWhenNil: Codable, Sendable, Hashable {
  /// The text.
  public var wrappedValue: String?

  /// A text.
  public init(wrappedValue: String?) { self.wrappedValue = wrappedValue }

  /// Reads the text; an empty one is none.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    wrappedValue = text.isEmpty ? nil : text
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue ?? "")
  }
}

// The compiler's Codable code of a type with such properties finds these instead of the container's own functions.

extension KeyedDecodingContainer {
  /// Reads a value that may be left out.
  public func decode<Value>(
    _ type: OmittedWhenEmpty<Value>.Type, forKey key: Key
  ) throws -> OmittedWhenEmpty<Value> {
    .init(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? .omitted)
  }
}

extension KeyedEncodingContainer {
  /// Writes a value unless it is the omitted one.
  public mutating func encode<Value>(_ value: OmittedWhenEmpty<Value>, forKey key: Key) throws {
    if value.wrappedValue != .omitted { try encode(value.wrappedValue, forKey: key) }
  }

  /// Writes a text, or an empty one.
  public mutating func encode(_ value: EmptyWhenNil, forKey key: Key) throws {
    try encode(value.wrappedValue ?? "", forKey: key)
  }
}
