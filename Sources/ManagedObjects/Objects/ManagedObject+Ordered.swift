public import Foundation
public import OrderedCollections

// Ordered relationships by index. Like the unordered methods, these keep the inverse. An object that is added from its own end
// comes last.

extension ManagedObject {
  /// The objects that the ordered to-many relationship in a slot holds, in their order.
  public final func orderedObjects<T: ManagedObject>(_ slot: Int) -> OrderedSet<T> {
    guard let context = confinement.context else {
      confinement.probe?.note(slot)
      return []
    }
    return OrderedSet(orderedIDs(slot).lazy.compactMap { context.object(with: $0) as? T })
  }

  /// Makes the ordered to-many relationship in a slot hold exactly these objects of the same context, in this order.
  public final func setOrderedObjects<T: ManagedObject>(_ others: OrderedSet<T>, _ slot: Int) {
    guard let relationship = orderedRelationship(slot) else { return }
    for other in others { precondition(other.confinement === confinement, "an object of another context: \(other.id)") }
    replaceAll(relationship, with: .orderedObjects(OrderedSet(others.lazy.map(\.id))))
  }

  /// Inserts an object into the ordered to-many relationship in a slot, at an index from 0 to the number of objects. An object
  /// that is in it already is moved.
  public final func insert(_ other: ManagedObject, at index: Int, in slot: Int) {
    change(slot) { ids in
      ids.remove(other.id)
      precondition((0...ids.count).contains(index), "there are \(ids.count) objects, and no place \(index)")
      ids.insert(other.id, at: index)
    }
  }

  /// Removes the object at an index from the ordered to-many relationship in a slot.
  public final func removeObject(at index: Int, in slot: Int) { change(slot) { $0.remove(at: index) } }

  /// Replaces the object at an index of the ordered to-many relationship in a slot. If the new object is in it already, it
  /// leaves its former place.
  /// Source: `replaceObject(at:with:)` of Foundation's `NSMutableOrderedSet`.
  public final func replaceObject(at index: Int, with other: ManagedObject, in slot: Int) {
    change(slot) { ids in
      guard ids[index] != other.id else { return }
      let before = ids[..<index].filter { $0 != other.id }.count
      ids.remove(at: index)
      ids.remove(other.id)
      ids.insert(other.id, at: before)
    }
  }

  /// Moves objects of the ordered to-many relationship in a slot together: they are removed, and inserted in their order at
  /// `index`.
  /// Source: `moveObjects(at:to:)` of Foundation's `NSMutableOrderedSet`.
  public final func moveObjects(at indexes: IndexSet, to index: Int, in slot: Int) {
    change(slot) { ids in
      let moved = indexes.map { ids[$0] }
      let gone = Set(moved)
      var rest = ids.filter { !gone.contains($0) }
      precondition((0...rest.count).contains(index), "\(rest.count) objects stay, and there is no place \(index)")
      for (offset, id) in moved.enumerated() { rest.insert(id, at: index + offset) }
      ids = rest
    }
  }

  /// The IDs in an ordered relationship, in order; empty when the slot isn't of one.
  final func orderedIDs(_ slot: Int) -> OrderedSet<ManagedObjectID> {
    guard let relationship = orderedRelationship(slot), case .orderedObjects(let ids) = resolved(relationship) else {
      return []
    }
    return ids
  }

  private final func orderedRelationship(_ slot: Int) -> RelationshipDescription? {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany,
      relationship.isOrdered
    else { return nil }
    return relationship
  }

  private final func change(_ slot: Int, _ body: (inout OrderedSet<ManagedObjectID>) -> Void) {
    guard let relationship = orderedRelationship(slot) else { return }
    var ids = orderedIDs(slot)
    body(&ids)
    replaceAll(relationship, with: .orderedObjects(ids))
  }
}
