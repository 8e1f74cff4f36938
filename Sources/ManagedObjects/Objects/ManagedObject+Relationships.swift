public import Foundation
public import OrderedCollections

// Relationships are held as object IDs. In a one-to-many pair the to-one end is authoritative and stored; the set at the other
// end is read from the store at its first access and kept in step from then on. Setting a to-one end therefore never reads the
// set. In a many-to-many pair both sets are kept, and the pairs are stored.

extension ManagedObject {
  /// The object that the to-one relationship in a slot points to.
  public final func object<T: ManagedObject>(_ slot: Int) -> T? {
    guard case .object(let id) = value(at: slot), state != .detached else { return confinement.probe?.object(slot) }
    return confinement.context?.object(with: id) as? T
  }

  /// The objects that the to-many relationship in a slot holds.
  public final func objects<T: ManagedObject>(_ slot: Int) -> Set<T> {
    guard let context = confinement.context, let relationship = entity.properties[slot] as? RelationshipDescription
    else {
      confinement.probe?.note(slot)
      return []
    }
    return Set(resolvedIDs(relationship).compactMap { context.object(with: $0) as? T })
  }

  /// Points the to-one relationship in a slot to an object of the same context, and keeps the inverse.
  public final func setObject(_ other: ManagedObject?, _ slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, !relationship.isToMany else { return }
    if let other { precondition(other.confinement === confinement, "an object of another context: \(other.id)") }
    point(relationship, to: other?.id)
  }

  /// Makes the to-many relationship in a slot hold exactly these objects of the same context, and keeps the inverse.
  public final func setObjects<T: ManagedObject>(_ others: Set<T>, _ slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany else { return }
    for other in others { precondition(other.confinement === confinement, "an object of another context: \(other.id)") }
    replaceAll(relationship, with: Set(others.map(\.id)))
  }

  /// Adds an object to the to-many relationship in a slot.
  public final func add(_ other: ManagedObject, to slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany else { return }
    precondition(other.confinement === confinement, "an object of another context: \(other.id)")
    link(relationship, other)
  }

  /// Removes an object from the to-many relationship in a slot. An object of another context isn't in it.
  public final func remove(_ other: ManagedObject, from slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany,
      other.confinement === confinement
    else { return }
    unlink(relationship, other)
  }

  /// Points a to-one relationship to an object by its ID, which may be that of a row that this context hasn't read.
  package final func point(_ relationship: RelationshipDescription, to target: ManagedObjectID?) {
    let slot = relationship.slot
    let new = target.map(Value.object) ?? .null
    let old = value(at: slot)
    guard old != new, let context = confinement.context else { return }
    willChange()
    slots[slot] = new
    guard let inverse = relationship.inverseRelationship else { return }
    if inverse.isToMany {
      if case .object(let former) = old { context.owner(former, of: inverse)?.forget(id, in: inverse) }
      if let target { context.owner(target, of: inverse)?.note(id, in: inverse) }
    } else {
      if case .object(let former) = old { context.object(with: former).assign(.null, inverse) }
      guard let target else { return }
      let partner = context.object(with: target)
      if case .object(let theirs) = partner.value(at: inverse.slot), theirs != id {
        context.object(with: theirs).assign(.null, relationship)
      }
      partner.assign(.object(id), inverse)
    }
  }

