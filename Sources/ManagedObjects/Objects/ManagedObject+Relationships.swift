// Relationships are held as object IDs. Of a one-to-many pair the to-one end is the truth, which is stored; the set at
// the other end is read from the store at its first touch and kept in step from then on. Setting a to-one end therefore
// never reads the set. Of a many-to-many pair both sets are kept, and the pairs are stored.

extension ManagedObject {
  /// The object that the to-one relationship in a slot points to.
  public final func object<T: ManagedObject>(_ slot: Int) -> T? {
    guard case .object(let id) = value(at: slot), state != .detached else { return nil }
    return home.context?.object(with: id) as? T
  }

  /// The objects that the to-many relationship in a slot holds.
  public final func objects<T: ManagedObject>(_ slot: Int) -> Set<T> {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, let context = home.context else {
      return []
    }
    return Set(resolvedIDs(relationship).compactMap { context.object(with: $0) as? T })
  }

  /// Points the to-one relationship in a slot to an object of the same context, and keeps the inverse.
  public final func setObject(_ other: ManagedObject?, _ slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, !relationship.isToMany else { return }
    if let other { precondition(other.home === home, "an object of another context: \(other.id)") }
    point(relationship, to: other?.id)
  }

  /// Makes the to-many relationship in a slot hold exactly these objects of the same context, and keeps the inverse.
  public final func setObjects<T: ManagedObject>(_ others: Set<T>, _ slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany else { return }
    for other in others { precondition(other.home === home, "an object of another context: \(other.id)") }
    replaceAll(relationship, with: Set(others.map(\.id)))
  }

  /// Adds an object to the to-many relationship in a slot.
  public final func add(_ other: ManagedObject, to slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany else { return }
    precondition(other.home === home, "an object of another context: \(other.id)")
    link(relationship, other)
  }

  /// Takes an object out of the to-many relationship in a slot.
  public final func remove(_ other: ManagedObject, from slot: Int) {
    guard let relationship = entity.properties[slot] as? RelationshipDescription, relationship.isToMany else { return }
    unlink(relationship, other)
  }

  /// Points a to-one relationship to an object by its ID, which may stand for a row that this context hasn't read.
  package final func point(_ relationship: RelationshipDescription, to target: ManagedObjectID?) {
    let slot = relationship.slot
    let new = target.map(Value.object) ?? .null
    let old = value(at: slot)
    guard old != new, let context = home.context else { return }
    willChange()
    slots[slot] = new
    guard let inverse = relationship.inverseRelationship else { return }
    if inverse.isToMany {
      if case .object(let former) = old { context.registeredObject(for: former)?.forget(id, in: inverse) }
      if let target { context.registeredObject(for: target)?.note(id, in: inverse) }
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

  /// The IDs in a to-many relationship, read from the store at the first touch.
  package final func resolvedIDs(_ relationship: RelationshipDescription) -> Set<ManagedObjectID> {
    if case .objects(let ids) = value(at: relationship.slot) { return ids }
    guard state != .detached, let context = home.context else { return [] }
    guard let stored = context.reading({ try context.source.relatedIDs(of: id, relationship) }) else { return [] }
    let now = relationship.isManyToMany ? stored : context.overlayChanges(on: stored, of: id, relationship)
    if state == .clean, now != stored {
      // Objects at the other end were changed before this set was read: it differs from the store, as theirs do.
      if committed.isEmpty { committed = slots }
      state = .updated
      context.updates.append(self)
    }
    if !committed.isEmpty { committed[relationship.slot] = .objects(stored) }
    slots[relationship.slot] = .objects(now)
    return now
  }

  /// Sets a relationship from a value that holds IDs.
  final func setRelationship(_ relationship: RelationshipDescription, to value: Value) throws {
    switch (value, relationship.isToMany) {
    case (.null, false): point(relationship, to: nil)
    case (.object(let id), false) where id.entity.isKindOf(relationship.destinationEntity): point(relationship, to: id)
    case (.null, true): replaceAll(relationship, with: [])
    case (.objects(let ids), true) where ids.allSatisfy({ $0.entity.isKindOf(relationship.destinationEntity) }):
      replaceAll(relationship, with: ids)
    default:
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: relationship.name,
        expected: (relationship.isToMany ? "set of " : "") + relationship.destinationEntity.name, found: value.typeName)
    }
  }

  private final func replaceAll(_ relationship: RelationshipDescription, with ids: Set<ManagedObjectID>) {
    guard let context = home.context else { return }
    let old = resolvedIDs(relationship)
    for id in old.subtracting(ids) { unlink(relationship, context.object(with: id)) }
    for id in ids.subtracting(old) { link(relationship, context.object(with: id)) }
  }

  final func link(_ relationship: RelationshipDescription, _ other: ManagedObject) {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      _ = resolvedIDs(relationship)
      other.point(inverse, to: id)
      return
    }
    note(other.id, in: relationship, reading: true)
    if let inverse = relationship.inverseRelationship { other.note(id, in: inverse, reading: true) }
  }

