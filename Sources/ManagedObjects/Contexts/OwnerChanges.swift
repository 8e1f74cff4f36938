package import OrderedCollections

/// The saved objects whose one-to-many sets gain or lose members by a set of changes.
///
/// In a one-to-many pair the rows of the members say which set they are in. The owner of the set changes with it all the same,
/// as in Core Data: it is asked and validated, told, recorded in the history, and takes part in optimistic locking. All of that
/// follows from the members' rows alone, so it doesn't matter whether the set has been read.
package struct OwnerChanges {
  /// How many members a set gains and loses.
  package struct Difference: Sendable {
    fileprivate(set) var added = 0
    fileprivate(set) var removed = 0
    /// By how many members it grows.
    var growth: Int { added - removed }
  }

  /// The differences by owner and by the set's slot, in the order of their first change. New owners are among them, under the IDs
  /// that they have.
  package private(set) var sets: OrderedDictionary<ManagedObjectID, [Int: Difference]> = [:]

  /// No changes.
  init() {}

  /// What a context is going to save.
  /// - Parameter isConcerned: whether the sets of an entity's objects count.
  init(_ changeSet: ChangeSet, where isConcerned: (EntityDescription) -> Bool = { _ in true }) {
    if changeSet.hasInsertedMembers {
      for object in changeSet.insertions where object.state == .inserted && object.id.scope.entity.joinsSets {
        note(object.id.scope.entity, from: nil, to: object.slots, isConcerned)
      }
    }
    for object in changeSet.updates where object.state == .updated && object.id.scope.entity.joinsSets {
      guard !object.committed.isEmpty else { continue }
      note(object.id.scope.entity, from: object.committed, to: object.slots, isConcerned)
    }
    for object in changeSet.deletions where object.state == .deleted && object.id.scope.entity.joinsSets {
      guard !object.committed.isEmpty else { continue }
      note(object.id.scope.entity, from: object.committed, to: nil, isConcerned)
    }
  }

  /// What a store is asked to write, apart from rows without objects.
  package init(_ changes: StoreChanges) {
    for row in changes.inserted where row.id.scope.entity.joinsSets {
      note(row.id.scope.entity, from: nil, to: row.values)
    }
    for update in changes.updated where update.id.scope.entity.joinsSets {
      note(update.id.scope.entity, from: update.committed, to: update.values)
    }
    for row in changes.deleted where row.id.scope.entity.joinsSets && !row.values.isEmpty {
      note(row.id.scope.entity, from: row.values, to: nil)
    }
  }

  private mutating func note(
    _ entity: EntityDescription, from former: ContiguousArray<Value>?, to values: ContiguousArray<Value>?,
    _ isConcerned: (EntityDescription) -> Bool = { _ in true }
  ) {
    for relationship in entity.relationships where !relationship.isToMany && !relationship.isUnstored {
      guard let set = relationship.inverseRelationship, set.isToMany, isConcerned(set.entity) else { continue }
      let (old, new) = (former?[relationship.slot] ?? .null, values?[relationship.slot] ?? .null)
      if old == new { continue }
      if case .object(let owner) = old { sets[owner, default: [:]][set.slot, default: .init()].removed += 1 }
      if case .object(let owner) = new { sets[owner, default: [:]][set.slot, default: .init()].added += 1 }
    }
  }

  /// By how many members a set grows.
  func growth(of owner: ManagedObjectID, _ set: RelationshipDescription) -> Int { sets[owner]?[set.slot]?.growth ?? 0 }
}

// MARK: - Owners of changed sets

extension ManagedObjectContext {
  /// Whether the objects of an entity change with the members of their sets.
  ///
  /// Always, except in a context that nothing observes, as that of an import: there only where a class or a rule may look at
  /// the members. An import writes millions of rows, and would have to read each owner's.
  func changesOwners(of entity: EntityDescription) -> Bool { announcesChanges || entity.checksMembers }

  /// The owner of a set whose members change: the registered object, or else a fault. nil where it needn't change, and where only
  /// its row says of which class it is: the save reads that row together with others.
  func owner(_ id: ManagedObjectID, of set: RelationshipDescription) -> ManagedObject? {
    if let known = registeredObject(for: id) { return known }
    guard changesOwners(of: set.entity), id.scope.isExact, !id.isTemporaryID || parent != nil else {
      return nil
    }
    return makeFault(registry.currentID(id))
  }

  /// Records that members have come into a set or left it. Nothing is read.
  func noteMembers(of owner: ManagedObject, _ set: RelationshipDescription) {
    if owner.state == .clean || owner.state == .updated, !callbacks.isAwakening, changesOwners(of: owner.entity) {
      changeSet.noteMembers(of: owner, set.slot)
      if owner.state == .clean { return noteFirstChange(owner) }
    }
    if !owner.isChangePending { noteChanged(owner) }
  }

