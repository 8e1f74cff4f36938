/// An unordered to-many relationship as a mutable collection. It always shows the object's current content, and each change
/// changes the object and the inverse.
///
/// ```swift
/// let staff = company.mutableSetValue(forKey: "staff")
/// staff?.add(ada)
/// ```
///
/// To be used on the queue of the object's context. Methods have the names of Foundation's `NSMutableSet`.
/// Source: `mutableSetValue(forKey:)` of Core Data.
public struct MutableSet: Sequence {
  private let object: ManagedObject
  private let relationship: RelationshipDescription

  init(_ object: ManagedObject, _ relationship: RelationshipDescription) {
    self.object = object
    self.relationship = relationship
  }

  private var ids: Set<ManagedObjectID> { object.resolvedIDs(relationship) }

  /// The objects as a set of its own, which later changes leave alone.
  public var allObjects: Set<ManagedObject> { object.objects(relationship.slot) }
  /// The number of objects. No object is made.
  public var count: Int { ids.count }
  /// Whether there are none. No object is made.
  public var isEmpty: Bool { ids.isEmpty }
  /// One of the objects; nil when there are none.
  public func anyObject() -> ManagedObject? { allObjects.first }
  /// Whether it contains an object, in constant time.
  public func contains(_ other: ManagedObject) -> Bool {
    other.confinement === object.confinement && ids.contains(other.id)
  }
  /// Iterates over the objects as they are now. The set may be changed while that goes on.
  public func makeIterator() -> Set<ManagedObject>.Iterator { allObjects.makeIterator() }

  /// Adds an object of the same context.
  public func add(_ other: ManagedObject) { object.add(other, to: relationship.slot) }
  /// Removes an object.
  public func remove(_ other: ManagedObject) { object.remove(other, from: relationship.slot) }
  /// Removes every object.
  public func removeAllObjects() { object.setObjects(Set<ManagedObject>(), relationship.slot) }
  /// Adds objects of the same context.
  public func union(_ others: some Sequence<ManagedObject>) { for other in others { add(other) } }
  /// Removes objects.
  public func minus(_ others: some Sequence<ManagedObject>) { for other in others { remove(other) } }
  /// Removes every object that isn't among the given ones.
  public func intersect(_ others: some Sequence<ManagedObject>) {
    let kept = Set(others)
    for other in self where !kept.contains(other) { remove(other) }
  }
  /// Makes it contain exactly these objects of the same context.
  public func setSet(_ others: some Sequence<ManagedObject>) { object.setObjects(Set(others), relationship.slot) }
}

extension ManagedObject {
  /// The unordered to-many relationship called `key`, to be changed in place; nil when the entity has none of that name. For an
  /// ordered one see ``mutableOrderedSetValue(forKey:)``.
  ///
  /// Source: `mutableSetValue(forKey:)` of Core Data, which raises where this returns nil.
  public final func mutableSetValue(forKey key: String) -> MutableSet? {
    guard let relationship = entity.propertiesByName[key] as? RelationshipDescription, relationship.isToMany,
      !relationship.isOrdered
    else { return nil }
    return MutableSet(self, relationship)
  }
}
