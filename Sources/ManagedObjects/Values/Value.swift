public import Foundation
public import OrderedCollections

/// The value of one slot of a managed object.
///
/// An object's values are an array indexed by slot. With this enum instead of `Any`, reading one costs a bounds check and a tag
/// check. Relationships hold object IDs, which the context turns into objects. A value is `Sendable` and holds no object, so
/// rows may pass from store to context and between contexts.
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
