/// Receives the changes that a tracker finds.
protocol FetchedResultsReceiver: AnyObject {
  func trackerWillChange(_ tracker: FetchedResultsTracker)
  func tracker(_ tracker: FetchedResultsTracker, didChange change: ContentChange)
  func trackerDidReset(_ tracker: FetchedResultsTracker)
  /// What may end the examination of the changes that came in together; nil for nothing.
  func interruption(for tracker: FetchedResultsTracker) -> Interruption?
  /// Its examination of changes was ended. The tracker follows nothing any more.
  func trackerWasInterrupted(_ tracker: FetchedResultsTracker)
}

/// Keeps a controller's content in step with its context, from one fetch to the next. On the context's queue.
///
/// The changes that the context reports become a list of candidates. Each is examined once, and is then a member or isn't.
/// Nothing is fetched again, except
///   1. the window of a request with a limit or an offset, when objects outside it may enter;
///   2. the objects that lead to a changed object, when the predicate goes over a relationship;
///   3. everything, when a deletion emptied references that no delete rule reaches, when a fetch has failed, or when a merged
///      save doesn't list its rows.
final class FetchedResultsTracker: ContextObserver {
  let context: ManagedObjectContext
  let selection: FetchedSelection
  private let fetchObjects: () throws -> [ManagedObject]
  /// Set by the controller once it holds the tracker, so it isn't private.
  weak var receiver: (any FetchedResultsReceiver)?

  private(set) var content: FetchedContent
  private var related: RelatedObjects
  /// Members whose ID may become permanent.
  private var temporaries: [FetchedMember] = []
  /// Merged saves that haven't been processed.
  private var saves: [ContextSave] = []
  /// Whether the receiver is being called, and the changes that have arrived during the call.
  private var isReporting = false
  private var backlog: [(PendingChanges, [ContextSave])] = []
  /// Whether the context was reset during a call of the receiver.
  private var isReset = false
  /// Rows of the merged saves that members may be selected, sorted or sectioned by.
  private var relatedRows: [ManagedObjectID: StoreRow] = [:]
  /// Whether an examination was ended before its end, and nothing is followed since.
  private var hasEnded = false
  /// Whether everything is to be fetched again.
  private var needsFetch = false
  /// Unsaved changes on the predicate's paths over to-many relationships.
  private var unsettled: CollectionChanges
  /// Whether a deletion not saved yet will empty references that no delete rule reaches.
  private var awaitsLooseDeletion = false

  /// Fetches, and follows the context from then on.
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

  // MARK: Events of the context

  func contextWillProcess(_ save: ContextSave) { if !hasEnded { saves.append(save) } }

  func contextDidProcess(_ changes: PendingChanges) {
    if hasEnded { return }
    backlog.append((changes, saves))
    saves = []
    if isReporting { return }
    isReporting = true
    defer { isReporting = false }
    while !backlog.isEmpty {
      let (changes, saves) = backlog.removeFirst()
      guard let interruption = receiver?.interruption(for: self) else {
        process(changes, saves)
        continue
      }
      do {
        try interruption.limit { process(changes, saves) }
      } catch {
        return end()
      }
    }
    if isReset {
      isReporting = false
      contextDidReset()
    }
  }

  /// Follows nothing any more: the content isn't what the context's changes have made it.
  private func end() {
    hasEnded = true
    (saves, backlog) = ([], [])
    receiver?.trackerWasInterrupted(self)
  }

