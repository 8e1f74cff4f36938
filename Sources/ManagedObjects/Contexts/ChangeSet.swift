/// The unsaved changes of one context: what it has inserted, changed and deleted, in order.
///
/// An object's `state` says what it is; the lists here only keep the order. An object may therefore stay in a list that its
/// state has left: readers compare the state, and the next save or removal cleans the list up.
final class ChangeSet {
  // Touched on the context's queue only. The lists are appended to for each object of an import, and no access to one lasts
  // while another begins: the compiler needn't check that at run time.

  /// New objects in the order of their insertion, including those that have been deleted since.
  @exclusivity(unchecked) private(set) var insertions: ContiguousArray<ManagedObject> = []
  /// Changed objects in the order of their first change.
  @exclusivity(unchecked) private(set) var updates: ContiguousArray<ManagedObject> = []
  /// Objects to delete.
  @exclusivity(unchecked) private(set) var deletions: ContiguousArray<ManagedObject> = []
  /// New objects that were deleted, until their delete rules have been applied. They are in ``insertions``, too.
  private(set) var unsavedDeletions: ContiguousArray<ManagedObject> = []
  /// Deleted objects of both kinds whose delete rules haven't been applied yet.
  private var unpropagatedDeletions: ContiguousArray<ManagedObject> = []
  /// Objects that a merge has found deleted elsewhere, until the end of the event. No save writes them.
  private(set) var mergedDeletions: ContiguousArray<ManagedObject> = []
  /// Rows that children have inserted and of which no objects have been made, because nothing here has asked for one. In the
  /// order of their insertion, after the objects in ``insertions``.
  private(set) var adoptedRows: [StoreRow] = []
  /// Whether there are any.
  @exclusivity(unchecked) private(set) var hasAdoptedRows = false
  /// Rows that the next save inserts without objects.
  private(set) var newRows: [NewRows] = []
  /// Whether an object in ``insertions`` has been deleted again.
  private(set) var hasVoidInsertions = false
  /// Whether an object in ``insertions`` has relationships, which may hold temporary IDs.
  private(set) var hasRelatedInsertions = false
  /// Whether an object in ``insertions`` may belong to another object's set.
  private(set) var hasInsertedMembers = false
  /// The stores that new objects were assigned to, by temporary ID. Few programs assign any, so they are kept beside the
  /// objects. An assignment goes up with its object when a child is saved. It ends when the object gets its permanent ID,
  /// which names the store.
  private(set) var assignments: [ManagedObjectID: PersistentStore] = [:]

  /// The one-to-many sets of objects in ``updates`` whose members have changed, and how often they did.
  private var memberChanges: [ObjectIdentifier: MemberChanges] = [:]

  private struct MemberChanges {
    var slots: [Int] = []
    var count = 0
  }

  /// Whether there is anything to save.
  var isEmpty: Bool {
    !hasAdoptedRows && deletions.isEmpty && unsavedDeletions.isEmpty && newRows.isEmpty
      && !insertions.contains { $0.state == .inserted }
      && !updates.contains { $0.state == .updated }
  }

  /// Whether there is nothing but adopted rows.
  var hasOnlyAdoptedRows: Bool {
    hasAdoptedRows && insertions.isEmpty && updates.isEmpty && deletions.isEmpty && unsavedDeletions.isEmpty
      && unpropagatedDeletions.isEmpty && mergedDeletions.isEmpty && newRows.isEmpty && assignments.isEmpty
      && memberChanges.isEmpty
  }

  /// Whether an object of the entity's hierarchy may have changed.
  func concerns(hierarchyOf entity: EntityDescription) -> Bool {
    let isConcerned = { (object: ManagedObject) in object.entity.rootEntity === entity.rootEntity }
    return insertions.contains(where: isConcerned) || updates.contains(where: isConcerned)
      || deletions.contains(where: isConcerned)
  }

  /// New and changed objects. Deleted ones may be among them.
  var insertionsAndUpdates: ContiguousArray<ManagedObject> { insertions + updates }

  // MARK: Recording

  /// Makes room for more new objects.
  func reserve(forInsertions count: Int) { insertions.reserveCapacity(insertions.count + count) }

  /// Records a new object.
  @inline(__always)
  func insert(_ object: ManagedObject) {
    insertions.append(object)
    noteRelations(of: object.id.scope.entity)
  }

  @inline(__always)
  private func noteRelations(of entity: EntityDescription) {
    if entity.relationships.isEmpty { return }
    hasRelatedInsertions = true
    if entity.joinsSets { hasInsertedMembers = true }
  }