  final func unlink(_ relationship: RelationshipDescription, _ other: ManagedObject) {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      guard other.value(at: inverse.slot) == .object(id) else { return }
      _ = resolvedIDs(relationship)
      other.point(inverse, to: nil)
      return
    }
    if resolvedIDs(relationship).contains(other.id) { forget(other.id, in: relationship) }
    guard let inverse = relationship.inverseRelationship, other.resolvedIDs(inverse).contains(id) else { return }
    other.forget(id, in: inverse)
  }

  /// Adds to a set that has been read; one that hasn't will find the object when it is.
  private final func note(_ other: ManagedObjectID, in relationship: RelationshipDescription, reading: Bool = false) {
    if reading { _ = resolvedIDs(relationship) }
    guard hasResolved(relationship) else { return noteTouched() }
    guard !slots[relationship.slot].contains(other) else { return }
    willChange()
    slots[relationship.slot].changeSet { $0.insert(other) }
  }

  private final func forget(_ other: ManagedObjectID, in relationship: RelationshipDescription) {
    guard hasResolved(relationship) else { return noteTouched() }
    guard slots[relationship.slot].contains(other) else { return }
    willChange()
    slots[relationship.slot].changeSet { $0.remove(other) }
  }

  /// A set that hasn't been read changed: whoever watches this object is told, and nothing is read.
  private final func noteTouched() {
    guard !isChangePending else { return }
    home.context?.noteChanged(self)
  }

  private final func assign(_ value: Value, _ relationship: RelationshipDescription) {
    setValue(value, at: relationship.slot)
  }
}

extension Value {
  /// Whether it is a set that holds the object.
  func contains(_ id: ManagedObjectID) -> Bool {
    if case .objects(let ids) = self { return ids.contains(id) }
    return false
  }

  /// Changes a set where it stands, so that a large one isn't copied for each object that comes or goes. Leaves other
  /// values as they are.
  mutating func changeSet(_ change: (inout Set<ManagedObjectID>) -> Void) {
    guard case .objects(var ids) = self else { return }
    self = .null
    change(&ids)
    self = .objects(ids)
  }
}

extension ManagedObjectContext {
  /// Adds to what the store says of a one-to-many set what objects changed here say.
  func overlayChanges(
    on stored: Set<ManagedObjectID>, of owner: ManagedObjectID, _ relationship: RelationshipDescription
  ) -> Set<ManagedObjectID> {
    guard let inverse = relationship.inverseRelationship else { return stored }
    var ids = stored
    for object in insertions + updates where object.entity.isKindOf(inverse.entity) {
      guard object.state == .inserted || object.state == .updated else { continue }
      if object.slots[inverse.slot] == .object(owner) { ids.insert(object.id) } else { ids.remove(object.id) }
    }
    for object in deletions { ids.remove(object.id) }
    return ids
  }

  /// Takes an object that is about to vanish out of the sets and slots that hold it.
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
