public import Foundation
import OrderedCollections

/// An ordered to-many relationship as a mutable collection. It always shows the object's current content, and each change
/// changes the object and the inverse.
///
/// ```swift
/// let tracks = album.mutableOrderedSetValue(forKey: "tracks")
/// tracks.insert(overture, at: 0)
/// tracks.moveObjects(at: [3], to: 1)
/// ```
///
/// To be used on the queue of the object's context.
/// Source: `mutableOrderedSetValue(forKey:)` of Core Data.
public struct MutableOrderedSet: RandomAccessCollection {
  private let object: ManagedObject
  private let slot: Int

  init(_ object: ManagedObject, slot: Int) {
    self.object = object
    self.slot = slot
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { object.orderedIDs(slot).count }

  /// The object at an index.
  public subscript(index: Int) -> ManagedObject {
    guard let context = object.confinement.context else { preconditionFailure("\(object.id) has no context any more") }
    return context.object(with: object.orderedIDs(slot)[index])
  }

  /// Whether it contains an object, in constant time.
  public func contains(_ other: ManagedObject) -> Bool { object.orderedIDs(slot).contains(other.id) }
  /// The index of an object, in constant time.
  public func firstIndex(of other: ManagedObject) -> Int? { object.orderedIDs(slot).firstIndex(of: other.id) }

  /// Adds an object at the end. An object that is in it already keeps its place.
  public func add(_ other: ManagedObject) { object.add(other, to: slot) }
  /// Inserts an object at an index; see ``ManagedObject/insert(_:at:in:)``.
  public func insert(_ other: ManagedObject, at index: Int) { object.insert(other, at: index, in: slot) }
  /// Replaces an object; see ``ManagedObject/replaceObject(at:with:in:)``.
  public func replaceObject(at index: Int, with other: ManagedObject) {
    object.replaceObject(at: index, with: other, in: slot)
  }
  /// Moves objects together; see ``ManagedObject/moveObjects(at:to:in:)``.
  public func moveObjects(at indexes: IndexSet, to index: Int) { object.moveObjects(at: indexes, to: index, in: slot) }
  /// Removes an object.
  public func remove(_ other: ManagedObject) { object.remove(other, from: slot) }
  /// Removes the object at an index.
  public func removeObject(at index: Int) { object.removeObject(at: index, in: slot) }
  /// Removes every object.
  public func removeAllObjects() { object.setOrderedObjects(OrderedSet<ManagedObject>(), slot) }
}

extension ManagedObject {
  /// The ordered to-many relationship called `key`, to be changed in place; nil when the entity has none of that name.
  ///
  /// Source: `mutableOrderedSetValue(forKey:)` of Core Data, which raises where this returns nil.
  public final func mutableOrderedSetValue(forKey key: String) -> MutableOrderedSet? {
    guard let relationship = entity.propertiesByName[key] as? RelationshipDescription, relationship.isToMany,
      relationship.isOrdered
    else { return nil }
    return MutableOrderedSet(self, slot: relationship.slot)
  }
}