  /// Records an object's first change.
  @inline(__always)
  func update(_ object: ManagedObject) { updates.append(object) }

  /// Records that members have come into an object's set or left it.
  func noteMembers(of owner: ManagedObject, _ slot: Int) {
    let key = ObjectIdentifier(owner)
    memberChanges[key, default: MemberChanges()].count += 1
    if memberChanges[key]?.slots.contains(slot) == false { memberChanges[key]?.slots.append(slot) }
  }

  /// The slots of an object's sets whose members have changed.
  func changedSets(of owner: ManagedObject) -> [Int] {
    memberChanges.isEmpty ? [] : memberChanges[ObjectIdentifier(owner)]?.slots ?? []
  }

  /// How often members have come into an object's sets or left them.
  func memberChangeCount(of owner: ManagedObject) -> Int {
    memberChanges.isEmpty ? 0 : memberChanges[ObjectIdentifier(owner)]?.count ?? 0
  }

  /// Records the deletion of a saved object.
  func delete(_ object: ManagedObject) {
    deletions.append(object)
    unpropagatedDeletions.append(object)
  }

  /// Records the deletion of a new object.
  func deleteUnsaved(_ object: ManagedObject) {
    unsavedDeletions.append(object)
    unpropagatedDeletions.append(object)
    hasVoidInsertions = true
  }

  /// Records that an object is deleted because its row turned out to be gone. No rule is applied: the store has done so.
  func deleteInaccessible(_ object: ManagedObject) { deletions.append(object) }

  /// Records that objects were deleted elsewhere. Where one was deleted here, too, that has nothing left to do.
  func deleteMerged(_ objects: [ManagedObject], deletedHere: Set<ObjectIdentifier>) {
    if !deletedHere.isEmpty {
      let isDeletedHere = { (object: ManagedObject) in deletedHere.contains(ObjectIdentifier(object)) }
      deletions.removeAll(where: isDeletedHere)
      unpropagatedDeletions.removeAll(where: isDeletedHere)
      mergedDeletions.removeAll(where: isDeletedHere)
    }
    mergedDeletions.append(contentsOf: objects)
  }

  /// Takes out the objects that were deleted elsewhere.
  func takeMergedDeletions() -> ContiguousArray<ManagedObject> {
    if mergedDeletions.isEmpty { return [] }
    defer { mergedDeletions = [] }
    return mergedDeletions
  }

  /// Takes deletions back. The objects' states say already whether they are new or changed.
  func undelete(_ objects: [ManagedObject]) {
    if objects.isEmpty { return }
    deletions.removeAll { $0.state != .deleted }
    mergedDeletions.removeAll { $0.state != .deleted }
    unsavedDeletions.removeAll { $0.state != .deleted }
    unpropagatedDeletions.removeAll { $0.state != .deleted }
    // Some may still be in the lists.
    let new = hasVoidInsertions ? Set(insertions.map(ObjectIdentifier.init)) : []
    let changed = Set(updates.map(ObjectIdentifier.init))
    for object in objects {
      if object.state == .inserted {
        if !new.contains(ObjectIdentifier(object)) { insertions.append(object) }
        noteRelations(of: object.entity)
      } else if !changed.contains(ObjectIdentifier(object)) {
        updates.append(object)
      }
    }
  }

  /// Records that a new object was deleted again.
  func noteVoidInsertion() { hasVoidInsertions = true }

  /// Records rows that have no objects.
  func insert(_ rows: NewRows) { newRows.append(rows) }

  // MARK: Adopted rows

  /// Records rows that a child has inserted.
  func adopt(_ rows: [StoreRow]) {
    if hasAdoptedRows { adoptedRows += rows } else { adoptedRows = rows }
    hasAdoptedRows = !adoptedRows.isEmpty
  }

  /// The entities of the adopted rows that have temporary IDs.
  var entitiesOfNewAdoptedRows: [EntityDescription] {
    // By index, because a copy of each row would count references.
    var entities: [EntityDescription] = []
    entities.reserveCapacity(adoptedRows.count)
    for place in adoptedRows.indices where adoptedRows[place].id.isTemporaryID {
      entities.append(adoptedRows[place].id.scope.entity)
    }
    return entities
  }

  /// Gives those rows their permanent IDs. Returns them by the temporary ones.
  func giveNewAdoptedRows(_ ids: [ManagedObjectID]) -> PermanentIDs {
    var promoted = PermanentIDs()
    var next = 0
    for place in adoptedRows.indices where adoptedRows[place].id.isTemporaryID && next < ids.count {
      promoted[adoptedRows[place].id] = ids[next]
      adoptedRows[place].id = ids[next]
      next += 1
    }
    return promoted
  }

