// What objects with a class of their own are told, and when. Whoever calls these has looked at `hasOwnClass` first: an
// object without a class costs nothing here.

extension ManagedObjectContext {
  /// How often `willSave` may change something before a save gives up: Core Data's number.
  private static let attempts = 1000

  /// Inserts an object that says its own defaults; the values given go on top of them.
  func awakened(_ row: StoreRow) -> ManagedObject {
    let defaults = row.id.entity.initialValues
    let object = adopt(StoreRow(id: row.id, values: defaults))
    object.awakeFromInsert()
    guard object.state == .inserted else { return object }
    for slot in row.values.indices where row.values[slot] != defaults[slot] { object.slots[slot] = row.values[slot] }
    return object
  }

  /// Tells an object that its values have been read.
  func awakeFromFetch(_ object: ManagedObject) {
    withoutNoting(changesOf: object) { object.awakeFromFetch() }
  }

  /// Tells objects that their values have been read, as ``awakeFromFetch(_:)-(ManagedObject)`` does for one.
  func awakeFromFetch(_ objects: [ManagedObject]) {
    let wasAwakening = isAwakening
    isAwakening = true
    defer { isAwakening = wasAwakening }
    for object in objects {
      object.awakeFromFetch()
      if object.state == .clean, !object.committed.isEmpty, !object.hasPersistentChanges { object.committed = [] }
    }
  }

  /// Tells an object that its values have become others.
  func awake(_ object: ManagedObject, from event: SnapshotEventType) {
    withoutNoting(changesOf: object) { object.awake(fromSnapshotEvents: event) }
  }

  /// Runs what an object has to say; what it sets of an object without changes is no change.
  func withoutNoting(changesOf object: ManagedObject, _ body: () -> Void) {
    let wasAwakening = isAwakening
    isAwakening = true
    defer { isAwakening = wasAwakening }
    body()
    // Stored values that differ from the store's are kept, and with them what the store has: a later change of the
    // object is compared with that. Transient ones need no such memory.
    if object.state == .clean, !object.committed.isEmpty, !object.hasPersistentChanges { object.committed = [] }
  }

  /// Tells an object that it is to be deleted. Returns false when it is being told already, or has deleted itself.
  func prepareForDeletion(_ object: ManagedObject) -> Bool {
    guard object.state != .deleted, object.state != .detached,
      preparedDeletions.insert(ObjectIdentifier(object)).inserted
    else { return false }
    defer { preparedDeletions.remove(ObjectIdentifier(object)) }
    object.prepareForDeletion()
    return true
  }

  /// Asks every object that the save writes, and again those that changed, until nothing more changes.
  func askBeforeSave() throws {
    var asked: ContiguousArray<AskedObject> = []
    var seen = (inserted: 0, updated: 0, deleted: 0)
    for _ in 0..<Self.attempts {
      var next = ContiguousArray(asked.lazy.filter(\.hasChanged).map(\.object))
      let again = Set(next.map(ObjectIdentifier.init))
      func take(_ list: ContiguousArray<ManagedObject>, _ state: ManagedObject.State, after count: inout Int) {
        // A refresh takes objects out of the list: whoever is in it is asked again then.
        for object in list[(list.count < count ? 0 : count)...] where object.entity.hasOwnClass && object.state == state
        {
          if again.isEmpty || !again.contains(ObjectIdentifier(object)) { next.append(object) }
        }
        count = list.count
      }
      take(insertions, .inserted, after: &seen.inserted)
      take(updates, .updated, after: &seen.updated)
      take(deletions, .deleted, after: &seen.deleted)
      if next.isEmpty { return }
      if !asked.isEmpty {
        let next = Set(next.map(ObjectIdentifier.init))
        asked.removeAll { next.contains(ObjectIdentifier($0.object)) }
      }
      // Kept before anyone is asked: what one object does may change another.
      for object in next { asked.append(AskedObject(object: object, slots: object.slots)) }
      for object in next where object.hasChanges { object.willSave() }
      propagateDeletes()
      try throwDeferredError()
    }
    throw ManagedObjectError.unsettledChanges(
      attempts: Self.attempts, objectIDs: asked.filter(\.hasChanged).map(\.object.id))
  }

  /// Tells the objects that a save wrote. Those that it deleted are still marked so.
  func tellSaved(_ objects: ContiguousArray<ManagedObject>...) {
    for list in objects {
      for object in list where object.entity.hasOwnClass { object.didSave() }
    }
  }
}

/// An object that was asked before a save, with its values before it was asked.
private struct AskedObject {
  let object: ManagedObject
  let slots: ContiguousArray<Value>
  /// Whether it is different now. Of values that weren't touched that's told by their place in memory.
  var hasChanged: Bool { object.hasChanges && object.slots != slots }
}
