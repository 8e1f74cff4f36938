extension FetchedResultsTracker {
  /// Notes the objects that hang on something that has changed: members by what was noted of them, others by asking who
  /// points there.
  func gatherRelated(
    _ changes: PendingChanges, _ saves: [ContextSave], into candidates: inout FetchedCandidates
  ) {
    let paths = selection.paths
    // Rows of a merge fill the faults among them, so that nothing has to be read.
    for save in saves {
      save.forEachInserted(of: { paths.contains($0.entity) }) { relatedRows[$0.id] = $0 }
      for update in save.updated where paths.contains(update.id.entity) {
        relatedRows[update.id] = StoreRow(id: update.id, values: update.values)
      }
    }
    let held = relatedRows.values.filter { context.registeredObject(for: $0.id) != nil }.map {
      context.object(from: $0)
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
    // Links that were changed here and aren't saved lead to what has changed now, too.
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
    for row in rows { _ = context.object(from: row) }
  }

  /// Notes the objects that lead to one of `targets` by the predicate.
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

  /// Notes the objects for which a predicate holds, that says where they lead to.
  func noteReferrers(by predicate: ResolvedPredicate, into candidates: inout FetchedCandidates) {
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
}
