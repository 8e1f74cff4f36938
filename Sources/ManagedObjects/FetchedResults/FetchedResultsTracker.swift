// Follows a context for one controller, from one fetch to the next. What the context says has changed becomes a list of
// candidates; each is looked at once, and is then a member or isn't. Nothing is fetched again, except
//   1. the window of a request with a limit or an offset, when what lies outside it may come in;
//   2. the objects whose predicate goes over a relationship, when what is there changes: those that lead there;
//   3. everything, when a deletion emptied references that no delete rule reaches, when a fetch failed before, or when a
//      save was merged that doesn't tell its rows.

/// Whom a tracker tells.
protocol FetchedResultsReceiver: AnyObject {
  func trackerWillChange(_ tracker: FetchedResultsTracker)
  func tracker(_ tracker: FetchedResultsTracker, didChange change: ContentChange)
  func trackerDidReset(_ tracker: FetchedResultsTracker)
}

/// Keeps a controller's content in step with its context. On the context's queue.
final class FetchedResultsTracker: ContextObserver {
  let context: ManagedObjectContext
  let selection: FetchedSelection
  private let fetchObjects: () throws -> [ManagedObject]
  weak var receiver: (any FetchedResultsReceiver)?

  var content: FetchedContent
  var related: RelatedObjects
  /// Members whose ID may become permanent.
  private(set) var temporaries: [FetchedMember] = []
  /// Merged saves that haven't been processed.
  private var saves: [ContextSave] = []
  /// Whether the receiver is being told, and what has come meanwhile.
  private var isTelling = false
  private var backlog: [(PendingChanges, [ContextSave])] = []
  /// Whether the context was reset while the receiver was being told of something else.
  private var isReset = false
  /// Rows of the merged saves that members may be selected, sorted or sectioned by.
  var relatedRows: [ManagedObjectID: StoreRow] = [:]
  /// Whether everything is to be fetched again.
  var needsFetch = false
  /// What unsaved changes concern on the predicate's ways over to-many relationships.
  var unsettled: CollectionChanges
  /// Whether a deletion not saved yet will empty references that no delete rule reaches.
  private var awaitsLooseDeletion = false

  /// Fetches.
  init(
    _ context: ManagedObjectContext, _ selection: FetchedSelection, fetch: @escaping () throws -> [ManagedObject]
  ) throws {
    self.context = context
    self.selection = selection
    fetchObjects = fetch
    related = RelatedObjects(selection.paths)
    unsettled = CollectionChanges(selection.paths.collections)
    let objects = try fetch()
    let held = context.objects(along: selection.paths.routes, from: objects, [:])
    let members = ContiguousArray(zip(objects, selection.places(of: objects, in: context)).map(FetchedMember.init))
    content = FetchedContent(members, selection.order, hasSections: selection.hasSections)
    try context.throwDeferredError()
    try Self.check(content.sections)
    for member in members { related.follow(member, in: context) }
    withExtendedLifetime(held) {}
    temporaries = members.filter(\.id.isTemporaryID)
    context.notifier.add(self)
  }

  private static func check(_ sections: SectionRuns) throws {
    var names: Set<String> = []
    for (run, start) in zip(sections.runs, sections.starts) where !names.insert(run.name).inserted {
      throw FetchedResultsError.sectionsOutOfOrder(name: run.name, objectIndex: start)
    }
  }

  // MARK: What the context says

  func contextWillProcess(_ save: ContextSave) { saves.append(save) }

  func contextDidProcess(_ changes: PendingChanges) {
    backlog.append((changes, saves))
    saves = []
    if isTelling { return }
    isTelling = true
    defer { isTelling = false }
    while !backlog.isEmpty {
      let (changes, saves) = backlog.removeFirst()
      process(changes, saves)
    }
    if isReset {
      isTelling = false
      contextDidReset()
    }
  }

  func contextDidReset() {
    saves = []
    backlog = []
    if isTelling {
      isReset = true
      return
    }
    isTelling = true
    tell(ContentDelta(leaving: Array(content.members)))
    receiver?.trackerDidReset(self)
  }

  // MARK: From changes to a new content

  private func process(_ changes: PendingChanges, _ saves: [ContextSave]) {
    let renamed = takePermanentIDs()
    var candidates = FetchedCandidates()
    if !changes.isEmpty || !saves.isEmpty { gather(changes, saves, into: &candidates) }
    if awaitsLooseDeletion, context.changeSet.deletions.isEmpty {
      awaitsLooseDeletion = false
      needsFetch = true
    }
    if candidates.isEmpty, !needsFetch, renamed.all.isEmpty { return }
    let delta =
      needsFetch
      ? fetchedDelta(candidates, renamed.unplaced)
      : windowed(delta(candidates, renamed.unplaced), candidates, renamed.unplaced)
    relatedRows = [:]
    guard let delta, !delta.isEmpty || !renamed.all.isEmpty else { return }
    tell(delta)
  }

