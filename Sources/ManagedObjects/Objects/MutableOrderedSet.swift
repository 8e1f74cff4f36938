public import Foundation
import OrderedCollections

/// An ordered to-many relationship as a collection to change: what it shows is always what the object holds, and each
/// change is one of the object, with its inverse.
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
  /// How many objects there are.
  public var endIndex: Int { object.orderedIDs(slot).count }

  /// The object at a place.
  public subscript(index: Int) -> ManagedObject {
    guard let context = object.confinement.context else { preconditionFailure("\(object.id) has no context any more") }
    return context.object(with: object.orderedIDs(slot)[index])
  }

  /// Whether an object is in it; without looking at the others.
  public func contains(_ other: ManagedObject) -> Bool { object.orderedIDs(slot).contains(other.id) }
  /// The place of an object; without looking at the others.
  public func firstIndex(of other: ManagedObject) -> Int? { object.orderedIDs(slot).firstIndex(of: other.id) }

  /// Adds an object at the end. One that is there already stays where it is.
  public func add(_ other: ManagedObject) { object.add(other, to: slot) }
  /// Puts an object at a place; see ``ManagedObject/insert(_:at:in:)``.
  public func insert(_ other: ManagedObject, at index: Int) { object.insert(other, at: index, in: slot) }
  /// Puts another object in the place of one; see ``ManagedObject/replaceObject(at:with:in:)``.
  public func replaceObject(at index: Int, with other: ManagedObject) {
    object.replaceObject(at: index, with: other, in: slot)
  }
  /// Moves objects together; see ``ManagedObject/moveObjects(at:to:in:)``.
  public func moveObjects(at indexes: IndexSet, to index: Int) { object.moveObjects(at: indexes, to: index, in: slot) }
  /// Takes an object out.
  public func remove(_ other: ManagedObject) { object.remove(other, from: slot) }
  /// Takes the object at a place out.
  public func removeObject(at index: Int) { object.removeObject(at: index, in: slot) }
  /// Takes every object out.
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
