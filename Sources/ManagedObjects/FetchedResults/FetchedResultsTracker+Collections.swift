// Over a to-many relationship a predicate reads objects that nobody holds and whose number is not known, so that a change
// of one of them is traced back: to who holds it by what the object itself says, then and now, and from there to the
// objects that a predicate is about by asking who leads there. Of the objects on one way that are changed and not saved the
// one nearest to the root counts: all links before it are as the store has them. So these are asked for each time.

/// Objects on a predicate's ways over to-many relationships that have changed.
struct CollectionChanges {
  private let steps: [CollectionStep]
  /// By step: the objects from which something else is read than before.
  private(set) var sources: [Set<ManagedObjectID>]
  /// Objects that the predicate is about, in whose sets objects came or went.
  private(set) var roots: Set<ManagedObjectID> = []
  /// Whether objects came or went of which nobody says who held them.
  private(set) var isUnknown = false

  init(_ steps: [CollectionStep]) {
    self.steps = steps
    sources = Array(repeating: [], count: steps.count)
  }

  var isEmpty: Bool { roots.isEmpty && sources.allSatisfy(\.isEmpty) }

  mutating func formUnion(_ other: CollectionChanges) {
    roots.formUnion(other.roots)
    for index in sources.indices { sources[index].formUnion(other.sources[index]) }
  }

  /// Notes an object of the context, which was `former` before.
  mutating func note(_ object: ManagedObject, former: ContiguousArray<Value>?, isKnownChange: Bool) {
    for (index, step) in steps.enumerated() where object.entity.isKindOf(step.destination) {
      if let slot = step.ownerSlot {
        for values in [former ?? [], object.committed, object.slots] { noteOwner(values, slot, of: step) }
      }
      let isSame =
        isKnownChange && former.map { former in step.slots.allSatisfy { former[$0] == object.slots[$0] } } == true
      if !isSame { sources[index].insert(object.id) }
    }
  }

  /// Notes what a merged save wrote.
  mutating func note(_ save: ContextSave) {
    for (index, step) in steps.enumerated() {
      let slot = step.ownerSlot
      if let slot {
        save.forEachInserted(of: { $0.entity.isKindOf(step.destination) }) { noteOwner($0.values, slot, of: step) }
      }
      for update in save.updated where update.id.entity.isKindOf(step.destination) {
        if update.committed.isEmpty {
          isUnknown = isUnknown || slot != nil
          sources[index].insert(update.id)
          continue
        }
        if let slot, update.committed[slot] != update.values[slot] {
          noteOwner(update.committed, slot, of: step)
          noteOwner(update.values, slot, of: step)
        }
        if step.slots.contains(where: { update.committed[$0] != update.values[$0] }) {
          sources[index].insert(update.id)
        }
      }
      for row in save.deleted where row.id.entity.isKindOf(step.destination) {
        guard !row.values.isEmpty else {
          isUnknown = true
          continue
        }
        if let slot { noteOwner(row.values, slot, of: step) }
      }
      for refresh in save.refreshed where refresh.id.entity.isKindOf(step.destination) {
        if refresh.values.keys.contains(where: step.slots.contains) { sources[index].insert(refresh.id) }
      }
    }
  }

  /// Notes who holds an object in the set that leads to it.
  private mutating func noteOwner(_ values: ContiguousArray<Value>, _ slot: Int, of step: CollectionStep) {
    guard !values.isEmpty, case .object(let owner) = values[slot] else { return }
    let before = Array(step.chain.dropLast())
    if before.isEmpty {
      roots.insert(owner)
    } else if let index = steps.firstIndex(where: { $0.chain == before }) {
      sources[index].insert(owner)
    }
  }
}

extension FetchedResultsTracker {
  /// Notes the objects that a predicate over to-many relationships may select differently.
  func gatherCollections(
    _ changes: PendingChanges, _ saves: [ContextSave], into candidates: inout FetchedCandidates
  ) {
    let steps = selection.paths.collections
    var found = CollectionChanges(steps)
    noteOwn(changes, in: &found)
    unsettled.formUnion(found)
    for save in saves { found.note(save) }
    // Links that were changed here and aren't saved lead to what has changed now, too; or they are as they were again.
    if !found.isEmpty || !changes.refreshed.isEmpty || !changes.deleted.isEmpty { found.formUnion(unsettled) }
    if !context.hasChanges { unsettled = CollectionChanges(steps) }
    if found.isUnknown { needsFetch = true }
    for id in found.roots where selection.concerns(id, in: context) { note(id, into: &candidates) }
    for (step, ids) in zip(steps, found.sources) where !ids.isEmpty {
      noteReferrers(by: step.predicate(reaching: ids), into: &candidates)
    }
  }

  private func noteOwn(_ changes: PendingChanges, in found: inout CollectionChanges) {
    let destinations = selection.paths.collections.map(\.destination)
    let concerns = { (object: ManagedObject) in destinations.contains { object.entity.isKindOf($0) } }
    var seen: Set<ObjectIdentifier> = []
    for object in changes.refreshed + changes.deleted where concerns(object) {
      seen.insert(ObjectIdentifier(object))
      found.note(object, former: nil, isKnownChange: false)
    }
    for former in changes.formers where concerns(former.object) {
      let isKnown = !former.values.isEmpty && seen.insert(ObjectIdentifier(former.object)).inserted
      found.note(former.object, former: former.values.isEmpty ? nil : former.values, isKnownChange: isKnown)
    }
    for object in changes.inserted where concerns(object) {
      found.note(object, former: nil, isKnownChange: false)
    }
  }

  private func note(_ id: ManagedObjectID, into candidates: inout FetchedCandidates) {
    if let object = context.registeredObject(for: id) {
      candidates.note(id) { $0.object = object }
    } else if !id.isTemporaryID {
      candidates.note(id) { $0.isRefreshed = true }
    }
  }
}