  func contextDidReset() {
    if hasEnded { return }
    saves = []
    backlog = []
    if isReporting {
      isReset = true
      return
    }
    isReporting = true
    report(ContentDelta(leaving: Array(content.members)))
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
    // What was found after an interruption isn't so.
    guard let delta, !delta.isEmpty || !renamed.all.isEmpty, !Interruption.isRequested else { return }
    report(delta)
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

  /// The members whose IDs have become permanent, and those among them that have to move because of it.
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
  private func fetchedDelta(_ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>) -> ContentDelta? {
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

  /// The objects that a fetch found, corrected by unsaved changes at the other end of relationships, which a fetch ignores.
  private func withUnsavedRelated(_ found: [ManagedObject]) -> [ManagedObject] {
    let fetch = selection.fetch
    guard !selection.paths.isPlain, fetch.limit == 0, fetch.offset == 0, context.hasChanges else { return found }
    let known = Set(found.map(ObjectIdentifier.init))
    let members = content.members.lazy.map(\.object).filter { object in
      object.state != .deleted && object.state != .detached && !known.contains(ObjectIdentifier(object))
    }
    return (found + members).filter(selection.selects)
  }

  /// Adds a selected object to a delta: it enters, moves, has changed, or stays as it was.
  private func sort(
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

  private func report(_ delta: ContentDelta) {
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

  // MARK: Deciding about candidates

  /// Decides for each candidate whether it is selected, and where it belongs.
  private func delta(_ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>) -> ContentDelta {
    var delta = ContentDelta()
    if !unplaced.isEmpty { moveUnplaced(candidates, unplaced, &delta) }
    var held: [ManagedObject] = []
    var looks: [(ManagedObjectID, Look)] = []
    var unread: [ManagedObjectID] = []
    for id in candidates.ids {
      let look = look(at: id, candidates[id])
      if look.isUnread { unread.append(id) }
      looks.append((id, look))
    }
    let rows = unread.isEmpty ? [:] : read(unread)
    if !selection.paths.isPlain {
      for (index, (id, look)) in looks.enumerated() {
        guard let row = look.row ?? rows?[id] else { continue }
        let object = context.object(from: row, isMerged: look.row != nil)
        held.append(object)
        looks[index].1 = .object(object)
      }
      let objects = looks.compactMap(\.1.object)
      held += context.objects(along: selection.paths.routes, from: objects, relatedRows)
    }
    for (id, look) in looks {
      let isChanged = candidates[id].isChanged
      switch look {
      case .gone: leave(id, &delta)
      case .object(let object): decide(object, isChanged, unplaced, &delta)
      case .row(let row): decide(PlainRow(row: row), isMerged: true, isChanged, unplaced, &delta)
      case .unread(let object):
        // When the store can't be read, everything stays as it is, and the next change fetches again.
        guard let rows else { continue }
        if let row = rows[id] {
          decide(PlainRow(row: row), of: object, isMerged: false, isChanged, unplaced, &delta)
        } else {
          leave(id, &delta)
        }
      }
    }
    withExtendedLifetime(held) {}
    return delta
  }

  /// Moves members whose new IDs require another place, unless they are examined anyway.
  private func moveUnplaced(
    _ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>, _ delta: inout ContentDelta
  ) {
    let looked = Set(candidates.ids)
    for member in content.members where unplaced.contains(ObjectIdentifier(member)) {
      if !looked.contains(member.id), !looked.contains(member.object.id) { delta.moving.append((member, member.place)) }
    }
  }

  /// What is known of a candidate.
  private enum Look {
    /// It is deleted or doesn't exist.
    case gone
    case object(ManagedObject)
    /// The row from a merge of an object that isn't registered, or is a fault.
    case row(StoreRow)
    /// A fault whose row is unknown, or an object that isn't registered.
    case unread(ManagedObject?)

    var isUnread: Bool { if case .unread = self { true } else { false } }
    var object: ManagedObject? { if case .object(let object) = self { object } else { nil } }
    var row: StoreRow? { if case .row(let row) = self { row } else { nil } }
  }

  private func look(at id: ManagedObjectID, _ candidate: FetchedCandidates.Candidate) -> Look {
    var object = candidate.object ?? content.member(id)?.object
    if object == nil || object?.state == .detached { object = context.registeredObject(for: id) ?? object }
    if let object, object.state != .detached {
      if object.state == .deleted { return .gone }
      if !object.isUnfilled { return .object(object) }
      return candidate.row.map(Look.row) ?? .unread(object)
    }
    return candidate.row.map(Look.row) ?? (candidate.isRefreshed && !candidate.isDeleted ? .unread(nil) : .gone)
  }

  private func read(_ ids: [ManagedObjectID]) -> [ManagedObjectID: StoreRow]? {
    guard let rows = context.reading({ try context.source.rows(with: ids) }) else {
      needsFetch = true
      return nil
    }
    return Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
  }

  private func leave(_ id: ManagedObjectID, _ delta: inout ContentDelta) {
    if let member = content.member(id) { delta.leaving.append(member) }
  }

  private func decide(
    _ object: ManagedObject, _ isChanged: Bool, _ unplaced: Set<ObjectIdentifier>, _ delta: inout ContentDelta
  ) {
    if let member = content.member(object.id), member.object !== object { delta.leaving.append(member) }
    guard selection.isOfClass(object), selection.selects(object) else { return leave(object.id, &delta) }
    sort(object, selection.place(of: object), isChanged, unplaced, into: &delta)
  }

  /// Decides by the row alone. An object is made only when it is selected.
  private func decide(
    _ row: PlainRow, of fault: ManagedObject? = nil, isMerged: Bool, _ isChanged: Bool,
    _ unplaced: Set<ObjectIdentifier>, _ delta: inout ContentDelta
  ) {
    guard selection.selects(row) else { return leave(row.subjectID, &delta) }
    let object = fault ?? context.object(from: row.row, isMerged: isMerged)
    guard selection.isOfClass(object) else { return }
    if let member = content.member(object.id), member.object !== object { delta.leaving.append(member) }
    sort(object, selection.place(of: row), isChanged, unplaced, into: &delta)
  }

  // MARK: Objects at the other end of relationships

  /// Notes the objects that depend on a changed object: members by their recorded dependencies, others by a query.
  private func gatherRelated(
    _ changes: PendingChanges, _ saves: [ContextSave], into candidates: inout FetchedCandidates
  ) {
    let paths = selection.paths
    // Rows of a merge fill the faults among them without a read.
    for save in saves {
      save.forEachInserted(of: { paths.contains($0.entity) }) { relatedRows[$0.id] = $0 }
      for update in save.updated where paths.contains(update.id.entity) {
        relatedRows[update.id] = StoreRow(id: update.id, values: update.values)
      }
    }
    let held = relatedRows.values.filter { context.registeredObject(for: $0.id) != nil }.map {
      context.object(from: $0, isMerged: true)
    }
    var touched = (changes.inserted + changes.updated + changes.refreshed + changes.deleted)
      .filter { paths.contains($0.entity) }
    touched += held
    fill(touched.filter { $0.isUnfilled && related.contains($0) })

    var seen: Set<ObjectIdentifier> = []
    var sources: Set<ManagedObjectID> = []
    for object in touched where seen.insert(ObjectIdentifier(object)).inserted {
      guard related.contains(object) else {
        if related.takeChange(ofUntracked: object, isMerge: !saves.isEmpty) { sources.insert(object.id) }
        continue
      }
      let members = related.members(of: object)
      if related.takeChange(of: object) {
        for member in members { candidates.note(member.id) { _ in } }
        sources.insert(object.id)
      }
    }
    for save in saves {
      for update in save.updated where hasChanged(update) { sources.insert(update.id) }
      for refresh in save.refreshed where hasChanged(refresh) { sources.insert(refresh.id) }
    }
    // Unsaved links made here may lead to the changed objects, too.
    if !sources.isEmpty, paths.isDeep {
      for object in context.changeSet.insertionsAndUpdates where object.hasChanges && paths.contains(object.entity) {
        sources.insert(object.id)
      }
    }
    noteReferrers(to: sources, into: &candidates)
    withExtendedLifetime(held) {}
  }

  private func hasChanged(_ update: StoreChanges.Update) -> Bool {
    selection.paths.steps.contains { step in
      guard let slot = step.slot, update.id.entity.isKindOf(step.destination) else { return false }
      return update.committed.isEmpty || update.committed[slot] != update.values[slot]
    }
  }

  private func hasChanged(_ refresh: StoreWriteResult.Refresh) -> Bool {
    selection.paths.steps.contains { step in
      guard let slot = step.slot, refresh.id.entity.isKindOf(step.destination) else { return false }
      return refresh.values[slot] != nil
    }
  }

  private func fill(_ objects: [ManagedObject]) {
    guard !objects.isEmpty, let rows = context.reading({ try context.source.rows(with: objects.map(\.id)) }) else {
      return
    }
    for row in rows { _ = context.object(from: row, isMerged: false) }
  }

  /// Notes the objects whose predicate paths lead to one of `targets`.
  private func noteReferrers(to targets: Set<ManagedObjectID>, into candidates: inout FetchedCandidates) {
    guard !targets.isEmpty else { return }
    var asked: Set<ResolvedPath> = []
    for step in selection.paths.steps where step.isInPredicate && asked.insert(step.path).inserted {
      let ids = targets.filter { $0.entity.isKindOf(step.destination) }
      guard !ids.isEmpty else { continue }
      noteReferrers(
        by: .isIn(.path(step.path), ResolvedList(ids.map(Value.object)), []), into: &candidates)
    }
  }

  /// Notes the objects that match a predicate on where their paths lead.
  private func noteReferrers(by predicate: ResolvedPredicate, into candidates: inout FetchedCandidates) {
    var fetch = StoreFetch(
      entity: selection.fetch.entity, includesSubentities: selection.fetch.includesSubentities, predicate: predicate)
    fetch.affectedStores = selection.fetch.affectedStores
    guard let rows = context.reading({ try context.rows(fetch) }) else {
      needsFetch = true
      return
    }
    for row in rows {
      let object = context.object(with: row.id)
      candidates.note(row.id) { $0.object = object }
    }
  }

  // MARK: Objects over to-many relationships

  /// Notes the objects that a predicate over to-many relationships may select differently.
  private func gatherCollections(
    _ changes: PendingChanges, _ saves: [ContextSave], into candidates: inout FetchedCandidates
  ) {
    let steps = selection.paths.collections
    var found = CollectionChanges(steps)
    noteOwn(changes, in: &found)
    unsettled.formUnion(found)
    for save in saves { found.note(save) }
    // Unsaved links made here may lead to the changed objects, too, or may have been reverted.
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

  // MARK: Windows

  /// Applies the limit and the offset to a delta; without them, returns the delta itself.
  ///
  /// A window that wasn't full holds all objects, and one that objects only enter can be cut. In other cases objects from outside
  /// may enter, and the window is fetched again.
  private func windowed(
    _ delta: ContentDelta, _ candidates: FetchedCandidates, _ unplaced: Set<ObjectIdentifier>
  ) -> ContentDelta? {
    let (limit, offset) = (selection.fetch.limit, selection.fetch.offset)
    guard limit > 0 || offset > 0 else { return delta }
    let wasFull = limit > 0 && content.members.count >= limit
    if offset > 0 || (wasFull && !(delta.leaving.isEmpty && delta.moving.isEmpty)) {
      return fetchedDelta(candidates, unplaced)
    }
    return content.members.count + delta.entering.count - delta.leaving.count > limit ? cut(delta, to: limit) : delta
  }

  /// Removes the objects beyond the limit from the delta and the content.
  private func cut(_ delta: ContentDelta, to limit: Int) -> ContentDelta {
    var changed = Set(delta.leaving.map(ObjectIdentifier.init))
    var all: [(placed: FetchedMember, member: FetchedMember?)] = []
    for move in delta.moving {
      changed.insert(ObjectIdentifier(move.member))
      all.append((FetchedMember(move.member.object, move.place), move.member))
    }
    all += delta.entering.map { ($0, nil) }
    all += content.members.filter { !changed.contains(ObjectIdentifier($0)) }.map { ($0, $0) }
    all.sort { selection.order.order($0.placed, $1.placed) < 0 }
    let beyond = all.dropFirst(limit)
    let members = Set(beyond.compactMap { $0.member.map(ObjectIdentifier.init) })
    let newcomers = Set(beyond.filter { $0.member == nil }.map { ObjectIdentifier($0.placed) })
    var result = delta
    result.entering.removeAll { newcomers.contains(ObjectIdentifier($0)) }
    result.moving.removeAll { members.contains(ObjectIdentifier($0.member)) }
    result.updated.removeAll { members.contains(ObjectIdentifier($0)) }
    result.leaving += beyond.compactMap(\.member)
    return result
  }

  // MARK: Members

  /// The member of an object, even when its ID has become permanent since the last change was processed.
  func member(of object: ManagedObject) -> FetchedMember? {
    if let member = content.member(object.id), member.object === object { return member }
    return temporaries.first { $0.object === object }
  }
}