  /// Makes a to-many relationship hold exactly these objects, in this order if it has one, by their IDs.
  ///
  /// For an import: in a many-to-many pair the set at the other end is kept in step when it has been read, and not read
  /// otherwise, because it may be far larger than this one. A save writes the pairs from either end.
  package final func hold(_ relationship: RelationshipDescription, _ ids: [ManagedObjectID]) {
    guard relationship.isToMany, let context = confinement.context else { return }
    guard relationship.isManyToMany else {
      return replaceAll(
        relationship, with: relationship.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids)))
    }
    let inverse = relationship.inverseRelationship
    let wanted = Set(ids)
    for former in resolved(relationship).relatedIDs where !wanted.contains(former) {
      forget(former, in: relationship)
      if let inverse { context.registeredObject(for: former)?.forget(id, in: inverse) }
    }
    for other in ids {
      note(other, in: relationship)
      if let inverse { context.registeredObject(for: other)?.note(id, in: inverse) }
    }
    if relationship.isOrdered { arrange(relationship, as: OrderedSet(ids)) }
  }

  /// The IDs in a to-many relationship, read from the store at the first access.
  package final func resolvedIDs(_ relationship: RelationshipDescription) -> Set<ManagedObjectID> {
    resolved(relationship).objectIDs ?? []
  }

  /// The content of a to-many relationship, in its order if it has one, read from the store at the first access.
  @discardableResult
  package final func resolved(_ relationship: RelationshipDescription) -> Value {
    let held = value(at: relationship.slot)
    if held.isSet { return held }
    guard state != .detached, let context = confinement.context,
      let stored = context.reading({ try context.source.relatedIDs(of: id, relationship) })
    else { return relationship.emptyValue }
    return settle(relationship, stored: stored, in: context)
  }

  /// Takes in the stored content of a to-many relationship, with the changes made here on top. Returns the result.
  @discardableResult
  final func settle(
    _ relationship: RelationshipDescription, stored: Value, in context: ManagedObjectContext
  ) -> Value {
    let now = relationship.isManyToMany ? stored : context.overlayChanges(on: stored, of: id, relationship)
    if state == .clean, now != stored {
      // Objects at the other end were changed before this set was read, so it differs from the store, too.
      if committed.isEmpty { committed = slots }
      state = .updated
      context.changeSet.update(self)
    }
    if !committed.isEmpty { committed[relationship.slot] = stored }
    slots[relationship.slot] = now
    return now
  }

  /// Sets a relationship from a value that holds IDs.
  final func setRelationship(_ relationship: RelationshipDescription, to value: Value) throws {
    switch try relationship.content(value, of: entity) {
    case .object(let id): point(relationship, to: id)
    case .objects(let ids): replaceAll(relationship, with: ids)
    case .orderedObjects(let ids):
      // An order that was given stays; a set without one takes that of the objects before it.
      if case .orderedObjects = value {
        replaceAll(relationship, with: .orderedObjects(ids))
      } else {
        replaceAll(relationship, with: Set(ids))
      }
    default: point(relationship, to: nil)
    }
  }

  private final func replaceAll(_ relationship: RelationshipDescription, with ids: Set<ManagedObjectID>) {
    replaceAll(relationship, with: relationship.value(holding: ids, inOrderOf: resolved(relationship)))
  }

  /// Makes a set hold exactly the objects of `new`, in that order if it has one.
  final func replaceAll(_ relationship: RelationshipDescription, with new: Value) {
    guard let context = confinement.context else { return }
    switch (resolved(relationship), new) {
    case (.objects(let old), .objects(let ids)):
      for id in old.subtracting(ids) { unlink(relationship, context.object(with: id)) }
      for id in ids.subtracting(old) { link(relationship, context.object(with: id)) }
    case (.orderedObjects(let old), .orderedObjects(let ids)):
      // From the end, where removing from an ordered set moves the fewest elements.
      for id in old.reversed() where !ids.contains(id) { unlink(relationship, context.object(with: id)) }
      for id in ids where !old.contains(id) { link(relationship, context.object(with: id)) }
      arrange(relationship, as: ids)
    default: break
    }
  }

  /// Puts the objects of an ordered relationship in an order; those that `order` doesn't contain follow as they are.
  final func arrange(_ relationship: RelationshipDescription, as order: OrderedSet<ManagedObjectID>) {
    guard case .orderedObjects(let held) = resolved(relationship) else { return }
    let arranged = held == order ? order : order.intersection(held).union(held)
    guard arranged != held else { return }
    willChange()
    slots[relationship.slot] = .orderedObjects(arranged)
  }

  final func link(_ relationship: RelationshipDescription, _ other: ManagedObject) {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      resolved(relationship)
      other.point(inverse, to: id)
      return
    }
    note(other.id, in: relationship, reading: true)
    if let inverse = relationship.inverseRelationship { other.note(id, in: inverse, reading: true) }
  }

  final func unlink(_ relationship: RelationshipDescription, _ other: ManagedObject) {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      guard other.value(at: inverse.slot) == .object(id) else { return }
      resolved(relationship)
      other.point(inverse, to: nil)
      return
    }
    if resolved(relationship).contains(other.id) { forget(other.id, in: relationship) }
    guard let inverse = relationship.inverseRelationship, other.resolved(inverse).contains(id) else { return }
    other.forget(id, in: inverse)
  }

  /// Adds to a set that has been read. One that hasn't been read will contain the object when it is.
  private final func note(_ other: ManagedObjectID, in relationship: RelationshipDescription, reading: Bool = false) {
    if reading { resolved(relationship) }
    guard hasResolved(relationship) else { return noteMembers(of: relationship) }
    guard !slots[relationship.slot].contains(other) else { return }
    willChange()
    slots[relationship.slot].insert(other)
    noteMembers(of: relationship)
  }

  private final func forget(_ other: ManagedObjectID, in relationship: RelationshipDescription) {
    guard hasResolved(relationship) else { return noteMembers(of: relationship) }
    guard slots[relationship.slot].contains(other) else { return }
    willChange()
    slots[relationship.slot].remove(other)
    noteMembers(of: relationship)
  }

  /// Records that the members of a set have changed, whether or not it has been read. Nothing is read.
  private final func noteMembers(of set: RelationshipDescription) {
    guard let context = confinement.context else { return }
    if !set.isManyToMany {
      context.noteMembers(of: self, set)
    } else if !isChangePending {
      // The pairs are written from the other end.
      context.noteChanged(self)
    }
  }

  private final func assign(_ value: Value, _ relationship: RelationshipDescription) {
    setValue(value, at: relationship.slot)
  }
}

