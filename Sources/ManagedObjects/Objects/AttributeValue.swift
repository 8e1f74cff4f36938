public import Foundation

/// A Swift type that a slot can hold. Typed accessors read and write such values.
public protocol AttributeValue {
  /// The value of a slot; nil when the slot is empty or holds another type.
  init?(slotValue: Value)
  /// The value as a slot holds it.
  var slotValue: Value { get }
  /// The value in an object's slot. The integer types read it in place; others use the default.
  static func read(from object: ManagedObject, slot: Int) -> Self?
}

extension AttributeValue {
  /// The value in an object's slot.
  @inlinable public static func read(from object: ManagedObject, slot: Int) -> Self? {
    Self(slotValue: object.value(at: slot))
  }
}

extension String: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .string(let text) = slotValue else { return nil }
    self = text
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .string(self) }
}

extension Bool: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .bool(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .bool(self) }
}

extension AttributeValue where Self: FixedWidthInteger {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .int(let value) = slotValue else { return nil }
    self.init(exactly: value)
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .int(Int64(truncatingIfNeeded: self)) }
  /// The number in an object's slot.
  @inlinable public static func read(from object: ManagedObject, slot: Int) -> Self? {
    guard let number = object.integer(at: slot) else { return nil }
    return Self(exactly: number)
  }
}

extension Int: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}

extension Double: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .double(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .double(self) }
  /// The number in an object's slot.
  @inlinable public static func read(from object: ManagedObject, slot: Int) -> Double? { object.double(at: slot) }
}

extension Float: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .double(let value) = slotValue else { return nil }
    self = Float(value)
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .double(Double(self)) }
}

extension Decimal: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .decimal(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .decimal(self) }
}

extension Date: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .date(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .date(self) }
}

extension Data: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .data(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .data(self) }
}

extension UUID: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .uuid(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .uuid(self) }
}

extension URL: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    guard case .uri(let value) = slotValue else { return nil }
    self = value
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { .uri(self) }
}

extension Value: AttributeValue {
  /// The value in a slot; nil when the slot is empty or holds another type.
  @inlinable public init?(slotValue: Value) {
    if slotValue.isNull { return nil }
    self = slotValue
  }
  /// The value as a slot holds it.
  @inlinable public var slotValue: Value { self }
}
