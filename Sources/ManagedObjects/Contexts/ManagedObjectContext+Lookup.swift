extension ManagedObjectContext {
  /// The object with that ID: the one the context knows, or else a fault for it, without asking the store whether it
  /// exists. Source: `object(with:)` of Core Data.
  ///
  /// A fault of an entity that others inherit from is read at once, to learn its class.
  public func object(with id: ManagedObjectID) -> ManagedObject {
    if let known = registeredObject(for: id) { return known }
    let id = permanentIDs[id] ?? id
    if !id.entity.subentities.isEmpty, let row = reading({ try source.rows(with: [id]) })?.first {
      let object = make(row, state: .clean, isFault: false)
      if object.entity.hasOwnClass { awakeFromFetch(object) }
      return object
    }
    return makeFault(id)
  }

  /// The object with that ID if the context knows it already.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
    home.check()
    takePromotedIDs()
    if let object = registry.object(with: id) { return object }
    guard let permanent = permanentIDs[id] else { return nil }
    return registry.object(with: permanent)
  }

  /// The object with that ID, with its values.
  /// - Throws: ``ManagedObjectError/objectNotFound(_:)`` when the store hasn't got it, or the store's error.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
    let object = object(with: id)
    if object.isUnfilled { fulfill(object) }
    try throwDeferredError()
    guard object.state != .detached else { throw ManagedObjectError.objectNotFound(id) }
    return object
  }

  /// Gives new objects their permanent IDs before they are saved.
  ///
  /// An object that the model numbers by an attribute has the ID that the attribute says; the attribute can't change
  /// from then on. Without a value, or with that of another object known here, its ID stays temporary until the save.
  /// Source: `obtainPermanentIDs(for:)` of Core Data.
  /// - Throws: ``ManagedObjectError/foreignObject(_:)`` for an object of another context, or the store's error.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    home.check()
    if let foreign = objects.first(where: { $0.home !== home }) { throw ManagedObjectError.foreignObject(foreign.id) }
    try givePermanentIDs(to: ContiguousArray(objects.lazy.filter { $0.id.isTemporaryID && $0.state == .inserted }))
  }

  /// Gives every new object its permanent ID, so that a row which is being written isn't taken for another object.
  func giveInsertionsPermanentIDs() throws {
    let isEachNew = insertions.allSatisfy { $0.id.isTemporaryID && $0.state == .inserted }
    try givePermanentIDs(
      to: isEachNew ? insertions : insertions.filter { $0.id.isTemporaryID && $0.state == .inserted })
  }

  private func givePermanentIDs(to temporary: ContiguousArray<ManagedObject>) throws {
    var stores: [Int: PersistentStore] = [:]
    if !assignments.isEmpty {
      for (index, object) in temporary.enumerated() { stores[index] = assignments[object.id] }
    }
    var ids = try source.permanentIDs(for: temporary.map { $0.entity }, in: stores)
    var promoted = PermanentIDs()
    for (index, object) in temporary.enumerated() where object.id.isTemporaryID {
      if let key = object.entity.primaryKey, case .int(let number) = object.slots[key.slot] {
        ids[index] = try persistentStoreCoordinator.managedObjectID(
          entity: object.entity.name, number: number, in: stores[index])
      }
      guard !ids[index].isTemporaryID else { continue }
      // A number that the store has just given is nobody's; one that an attribute says may be.
      if object.entity.primaryKey != nil, registry.object(with: ids[index]) != nil { continue }
      permanentIDs[object.id] = ids[index]
      promoted[object.id] = ids[index]
      if !assignments.isEmpty { assignments[object.id] = nil }
      registry.rename(object, to: ids[index])
    }
    if hasRelatedInsertions || !updates.isEmpty { replaceTemporaryIDs() }
    children.promote(promoted)
  }

  /// Throws what a read couldn't throw where it happened.
  func throwDeferredError() throws {
    guard let error = deferredError else { return }
    deferredError = nil
    throw error
  }

  /// Runs a read whose caller can't throw, and keeps its error for the next call that can.
  func reading<T>(_ body: () throws -> T) -> T? {
    do {
      return try body()
    } catch {
      deferredError = error
      return nil
    }
  }

  /// Reads a fault's row. An object that the store hasn't got any more reads as nil throughout and leaves the context,
  /// unless it is to be deleted: the save will say that it can't be. Without ``shouldDeleteInaccessibleFaults`` it stays
  /// a fault.
  func fulfill(_ object: ManagedObject) {
    guard object.isUnfilled else { return }
    object.isUnfilled = false
    guard object.state != .detached else { return }
    let row: StoreRow?
    do {
      if let kept = rowCache.row(object.id) {
        row = kept
      } else {
        row = faultBatches.isEmpty ? try source.rows(with: [object.id]).first : try rowOfBatch(object)
        if let row { rowCache.note(row) }
      }
    } catch {
      deferredError = error
      object.isUnfilled = true
      return
    }
    if let row {
      object.slots = row.values
      if object.state == .deleted { object.committed = row.values }
      if object.entity.hasOwnClass { awakeFromFetch(object) }
    } else if !shouldDeleteInaccessibleFaults {
      deferredError = ManagedObjectError.objectNotFound(object.id)
      object.isUnfilled = true
    } else {
      for property in object.entity.properties { object.slots[property.slot] = .null }
      if object.state == .deleted {
        object.isMissing = true
      } else {
        object.state = .detached
        registry.remove(object)
        pending.noteInvalidated(object)
      }
    }
  }

  /// Reads a fault's row, and along with it those of the faults that are in its batch.
  private func rowOfBatch(_ object: ManagedObject) throws -> StoreRow? {
    guard let batch = faultBatches.batch(of: object.id) else { return try source.rows(with: [object.id]).first }
    let others = batch.ids.compactMap { registry.object(with: $0) }.filter { $0.isUnfilled && $0.state == .clean }
    var rows = try source.rows(with: [object.id] + others.map(\.id))
    takePromotedIDs()
    guard var own = rows.firstIndex(where: { $0.id == object.id }).map({ rows.remove(at: $0) }) else {
      _ = materialize(rows)
      return nil
    }
    _ = materialize(rows)
    if !batch.paths.isEmpty {
      object.slots = own.values
      keep(try prefetch(batch.paths, of: others + [object]))
      own.values = object.slots
    }
    return own
  }
}