  /// Takes the adopted rows out: objects are made of them, or they have been saved.
  func takeAdoptedRows() -> [StoreRow] {
    defer {
      adoptedRows = []
      hasAdoptedRows = false
    }
    return adoptedRows
  }

  // MARK: Deletions

  /// Calls `apply` with each deleted object whose delete rules haven't been applied, including those that `apply` deletes.
  /// When it returns false, that object and the following ones wait for the next call.
  ///
  /// A class's method that `apply` calls may process the context's changes, undo or roll back. So the list is taken out first,
  /// and `apply` looks at the state of each object.
  func propagateDeletions(_ apply: (ManagedObject) -> Bool) {
    defer { if !unsavedDeletions.isEmpty { unsavedDeletions.removeAll { $0.state == .detached } } }
    while !unpropagatedDeletions.isEmpty {
      let deleted = unpropagatedDeletions
      unpropagatedDeletions = []
      for (place, object) in deleted.enumerated() {
        if apply(object) { continue }
        unpropagatedDeletions = ContiguousArray(deleted[place...]) + unpropagatedDeletions
        return
      }
    }
  }

  // MARK: Stores of new objects

  /// Assigns a new object to a store.
  func assign(_ id: ManagedObjectID, to store: PersistentStore) { assignments[id] = store }
  /// Takes on a child's assignments.
  func assign(_ more: [ManagedObjectID: PersistentStore]) { assignments.merge(more) { $1 } }
  /// Ends an assignment.
  func endAssignment(of id: ManagedObjectID) { if !assignments.isEmpty { assignments[id] = nil } }

  // MARK: Cleaning up

  /// Drops new objects that were deleted again.
  func removeVoidInsertions() {
    guard hasVoidInsertions else { return }
    insertions.removeAll { $0.state != .inserted }
    hasVoidInsertions = false
  }

  /// Drops changed objects for which `isSettled` holds.
  func removeUpdates(where isSettled: (ManagedObject) -> Bool) {
    guard !memberChanges.isEmpty else { return updates.removeAll(where: isSettled) }
    for object in updates where isSettled(object) { memberChanges[ObjectIdentifier(object)] = nil }
    updates.removeAll(where: isSettled)
  }
  /// Drops deleted objects for which `isSettled` holds.
  func removeDeletions(where isSettled: (ManagedObject) -> Bool) { deletions.removeAll(where: isSettled) }
  /// Drops the rows without objects.
  func removeNewRows() { newRows = [] }

  /// Marks every new and changed object as saved.
  func settle() {
    for object in insertions { object.settleInsertion() }
    for object in updates where object.state == .updated { object.settleUpdate() }
  }

  /// Marks the objects of one part of the changes as saved, and drops them.
  func settle(_ part: SaveRequest) {
    for object in part.inserted { object.settleInsertion() }
    for object in part.updated where object.state == .updated {
      object.settleUpdate()
      memberChanges[ObjectIdentifier(object)] = nil
    }
    insertions.removeAll { $0.state != .inserted }
    removeUpdates { $0.state != .updated }
    let gone = Set(part.deleted.map(ObjectIdentifier.init))
    removeDeletions { gone.contains(ObjectIdentifier($0)) }
  }

  /// Drops everything.
  /// - Parameter keepsAssignments: true where an undo can bring new objects back.
  func removeAll(keepingAssignments keepsAssignments: Bool) {
    insertions.removeAll(keepingCapacity: true)
    newRows = []
    updates.removeAll(keepingCapacity: true)
    deletions.removeAll(keepingCapacity: true)
    unsavedDeletions = []
    unpropagatedDeletions.removeAll(keepingCapacity: true)
    if !memberChanges.isEmpty { memberChanges = [:] }
    hasVoidInsertions = false
    hasRelatedInsertions = false
    hasInsertedMembers = false
    if !keepsAssignments, !assignments.isEmpty { assignments.removeAll() }
  }

  /// Detaches every changed object from the context, which ends.
  func detachAll() {
    for object in insertions { object.state = .detached }
    for object in updates { object.state = .detached }
    for object in deletions { object.state = .detached }
  }
}

extension ManagedObject {
  @inline(__always)
  fileprivate final func settleInsertion() {
    state = .clean
    isChangePending = false
  }

  @inline(__always)
  fileprivate final func settleUpdate() {
    state = .clean
    committed = []
  }
}
