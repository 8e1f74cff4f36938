public import Foundation

extension ManagedObjectContext {
  /// The object with that ID: the registered one, or else a fault. The store isn't asked whether it exists.
  /// An object that nothing but the context holds is a fault again if its values may be out of date, so it shows the store's
  /// values. Source: `object(with:)` of Core Data.
  ///
  /// The IDs of objects, and of those that a request finds, name their own entity. An ID in a relationship, or from a URI, may
  /// name one from which it inherits: such an object is read at once, to learn its class.
  public func object(with id: ManagedObjectID) -> ManagedObject {
    if let known = registeredObject(for: id) { return known }
    let id = registry.currentID(id)
    if !id.scope.isExact, let row = reading({ try source.rows(with: [id]) })?.first {
      let object = make(row, state: .clean, isFault: false)
      object.latestSave = rowSource.latestSave
      if object.entity.hasOwnClass { callbacks.awakeFromFetch(object) }
      return object
    }
    return makeFault(id)
  }

  /// The object with that ID if it is registered. One that nothing else holds is a fault again if its values may be out of
  /// date. Source: `registeredObject(for:)` of Core Data, which has released such an object.
  public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
    confinement.check()
    takePromotedIDs()
    guard let (object, isAlone) = registry.objectOrSuccessorAlone(with: id) else { return nil }
    if isAlone { forgetOldValues(ofUnheld: object) }
    return object
  }

  /// The object with that ID, with its values. An object that is to be deleted here is returned all the same.
  /// Source: `existingObject(with:)` of Core Data.
  /// - Throws: ``ManagedObjectError/objectNotFound(_:)`` when the store doesn't have it, or the store's error. The context's
  ///   objects stay as they are then.
  public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
    let known = registeredObject(for: id)
    let object = try rowSource.readingOne {
      let object = known ?? self.object(with: id)
      try throwDeferredError()
      return object
    }
    if object.isUnfilled, object.state == .clean || object.state == .updated {
      guard let row = try row(of: object) else {
        // A fault that the program holds stays one, and so does its state.
        if known == nil {
          object.state = .detached
          registry.remove(object)
        }
        throw ManagedObjectError.objectNotFound(id)
      }
      fill(object, from: row)
    }
    let isGone = object.state == .detached || (object.state == .deleted && object.deletion == .ofInaccessibleFault)
    if isGone { throw ManagedObjectError.objectNotFound(id) }
    return object
  }

  /// Gives new objects their permanent IDs before they are saved.
  ///
  /// Where the model numbers objects by an attribute, the attribute decides the ID and can't change from then on. Without a
  /// value, or with that of another registered object, the ID stays temporary until the save.
  /// Source: `obtainPermanentIDs(for:)` of Core Data.
  /// - Throws: ``ManagedObjectError/foreignObject(_:)`` for an object of another context, or the store's error.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    confinement.check()
    if let foreign = objects.first(where: { $0.confinement !== confinement }) {
      throw ManagedObjectError.foreignObject(foreign.id)
    }
    try givePermanentIDs(to: ContiguousArray(objects.lazy.filter { $0.id.isTemporaryID && $0.state == .inserted }))
  }

  /// Gives every new object its permanent ID, so that a row that is being written isn't taken for another object.
  func giveInsertionsPermanentIDs() throws {
    let insertions = changeSet.insertions
    let isEachNew = insertions.allSatisfy { $0.id.isTemporaryID && $0.state == .inserted }
    try givePermanentIDs(
      to: isEachNew ? insertions : insertions.filter { $0.id.isTemporaryID && $0.state == .inserted })
  }

  private func givePermanentIDs(to temporary: ContiguousArray<ManagedObject>) throws {
    var stores: [Int: PersistentStore] = [:]
    if !changeSet.assignments.isEmpty {
      for (index, object) in temporary.enumerated() { stores[index] = changeSet.assignments[object.id] }
    }
    var ids = try source.permanentIDs(for: temporary.map { $0.entity }, in: stores)
    var promoted = PermanentIDs()
    for (index, object) in temporary.enumerated() where object.id.isTemporaryID {
      if let key = object.entity.primaryKey, case .int(let number) = object.slots[key.slot] {
        ids[index] = try persistentStoreCoordinator.managedObjectID(
          entity: object.entity.name, number: number, in: stores[index])
      }
      guard !ids[index].isTemporaryID else { continue }
      // A number that the store has just given is unused; one that an attribute says may be taken.
      if object.entity.primaryKey != nil, registry.object(with: ids[index]) != nil { continue }
      registry.note(ids[index], for: object.id)
      promoted[object.id] = ids[index]
      changeSet.endAssignment(of: object.id)
      registry.rename(object, to: ids[index])
    }
    if changeSet.hasRelatedInsertions || !changeSet.updates.isEmpty { replaceTemporaryIDs() }
    children.promote(promoted)
  }

  /// Reads a fault's row. An object that is gone from the store becomes a deleted object without values, unless it is to be
  /// deleted anyway: the save will report that it can't be. Without ``shouldDeleteInaccessibleFaults`` it stays a fault.
  func fulfill(_ object: ManagedObject) {
    guard object.isUnfilled else { return }
    guard object.state != .detached else {
      object.isUnfilled = false
      return
    }
    do {
      if let row = try row(of: object) {
        fill(object, from: row)
      } else if object.state == .deleted {
        clear(object)
        if object.deletion == .ofRow { object.deletion = .ofMissingRow }
      } else if shouldDeleteInaccessibleFaults {
        clear(object)
        object.state = .deleted
        object.deletion = .ofInaccessibleFault
        changeSet.deleteInaccessible(object)
        notifier.noteInvalidated(object)
      } else {
        rowSource.deferError(ManagedObjectError.objectNotFound(object.id))
      }
    } catch {
      rowSource.deferError(error)
    }
  }

  private func row(of object: ManagedObject) throws -> StoreRow? {
    if let kept = fetchCache.row(object.id) {
      object.latestSave = .max
      return kept
    }
    // While its row is read, the object isn't one of those that are to be read with it.
    object.isUnfilled = false
    defer { object.isUnfilled = true }
    let row = fetchCache.hasBatches ? try rowOfBatch(object) : try source.rows(with: [object.id]).first
    if let row { fetchCache.note(row) }
    object.latestSave = rowSource.latestSave
    return row
  }

  private func fill(_ object: ManagedObject, from row: StoreRow) {
    object.content = row.content
    object.isUnfilled = false
    object.era = registry.era
    if object.state == .deleted { object.committed = row.values }
    if object.state == .updated { noteFilled(object) }
    if object.entity.hasOwnClass { callbacks.awakeFromFetch(object) }
  }

  /// Fills a fault without a row.
  private func clear(_ object: ManagedObject) {
    for property in object.entity.properties {
      object.slots[property.slot] = (property as? RelationshipDescription)?.emptyValue ?? .null
    }
    object.isUnfilled = false
  }

  /// Reads a fault's row together with those of the other faults in its batch.
  private func rowOfBatch(_ object: ManagedObject) throws -> StoreRow? {
    guard let batch = fetchCache.batch(of: object.id) else { return try source.rows(with: [object.id]).first }
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
      fetchCache.keep(try prefetch(batch.paths, of: others + [object]))
      own.values = object.slots
    }
    return own
  }

  // MARK: IDs that a parent has given

  /// Gives objects that became permanent further up their new IDs.
  @inline(__always)
  func takePromotedIDs() {
    guard let promotions else { return }
    if let promoted = promotions.take() { rename(promoted) }
  }

  private func rename(_ promoted: PermanentIDs) {
    let isAnyKnown = bareRegistry.promote(promoted) { self.persistentStoreCoordinator.temporaryScope(of: $0) }
    if isAnyKnown, model.entities.contains(where: { !$0.relationships.isEmpty }) {
      replaceTemporaryIDs(promoted, in: registry.objects)
    }
    children.promote(promoted)
    // Objects that were only on their way up needn't be kept any more.
    if isAnyKnown, !children.isEmpty { free(bareRegistry.trim()) }
  }

  // MARK: Stale rows

  /// The greatest age, in seconds, of the values that fill a fault without another read of the store; less than 0 for any
  /// age.
  ///
  /// 0, the default, reads the store for every fault. In Core Data the default is -1: rows never grow stale, because its
  /// coordinator keeps them for all contexts and every save of one of them updates them. Here a context keeps rows that it
  /// has read itself, and only when this asks for it. It forgets what it saves and merges, but it doesn't know of saves that
  /// it hasn't merged yet, nor of other processes' changes: with -1, ``refresh(_:mergeChanges:)`` would bring back the old
  /// values. So -1 is for contexts that merge every save, or that read data which don't change. After a sibling's save the
  /// default gives what Core Data's gives; after another process's save it gives the latest values, where Core Data's are
  /// stale. Source: `stalenessInterval` of Core Data.
  public var stalenessInterval: TimeInterval {
    get {
      confinement.check()
      return fetchCache.stalenessInterval
    }
    set {
      confinement.check()
      fetchCache.stalenessInterval = newValue
    }
  }
}
