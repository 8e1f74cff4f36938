import Dispatch
public import Foundation

// MARK: Merging a save

extension ManagedObjectContext {
  /// Takes in what another context of the same coordinator saved: refreshes the objects registered here, and marks deleted
  /// ones. Unsaved changes made here stay.
  ///
  /// An object that was deleted elsewhere is a deleted object, announced and listed as one, until the end of the block, the
  /// next ``processPendingChanges()`` or the next save; then it has no context. Saves write nothing for it.
  ///
  /// To be called on this context's queue. It also takes in what a sibling saved into the common parent, and what the parent
  /// saved into its own. Its own saves and those of its children, which it has already, change nothing. Of a save of another
  /// coordinator it takes in the rows of stores that both have, as ``mergeChanges(fromContextDidSave:)-(Notification)`` does
  /// with IDs.
  ///
  /// Source: `mergeChanges(fromContextDidSave:)` of Core Data, which refreshes the objects from the store. Here they take
  /// the values that were saved, so saves have to be merged in the order in which they were made. Where the context merges by
  /// itself, saves that wait are merged first.
  public func mergeChanges(fromContextDidSave save: ContextSave) {
    confinement.check()
    guard save.coordinator === persistentStoreCoordinator else {
      return merge(listed: save.objectIDInfo, name: "a save of another coordinator")
    }
    if !save.isMade(by: identity), concerns(save) { merge(save) }
  }

  /// Takes in what a notification announces: a did-save notification, of objects or of IDs, one made from the history
  /// (``PersistentHistoryTransaction/objectIDNotification()``), or one that the program has made.
  ///
  /// Where the notification carries a ``ContextSave``, that is merged: see
  /// ``mergeChanges(fromContextDidSave:)-(ContextSave)``. Otherwise only the objects are known, by ``NotificationKey``: arrays
  /// or sets of objects, of ``ManagedObjectID`` or of URIs. Their rows are read here, on the context's queue;
  /// ``mergeChanges(fromRemoteContextSave:into:)`` reads them elsewhere. Objects whose rows can't be read become faults.
  ///
  /// What can't be merged is logged and passed to ``mergeProblemHandler``, and the rest is merged: nothing is ignored
  /// silently. Source: `mergeChanges(fromContextDidSave:)` of Core Data.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    confinement.check()
    if let save = ContextSave(notification) { return mergeChanges(fromContextDidSave: save) }
    return merge(listed: notification.userInfo ?? [:], name: notification.name.rawValue)
  }

  /// Merges changes of which only the objects are known.
  private func merge(listed changes: [AnyHashable: Any], name: String) {
    let coordinator = persistentStoreCoordinator
    if changes[NotificationKey.invalidatedAllObjects.rawValue] != nil {
      return merge(ContextSave(wholesaleOf: coordinator, coordinator.model.allRoots))
    }
    let listed = RemoteChanges(changes, of: coordinator)
    var problems = listed.hasKeys ? listed.problems : [.noChanges(notification: name)]
    if !listed.isEmpty {
      do {
        merge(try listed.save(readFrom: coordinator))
      } catch {
        problems.append(.unreadable(reason: String(describing: error)))
        merge(unread: listed)
      }
    }
    report(problems)
  }

  /// Logs what couldn't be merged, and passes it to the program.
  private func report(_ problems: [MergeProblem]) {
    if problems.isEmpty { return }
    MergeProblem.log(problems, in: self)
    mergeProblemHandler?(problems)
  }

  /// Merges changes whose rows can't be read: what may have changed is read when it is touched next.
  private func merge(unread listed: RemoteChanges) {
    merge(listed.saveOfDeletions)
    for id in listed.updated {
      if let object = registry.object(with: id) { turnIntoFaultIfClean(object) }
    }
    SaveMerger(self).forgetSets(leadingToRoots: listed.roots)
    announceChanges()
  }

  /// Merges a save that concerns this context.
  private func merge(_ save: ContextSave) {
    // Waiting saves are older than this one.
    mergeWaitingSaves()
    mergeQueue.suspended {
      takePromotedIDs()
      // A merge can't be undone.
      if undoManager != nil { announceChanges() }
      fetchCache.forgetRows(of: save)
      mergeQueue.noteMerge(of: save)
      let before = notifier.refreshedCount
      SaveMerger(self).merge(save)
      let refreshed = announcesMerges ? notifier.refreshedIDs(after: before) : []
      notifier.willProcess(save)
      announceChanges()
      rowSource.advanceGeneration()
      postDidMerge(save, refreshed)
      passDown(save)
    }
  }

  /// Whether a save changed what this context sees: the store, or a context above.
  private func concerns(_ save: ContextSave) -> Bool {
    guard let target = save.parentID else { return true }
    var above = parent
    while let context = above {
      if target == context.identity || save.isMade(by: context.identity) { return true }
      above = context.parent
    }
    return false
  }

  /// Merges changes that no context of the coordinator saved into several contexts.
  ///
  /// May be called from anywhere, preferably in the background. The rows of inserted and changed objects are read here, once
  /// for all contexts. Each context takes them in on its own queue, parents before their children. Rows of objects that
  /// aren't registered in a context aren't kept, but its fetched results controllers see them.
  ///
  /// Source: `mergeChanges(fromRemoteContextSave:into:)` of Core Data.
  /// - Parameters:
  ///   - changes: by ``NotificationKey``, objects or object IDs: arrays or sets of ``ManagedObjectID`` or of `URL`.
  ///     Refreshed and invalidated objects count as changed. With ``NotificationKey/invalidatedAllObjects`` the contexts
  ///     refresh all their objects. What isn't an object of a context's stores is logged as a ``MergeProblem``, and the rest
  ///     is merged.
  ///   - contexts: the contexts to merge into, which may have different coordinators.
  /// - Throws: the store's error, when the rows can't be read.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
  ) throws {
    try mergeChanges(fromRemoteContextSave: changes, into: contexts.map(\.queue))
  }

  /// The same for contexts of other queues.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ContextQueue]
  ) throws {
    let ordered = contexts.sorted { $0.depth < $1.depth }
    if changes[NotificationKey.invalidatedAllObjects.rawValue] != nil {
      for context in ordered {
        let coordinator = context.persistentStoreCoordinator
        let all = ContextSave(wholesaleOf: coordinator, coordinator.model.allRoots)
        context.performAndWait { context in context.mergeChanges(fromContextDidSave: all) }
      }
      return
    }
    var coordinators: [ObjectIdentifier: PersistentStoreCoordinator] = [:]
    for context in ordered {
      coordinators[ObjectIdentifier(context.persistentStoreCoordinator)] = context.persistentStoreCoordinator
    }
    for coordinator in coordinators.values {
      let listed = RemoteChanges(changes, of: coordinator)
      let save = try listed.save(readFrom: coordinator)
      for context in ordered where context.persistentStoreCoordinator === coordinator {
        context.performAndWait { context in
          context.report(listed.problems)
          context.mergeChanges(fromContextDidSave: save)
        }
      }
    }
  }
}

