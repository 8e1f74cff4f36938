extension ManagedObjectContext {
  /// Lets go of an object's values, so that its next touch reads the store again.
  ///
  /// With `mergeChanges`, an object with unsaved changes is read again at once and keeps them; without, its changes are
  /// lost, at the other end of its relationships too. New objects stay as they are.
  /// Source: `refresh(_:mergeChanges:)` of Core Data.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    home.check()
    precondition(object.home === home, "an object of another context: \(object.id)")
    switch object.state {
    case .inserted, .deleted, .detached: return
    case .updated where mergeChanges: readAgain([object])
    case .updated:
      takeBack(object)
      object.state = .clean
      updates.removeAll { $0 === object }
      turnIntoFault(object)
    case .clean: turnIntoFault(object)
    }
  }

  /// Lets go of every object's values and keeps unsaved changes, as ``refresh(_:mergeChanges:)`` with `true` does.
  /// Source: `refreshAllObjects()` of Core Data.
  public func refreshAllObjects() {
    home.check()
    readAgain(ContiguousArray(updates.lazy.filter { $0.state == .updated }))
    for object in registry.objects where object.state == .clean { turnIntoFault(object) }
  }

  /// Lets go of the values of whole hierarchies' objects, and of sets that lead to them; unsaved changes stay.
  func refreshObjects(ofRoots roots: Set<Int>) {
    let isMeant = { (object: ManagedObject) in roots.contains(object.entity.rootEntity.index) }
    readAgain(ContiguousArray(updates.lazy.filter { $0.state == .updated && isMeant($0) }))
    for object in registry.objects where object.state == .clean && isMeant(object) { turnIntoFault(object) }
    forgetSets(leadingToRoots: roots)
  }

  private func turnIntoFault(_ object: ManagedObject) {
    guard !object.isUnfilled else { return object.forgetPartialValues() }
    if object.entity.hasOwnClass { withoutNoting(changesOf: object) { object.willTurnIntoFault() } }
    object.isUnfilled = true
    object.slots = object.entity.faultValues
    object.committed = []
    pending.noteRefreshed(object)
    if object.entity.hasOwnClass { object.didTurnIntoFault() }
  }

  /// Undoes what the object's changes did to the sets and slots of others.
  func takeBack(_ object: ManagedObject) {
    for relationship in object.entity.relationships {
      let slot = relationship.slot
      switch (object.committed[slot], object.slots[slot]) {
      case (let former, let now) where former == now: break
      case (.null, .object): object.point(relationship, to: nil)
      case (.object(let former), _): object.point(relationship, to: former)
      case (let former, let now) where relationship.isManyToMany:
        guard let former = former.objectIDs, let now = now.objectIDs else { break }
        for id in now.subtracting(former) { object.unlink(relationship, self.object(with: id)) }
        for id in former.subtracting(now) { object.link(relationship, self.object(with: id)) }
      default: break
      }
    }
  }

  /// Reads the rows of changed objects and puts their changes on top. A row that is gone leaves its object as it is: the
  /// save will say so.
  private func readAgain(_ objects: ContiguousArray<ManagedObject>) {
    guard !objects.isEmpty, let rows = reading({ try source.rows(with: objects.map(\.id)) }) else { return }
    takePromotedIDs()
    for row in rows {
      guard let object = registry.object(with: row.id), object.state == .updated else { continue }
      takeIn(row, object)
    }
  }

  /// Puts an object's unsaved changes, if it has any, on top of its row as the store has it now.
  func takeIn(_ row: StoreRow, _ object: ManagedObject) {
    let sets = object.entity.relationships.filter(\.isToMany)
    if object.state == .updated {
      for relationship in sets { readAgain(relationship, of: object) }
    } else {
      for relationship in sets { object.slots[relationship.slot] = .unresolved }
    }
    merge(.init(id: row.id, values: row.values, committed: object.committed.isEmpty ? object.slots : object.committed))
    if object.entity.hasOwnClass { awake(object, from: .refresh) }
  }

  private func readAgain(_ relationship: RelationshipDescription, of object: ManagedObject) {
    let slot = relationship.slot
    let (former, now) = (object.committed[slot], object.slots[slot])
    guard relationship.isManyToMany || relationship.isOrdered, former.isSet, now.isSet, former != now else {
      object.committed[slot] = .unresolved
      object.slots[slot] = .unresolved
      return
    }
    guard let stored = reading({ try source.relatedIDs(of: object.id, relationship) }) else { return }
    object.committed[slot] = stored
    object.slots[slot] = now.merging(from: former, to: stored)
  }
}
