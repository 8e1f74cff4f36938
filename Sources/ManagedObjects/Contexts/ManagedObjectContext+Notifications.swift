public import Foundation

extension ManagedObjectContext {
  /// Posted by a context before it saves, on its queue; `object` is the context.
  public static let willSaveObjectsNotification = Notification.Name("NSManagedObjectContextWillSaveNotification")
  /// Posted by a context after it saved, on its queue; `object` is the context. ``ContextSave`` is its typed form. A save
  /// without changes posts it, too, with empty sets.
  public static var didSaveObjectsNotification: Notification.Name { AnnouncedName.didSave.forObservers }
  /// Posted by a context right after ``didSaveObjectsNotification``, with IDs, which may be taken anywhere.
  ///
  /// An import, whose context has no observers, doesn't post it.
  public static var didSaveObjectIDsNotification: Notification.Name { AnnouncedName.didSaveIDs.forObservers }
  /// Posted by a context when its objects have changed since the last time: at the end of each `perform`, on a save, and on
  /// ``processPendingChanges()``. ``ContextChanges`` is its typed form.
  public static var didChangeObjectsNotification: Notification.Name { AnnouncedName.didChange.forObservers }
  /// Posted by a context after it has merged another context's save, with IDs.
  public static var didMergeChangesObjectIDsNotification: Notification.Name { AnnouncedName.didMergeIDs.forObservers }

  /// Keys of the notifications' user info, by Core Data's names.
  ///
  /// The values are those of Core Data: `Set<ManagedObject>`, or `Set<ManagedObjectID>` in a notification of IDs. Objects
  /// belong to the context that posts; IDs can be taken elsewhere. The typed forms, ``ContextChanges`` and ``ContextSave``,
  /// have the same in the order of the changes.
  ///
  /// Sets are made from the moment on at which the program first takes the notification's name, such as
  /// ``ManagedObjectContext/didChangeObjectsNotification``: until then nothing can observe it. Take the name from there, and
  /// don't spell it out.
  public enum NotificationKey: String, Sendable {
    /// New objects.
    case insertedObjects = "inserted"
    /// Changed objects.
    case updatedObjects = "updated"
    /// Deleted objects.
    case deletedObjects = "deleted"
    /// Objects that took on the store's values: after a merge, a refresh, a rollback.
    case refreshedObjects = "refreshed"
    /// Those of the deleted objects whose rows turned out to be gone from the store.
    case invalidatedObjects = "invalidated"
    /// The IDs of the objects that the context had, as `[ManagedObjectID]`, when it was reset; empty for a save that was too
    /// large to list its rows.
    case invalidatedAllObjects = "invalidatedAll"
    /// IDs of the inserted objects.
    case insertedObjectIDs = "inserted_objectIDs"
    /// IDs of the changed objects.
    case updatedObjectIDs = "updated_objectIDs"
    /// IDs of the deleted objects.
    case deletedObjectIDs = "deleted_objectIDs"
    /// IDs of the objects of which the save changed only derived attributes, and after a merge also of the context's objects
    /// that have other values now.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// In a remote save: IDs of objects whose rows have changed.
    case invalidatedObjectIDs = "invalidated_objectIDs"
    /// The place in the history after a save, as a ``PersistentHistoryToken``, where its store tracks history.
    case historyToken = "newChangeToken"
    /// The state of the stores that a pinned context reads after its save, as a ``QueryGenerationToken``.
    case queryGenerationToken = "newQueryGeneration"
  }

  static let saveKey = "save"
  static let changesKey = "changes"

  /// Applies the delete rules to the objects deleted since the last call, unless they wait for the save, and announces the
  /// changes with one did-change notification. They make one step to undo.
  ///
  /// Called automatically at the end of each `perform`, and when the context saves, merges, undoes and redoes.
  /// Source: `processPendingChanges()` of Core Data.
  public func processPendingChanges() {
    confinement.check()
    releaseMergedDeletions()
    announceChanges()
  }

  /// Lets objects go that a merge has found deleted elsewhere. They were announced as deleted when they were merged.
  private func releaseMergedDeletions() {
    for object in bareChangeSet.takeMergedDeletions() where object.state == .deleted {
      object.state = .detached
      registry.remove(object)
    }
  }

  /// Does what ``processPendingChanges()`` does in the middle of an event, which objects deleted elsewhere outlast.
  func announceChanges() {
    guard !notifier.isEmpty else {
      undoManager?.endEvent()
      return notifier.didProcess(PendingChanges())
    }
    mergeQueue.suspended {
      if propagatesDeletesAtEndOfEvent { DeleteRules(self).propagate() }
      let changes = notifier.takeChanges()
      version.add(1, ordering: .relaxed)
      for former in changes.formers { former.object.isChangePending = false }
      for object in changes.inserted { object.isChangePending = false }
      undoRecorder.record(changes, self)
      post(ContextChanges(self, changes))
      notifier.didProcess(changes)
    }
  }

  func postWillSave() {
    NotificationCenter.default.post(name: Self.willSaveObjectsNotification, object: self)
  }

  func postDidSave(
    _ save: ContextSave, inserted: ContiguousArray<ManagedObject>, updated: ContiguousArray<ManagedObject>,
    deleted: ContiguousArray<ManagedObject>
  ) {
    var info: [AnyHashable: Any] = [Self.saveKey: save]
    if announcesChanges, AnnouncedName.didSave.isWanted {
      info[NotificationKey.insertedObjects.rawValue] = Set(inserted)
      info[NotificationKey.updatedObjects.rawValue] = Set(updated)
      info[NotificationKey.deletedObjects.rawValue] = Set(deleted)
      info[NotificationKey.historyToken.rawValue] = save.historyToken
      info[NotificationKey.queryGenerationToken.rawValue] = rowSource.generation
    }
    if save.isWholesale { info[NotificationKey.invalidatedAllObjects.rawValue] = [ManagedObjectID]() }
    NotificationCenter.default.post(name: AnnouncedName.didSave.name, object: self, userInfo: info)
    if announcesChanges, AnnouncedName.didSaveIDs.isWanted {
      NotificationCenter.default.post(name: AnnouncedName.didSaveIDs.name, object: self, userInfo: save.objectIDInfo)
    }
  }

  /// Whether a program may observe what the context merges.
  var announcesMerges: Bool { announcesChanges && AnnouncedName.didMergeIDs.isWanted }

  /// Announces a merge by which objects of this context took on other values.
  func postDidMerge(_ save: ContextSave, _ refreshed: Set<ManagedObjectID>) {
    guard announcesMerges else { return }
    var info = save.objectIDInfo
    if !refreshed.isEmpty {
      let derived = info[NotificationKey.refreshedObjectIDs.rawValue] as? Set<ManagedObjectID> ?? []
      info[NotificationKey.refreshedObjectIDs.rawValue] = derived.union(refreshed)
    }
    NotificationCenter.default.post(name: AnnouncedName.didMergeIDs.name, object: self, userInfo: info)
  }

  /// Announces a save that had nothing to write.
  func postEmptySave() {
    if announcesChanges {
      postDidSave(ContextSave(context: self, StoreChanges()), inserted: [], updated: [], deleted: [])
    }
  }

  func post(_ changes: ContextChanges) {
    if changes.isEmpty { return }
    let announced = AnnouncedName.didChange
    NotificationCenter.default.post(
      name: announced.name, object: self, userInfo: changes.userInfo(withSets: announced.isWanted))
  }
}