extension ContextQueue {
  /// The number of contexts above this one.
  fileprivate var depth: Int {
    var (depth, above) = (0, parent)
    while let context = above { (depth, above) = (depth + 1, context.parent) }
    return depth
  }
}

// MARK: Merging automatically

extension ManagedObjectContext {
  /// Whether the context merges by itself what others save. See ``ContextQueue/automaticallyMergesChangesFromParent``.
  public var automaticallyMergesChangesFromParent: Bool {
    get { queue.automaticallyMergesChangesFromParent }
    set {
      queue.automaticallyMergesChangesFromParent = newValue
    }
  }

  /// The shortest time between two automatic merges. See ``ContextQueue/mergingInterval``.
  public var mergingInterval: Duration {
    get { mailbox.pause }
    set { mailbox.pause = newValue }
  }

  /// Whether anything can see what a merge changes: there are objects, observers, or contexts that merge what this one has
  /// merged.
  private var isSeen: Bool {
    bareRegistry.count > 0 || notifier.hasObservers || !followers.isEmpty || AnnouncedName.didMergeIDs.isWanted
      || AnnouncedName.didChange.isWanted
  }

  /// Merges the saves that wait, unless the context is saving or merging: then they wait for the next event.
  @inline(__always)
  func mergeWaitingSaves() {
    if mergeQueue.isReady { mergeReadySaves() }
  }

  private func mergeReadySaves() {
    mergeQueue.suspended {
      let (waiting, merged) = mailbox.takeAll()
      for save in waiting {
        mergeChanges(fromContextDidSave: mergeQueue.withoutOverwrittenRows(save, in: self))
      }
      merged?(bareRegistry.count)
      mailbox.noteSight(merged != nil || isSeen)
      if mailbox.keepMerged(waiting) { DispatchQueue.global(qos: .utility).async { [mailbox] in mailbox.freeMerged() } }
    }
  }

  /// Delivers a save of this context to the contexts that merge by themselves.
  func deliver(_ save: ContextSave) {
    if let parent {
      if !mailbox.isEmpty { mergeQueue.noteOwnSave(save) }
      if !parent.followers.isEmpty { parent.perform { parent in parent.passDown(save) } }
    } else if save.number > 0 {
      if !persistentStoreCoordinator.followers.isEmpty { save.listIDs() }
      if persistentStoreCoordinator.followers.deliver(save, by: queue) { mergeQueue.noteOwnSave(save) }
    }
    passDown(save)
  }

  /// Delivers a save to the children that this context has made or merged.
  private func passDown(_ save: ContextSave) {
    if !followers.isEmpty { followers.deliver(save.seen(by: self)) }
  }

  private var mailbox: SaveMailbox { mergeQueue.mailbox }
}