  private func gather(_ changes: PendingChanges, _ saves: [ContextSave], into candidates: inout FetchedCandidates) {
    for list in [changes.inserted, changes.updated, changes.refreshed, changes.deleted] {
      for object in list where selection.concerns(object.id, in: context) { candidates.noteChanged(object) }
    }
    for save in saves {
      if let roots = save.changedRoots, selection.concerns(roots: roots) { needsFetch = true }
      save.forEachInserted(of: { selection.concerns($0, in: context) }) { candidates.noteMerged($0) }
      for update in save.updated where selection.concerns(update.id, in: context) {
        candidates.noteMerged(StoreRow(id: update.id, values: update.values))
      }
      for row in save.deleted where selection.concerns(row.id, in: context) { candidates.noteDeleted(row.id) }
      for refresh in save.refreshed where selection.concerns(refresh.id, in: context) {
        candidates.noteRefreshed(refresh.id)
      }
    }
    if !selection.paths.steps.isEmpty { gatherRelated(changes, saves, into: &candidates) }
    if !selection.paths.collections.isEmpty { gatherCollections(changes, saves, into: &candidates) }
    let loose = selection.paths.looseDestinations
    guard !loose.isEmpty else { return }
    let isLoose = { (id: ManagedObjectID) in loose.contains { id.entity.isKindOf($0) } }
    if saves.contains(where: { $0.deleted.contains { isLoose($0.id) } }) { needsFetch = true }
    if changes.deleted.contains(where: { isLoose($0.id) }) { awaitsLooseDeletion = true }
  }

  /// Members whose IDs have become permanent; those among them that have to take another place for it.
  private func takePermanentIDs() -> (all: [FetchedMember], unplaced: Set<ObjectIdentifier>) {
    guard !temporaries.isEmpty else { return ([], []) }
    var (all, unplaced): ([FetchedMember], Set<ObjectIdentifier>) = ([], [])
    for member in temporaries where member.id != member.object.id {
      all.append(member)
      if !content.rename(member) { unplaced.insert(ObjectIdentifier(member)) }
    }
    temporaries.removeAll { !$0.object.id.isTemporaryID }
    return (all, unplaced)
  }

  /// Fetches everything again.
  func fetchedDelta(_ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>) -> ContentDelta? {
    guard let stored = context.reading(fetchObjects) else {
      needsFetch = true
      return nil
    }
    needsFetch = false
    let objects = withUnsavedRelated(stored)
    let held = context.objects(along: selection.paths.routes, from: objects, [:])
    defer { withExtendedLifetime(held) {} }
    var delta = ContentDelta()
    var found: Set<ObjectIdentifier> = []
    for (object, place) in zip(objects, selection.places(of: objects, in: context)) {
      found.insert(ObjectIdentifier(object))
      sort(object, place, candidates[object.id].isChanged, unplaced, into: &delta)
    }
    delta.leaving = content.members.filter { !found.contains(ObjectIdentifier($0.object)) }
    return delta
  }

  /// What a fetch found as unsaved changes at the other end of relationships have it, which a fetch doesn't see.
  private func withUnsavedRelated(_ found: [ManagedObject]) -> [ManagedObject] {
    let fetch = selection.fetch
    guard !selection.paths.isPlain, fetch.limit == 0, fetch.offset == 0, context.hasChanges else { return found }
    let known = Set(found.map(ObjectIdentifier.init))
    let members = content.members.lazy.map(\.object).filter { object in
      object.state != .deleted && object.state != .detached && !known.contains(ObjectIdentifier(object))
    }
    return (found + members).filter(selection.selects)
  }

  /// Sorts an object that is selected into a delta: it comes, moves, has changed, or is as it was.
  func sort(
    _ object: ManagedObject, _ place: FetchedPlace, _ isChanged: Bool, _ unplaced: Set<ObjectIdentifier>,
    into delta: inout ContentDelta
  ) {
    guard let member = content.member(object.id), member.object === object else {
      delta.entering.append(FetchedMember(object, place))
      return
    }
    if unplaced.contains(ObjectIdentifier(member)) || !member.place.isSame(as: place) {
      delta.moving.append((member, place))
    } else if isChanged {
      delta.updated.append(member)
    }
  }

  private func tell(_ delta: ContentDelta) {
    if !delta.isEmpty { receiver?.trackerWillChange(self) }
    let change = content.apply(delta)
    for member in delta.leaving { related.forget(member) }
    for member in delta.entering + delta.moving.map(\.member) {
      related.follow(member, in: context)
      if member.id.isTemporaryID { temporaries.append(member) }
    }
    if !delta.leaving.isEmpty { temporaries.removeAll { content.member($0.id) !== $0 } }
    receiver?.tracker(self, didChange: change)
  }
}