extension ManagedObjectContext {
  /// The stored content of a one-to-many set with the changes of objects made here on top.
  func overlayChanges(
    on stored: Value, of owner: ManagedObjectID, _ relationship: RelationshipDescription
  ) -> Value {
    guard let inverse = relationship.inverseRelationship else { return stored }
    var ids = stored
    for object in changeSet.insertionsAndUpdates where object.entity.isKindOf(inverse.entity) {
      // The owner of a set may change as a fault, and is itself where the store has it.
      guard object.state == .inserted || object.state == .updated, !object.isUnfilled else { continue }
      if object.slots[inverse.slot] == .object(owner) { ids.insert(object.id) } else { ids.remove(object.id) }
    }
    for object in changeSet.deletions { ids.remove(object.id) }
    return ids
  }

  /// Removes an object that is about to be detached from the sets and slots that hold it.
  func detachInverses(of object: ManagedObject) {
    for relationship in object.entity.relationships where relationship.inverseRelationship != nil {
      if relationship.isToMany {
        for id in object.resolvedIDs(relationship) { object.remove(self.object(with: id), from: relationship.slot) }
      } else {
        object.point(relationship, to: nil)
      }
    }
  }
}

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
    precondition(other.confinement === confinement, "an object of another context: \(other.id)")
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
    precondition(other.confinement === confinement, "an object of another context: \(other.id)")
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

extension RelationshipDescription {
  /// A value as the relationship holds it: nil as an empty set, a set in order if the relationship has one.
  /// - Throws: ``ManagedObjectError/wrongType(entity:property:expected:found:)`` when it doesn't hold IDs of the destination's
  ///   objects.
  final func content(_ value: Value, of owner: EntityDescription) throws -> Value {
    func areFit(_ ids: some Sequence<ManagedObjectID>) -> Bool {
      ids.allSatisfy { $0.entity.isKindOf(destinationEntity) }
    }
    switch (value, isToMany) {
    case (.null, _): return emptyValue
    case (.object(let id), false) where areFit(CollectionOfOne(id)): return value
    case (.objects(let ids), true) where areFit(ids): return self.value(holding: ids)
    case (.orderedObjects(let ids), true) where areFit(ids): return isOrdered ? value : .objects(Set(ids))
    default:
      throw ManagedObjectError.wrongType(
        entity: owner.name, property: name,
        expected: (!isToMany ? "" : isOrdered ? "ordered set of " : "set of ") + destinationEntity.name,
        found: value.typeName)
    }
  }
}