// What any thread does to have a context merge.
extension ContextQueue {
  /// Whether the context merges by itself what others save into the coordinator. A child merges what is saved into its
  /// parent, and what the parent saves and merges.
  ///
  /// Merging happens on the context's queue, some time after the save; see ``mergingInterval``. It happens between the
  /// blocks that run there and at the beginning of an outermost one, never within one: neither a fetch nor a save nor a nested
  /// ``performAndWait(_:)`` merges, so a save finds every conflict with what others have saved since its block began. It can't
  /// be set for a confinement context, which has no queue; that merges by ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(ContextSave)``
  /// only. Safe from any thread. Source: `automaticallyMergesChangesFromParent` of Core Data.
  public var automaticallyMergesChangesFromParent: Bool {
    get { (parent?.followers ?? persistentStoreCoordinator.followers).contains(self) }
    nonmutating set {
      precondition(concurrencyType != .confinement || !newValue, "a confinement context has no queue to merge on")
      let followers = parent?.followers ?? persistentStoreCoordinator.followers
      if newValue { followers.add(self) } else { followers.remove(self) }
    }
  }

  /// The shortest time between two automatic merges that nothing else causes: 0.05 s for a context of the main queue, 0 for
  /// others. It is twice as long while the context has no objects and nothing observes it. Safe from any thread.
  ///
  /// A save is merged at once when there was none for that long. Saves that follow quickly, as those of an import do, are
  /// merged together at the end of the interval, so that they don't keep the main queue busy. Waiting saves are merged
  /// earlier when the context runs an outermost ``perform(_:)`` or ``performAndWait(_:)``. Objects that are read on
  /// the main queue outside of one may lag behind that long. Waiting saves of one context are
  /// announced as one save when they insert objects that belong to no set and change at most a few. With 0 each save is
  /// merged by itself as soon as the queue comes to it, as in Core Data.
  public var mergingInterval: Duration {
    get { mailbox.pause }
    nonmutating set { mailbox.pause = newValue }
  }

  /// Called on the context's queue after each automatic merge of other contexts' saves. It must not touch the context.
  /// Safe to set from any thread.
  package var didMergeSaves: (@Sendable (SaveMerge) -> Void)? {
    get { mailbox.listener }
    nonmutating set { mailbox.listener = newValue }
  }

  /// The saves that wait for the context.
  var mailbox: SaveMailbox { uncheckedContext.mergeQueue.mailbox }
  /// The children that merge by themselves.
  var followers: SaveFollowers { uncheckedContext.followers }

  /// A context with a queue that merges automatically from its first moment on, so that it misses no save. May be made on
  /// any thread.
  /// - Parameter upstream: a context of the same coordinator. The new one then merges what `upstream` has merged and
  ///   saved, in that order, instead of what the coordinator announces. It fetches from the coordinator all the same, so
  ///   that reading never occupies the queue of `upstream`, as it would for a child.
  /// - Parameter needsRows: whether waiting saves keep the rows that they insert before the context has read anything or
  ///   passes saves on. Without them a save that waits costs little memory; what the context announces of its merges then has
  ///   the IDs of inserted objects and no rows, so it can't be merged into other contexts.
  package init(
    _ concurrencyType: ManagedObjectContext.ConcurrencyType, mergingSavesOf coordinator: PersistentStoreCoordinator,
    through upstream: ContextQueue? = nil, name: String, needsRows: Bool = true
  ) {
    precondition(concurrencyType != .confinement, "a confinement context has no queue to merge on")
    precondition(upstream.map { $0.persistentStoreCoordinator === coordinator } ?? true, "one coordinator for both")
    self.init(concurrencyType, coordinator: coordinator, name: name)
    if !needsRows { mailbox.dropInsertedRowsUntilRead() }
    (upstream?.followers ?? coordinator.followers).add(self)
  }

  /// Has a save merged later, on the context's queue.
  func enqueue(_ save: ContextSave) {
    guard !save.isMade(by: identity) else { return mailbox.noteOwnSave() }
    // One piece of work merges everything that waits, so a busy context isn't called once per save.
    let needsRows = mailbox.keepsInsertedRows || !followers.isEmpty
    if let pause = mailbox.put(needsRows ? save : save.withoutInsertedRows()) {
      if pause == .zero { mailbox.prepareAnnouncements() }
      scheduleMerge(after: pause)
    }
  }

  /// Has the waiting saves merged, unless they have been by then.
  private func scheduleMerge(after pause: Duration) {
    // Running on the context's queue merges what waits. A program that runs its main loop within a save is asked again.
    guard pause > .zero else {
      if mailbox.pause > .zero { freeMergedLater() }
      return perform { [self] _ in if !mailbox.isEmpty { scheduleMerge(after: .milliseconds(10)) } }
    }
    let (seconds, attoseconds) = pause.components
    // No clock counts longer than a few centuries.
    let nanoseconds = min(seconds, 1_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
    let time = DispatchTimeInterval.nanoseconds(Int(nanoseconds))
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + time) { [held = WeakContextQueue(self)] in
      guard let queue = held.queue, !queue.mailbox.isEmpty else { return }
      queue.mailbox.prepareAnnouncements()
      queue.scheduleMerge(after: .zero)
    }
  }

  /// Has the saves of the next merge freed, some time after it. The merging thread doesn't arrange it, because it would wait
  /// where Dispatch makes the thread.
  private func freeMergedLater() {
    guard mailbox.planFreeing() else { return }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(200)) { [mailbox] in
      mailbox.freeMerged()
    }
  }
}