  /// Marks every owner of a changed set as changed, before a save. Most are already: the rest weren't registered, or their changes
  /// were discarded while those of the members stayed.
  func changeOwners() throws -> OwnerChanges {
    guard announcesChanges || model.checksMembers else { return OwnerChanges() }
    let changes = OwnerChanges(changeSet, where: changesOwners)
    let unknown = changes.sets.keys.filter { registry.object(with: $0) == nil }
    if !unknown.isEmpty { try fill(unknown) }
    for (id, sets) in changes.sets {
      guard let owner = registry.object(with: id), owner.state == .clean || owner.state == .updated else { continue }
      let known = changeSet.changedSets(of: owner)
      for slot in sets.keys where !known.contains(slot) { changeSet.noteMembers(of: owner, slot) }
      if owner.state == .clean { noteFirstChange(owner) }
    }
    try fillChangedFaults()
    return changes
  }

  /// Reads the rows of changed objects that are still faults, all at once: owners of changed sets.
  func fillChangedFaults() throws {
    let faults = changeSet.updates.filter { $0.isUnfilled && $0.state == .updated }
    if faults.isEmpty { return }
    try fill(faults.map(\.id))
    var isAnyGone = false
    for object in faults where object.isUnfilled {
      if object.id.isTemporaryID {
        // A new object of a parent.
        fulfill(object)
      } else {
        // Its row is gone, which the save reports as a broken reference of the members.
        object.state = .clean
        isAnyGone = true
      }
    }
    if isAnyGone { changeSet.removeUpdates { $0.state == .clean } }
    try throwDeferredError()
  }

  /// The numbers of members that sets will have which aren't read, after the changes given. Counted where the rows are; no
  /// member is read. All sets at once, because a parent looks through all of its changes to count.
  func memberCounts(of sets: [OwnedSet], after changes: OwnerChanges) throws -> [Int] {
    let before: [Int]
    if let parent {
      before = try parent.readForChild { parent in
        try parent.memberCounts(of: sets.map { OwnedSet(owner: parent.registry.currentID($0.owner), set: $0.set) })
      }
    } else {
      before = try sets.map(storedCount)
    }
    return zip(sets, before).map { set, count in count + changes.growth(of: set.owner, set.set) }
  }

  /// The number of members that a set has in the store.
  private func storedCount(of set: OwnedSet) throws -> Int {
    guard !set.owner.isTemporaryID, let inverse = set.set.inverseRelationship, !inverse.isUnstored else { return 0 }
    let members = StoreFetch(
      entity: inverse.entity,
      predicate: try FetchPredicate.equal(inverse.name, .object(set.owner)).resolved(in: inverse.entity))
    return try rowSource.latest.count(members)
  }

  /// The numbers of members that sets have here.
  private func memberCounts(of sets: [OwnedSet]) throws -> [Int] {
    var counts = sets.map { set -> Int? in
      guard let owner = registry.object(with: set.owner), owner.hasResolved(set.set) else { return nil }
      return owner.slots[set.set.slot].objectCount ?? 0
    }
    let unread = sets.indices.filter { counts[$0] == nil }
    if !unread.isEmpty {
      let found = try memberCounts(of: unread.map { sets[$0] }, after: OwnerChanges(changeSet))
      for (place, count) in zip(unread, found) { counts[place] = count }
    }
    return counts.map { $0 ?? 0 }
  }
}

/// The one-to-many set of an owner.
struct OwnedSet {
  let owner: ManagedObjectID
  let set: RelationshipDescription
}

/// The numbers of members that unread sets will have after a save, for the rules of their owners.
final class MemberCounts {
  // Touched on the context's queue only.
  private let context: ManagedObjectContext
  private let changes: OwnerChanges
  private var counts: [ManagedObjectID: [Int: Int]]?

  init(_ context: ManagedObjectContext, after changes: OwnerChanges) {
    self.context = context
    self.changes = changes
  }

  /// The number of members that a set will have. The first call counts those of all owners whose sets have rules and change.
  func count(of owner: ManagedObjectID, _ set: RelationshipDescription) throws -> Int {
    if counts == nil { counts = try countAll() }
    if let count = counts?[owner]?[set.slot] { return count }
    return try context.memberCounts(of: [OwnedSet(owner: owner, set: set)], after: changes)[0]
  }

  private func countAll() throws -> [ManagedObjectID: [Int: Int]] {
    var sets: [OwnedSet] = []
    for (owner, changed) in changes.sets {
      for set in owner.scope.entity.relationships
      where set.isToMany && set.hasMemberRule && changed[set.slot] != nil {
        if context.registry.object(with: owner)?.hasResolved(set) == true { continue }
        sets.append(OwnedSet(owner: owner, set: set))
      }
    }
    var counts: [ManagedObjectID: [Int: Int]] = [:]
    for (set, count) in zip(sets, try context.memberCounts(of: sets, after: changes)) {
      counts[set.owner, default: [:]][set.set.slot] = count
    }
    return counts
  }
}
