public import Foundation
public import OrderedCollections

/// What one slot of a managed object holds.
///
/// An object's values stand in an array that the model numbered, as this enum and not as `Any`: reading one is a
/// bounds check and a tag check. Relationships are held as object IDs; the context turns them into objects.
/// A value is `Sendable` and carries no object, so that rows can be handed from store to context and between contexts.
public enum Value: Sendable, Hashable {
  /// No value: a nil attribute, or a to-one relationship that points nowhere.
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
  /// The object that a to-one relationship points to.
  case object(ManagedObjectID)
  /// The objects that a to-many relationship points to.
  case objects(Set<ManagedObjectID>)
  /// The objects that an ordered to-many relationship points to, in their order.
  case orderedObjects(OrderedSet<ManagedObjectID>)
  /// What a composite attribute's elements hold, by their names. No slot holds it: each element has one of its own.
  case composite([String: Value])
  /// A to-many relationship that hasn't been read from the store yet.
  case unresolved

  /// Whether there is no value.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }
}
