extension FetchedResultsController: FetchedResultsReceiver {
  func trackerWillChange(_ tracker: FetchedResultsTracker) {
    guard tracker === self.tracker, let delegate, !takesWhole(delegate) else { return }
    delegate.controllerWillChangeContent(self)
  }

  func tracker(_ tracker: FetchedResultsTracker, didChange change: ContentChange) {
    guard tracker === self.tracker else { return }
    forgetObjects()
    let snapshot = { FetchedResultsSnapshot(tracker.content, updated: change.changedIDs) }
    publish(snapshot())
    guard let delegate else { return }
    if let delegate = delegate as? any FetchedResultsSnapshotDelegate<T> {
      delegate.controller(self, didChangeContentWith: snapshot())
    } else if takesWhole(delegate), let delegate = delegate as? any FetchedResultsDifferenceDelegate<T> {
      tellDifference(to: snapshot(), delegate)
    } else if !change.objects.isEmpty {
      tell(change, to: delegate)
    }
  }

  func trackerDidReset(_ tracker: FetchedResultsTracker) {
    guard tracker === self.tracker else { return }
    forgetTracker()
    forgetObjects()
  }

  /// Whether a delegate takes snapshots or differences rather than callbacks.
  private func takesWhole(_ delegate: any FetchedResultsControllerDelegate<T>) -> Bool {
    if delegate is any FetchedResultsSnapshotDelegate<T> { return true }
    return tracker?.selection.hasSections == false && delegate is any FetchedResultsDifferenceDelegate<T>
  }

  private func tell(_ change: ContentChange, to delegate: any FetchedResultsControllerDelegate<T>) {
    for index in change.mapping.deleted.reversed() {
      let members = change.vanished[index] ?? []
      let info = info(of: index, change.former, members, 0..<members.count)
      delegate.controller(self, didChange: info, atSectionIndex: index, for: .delete)
    }
    for index in change.mapping.inserted {
      let info = info(of: index, change.sections, change.members)
      delegate.controller(self, didChange: info, atSectionIndex: index, for: .insert)
    }
    for object in change.objects {
      delegate.controller(
        self, didChange: unsafeDowncast(object.object, to: T.self), at: change.oldPath(object), for: object.type,
        newIndexPath: change.newPath(object))
    }
    delegate.controllerDidChangeContent(self)
  }
}
