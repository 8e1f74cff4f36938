/// Collects what a context hasn't announced yet, and passes it to the observers of its objects.
///
/// ``ManagedObjectContext/processPendingChanges()`` takes the collected changes, makes an undo step of them, posts the
/// did-change notification and informs the observers.
final class ChangeNotifier {
  // Touched on the context's queue only. Changes are noted for each object of an import, one access at a time.
  @exclusivity(unchecked) private var pending = PendingChanges()
  private var observers: [Observer] = []
  private var watch: ObjectWatch?
  /// Whether new objects are announced by a did-change notification. An import sets it to false, because its context has no
  /// observers; its saves are announced all the same. A setting, so it isn't private.
  var announcesInsertions = true

  /// Called when there is something to announce, for the first time since the last announcement. Set by a context whose
  /// program may change objects without a block around it.
  var becameDue: (() -> Void)?
  /// Whether that has been called.
  private var isDue = false

  private struct Observer {
    weak var value: (any ContextObserver)?
  }

  // MARK: Changes

  /// Whether there is nothing to announce.
  var isEmpty: Bool { pending.isEmpty }

  /// Takes what has been collected, to announce it.
  func takeChanges() -> PendingChanges {
    defer { removeAll() }
    return pending
  }

  /// Drops what has been collected.
  func removeAll() {
    pending = PendingChanges()
    isDue = false
  }

  /// The values that an object had before the first change that hasn't been announced; nil without such a change.
  func formerValues(of object: ManagedObject) -> ContiguousArray<Value>? {
    pending.formerValues(of: object)
  }

  /// Keeps what is to be announced and forgets the former values: the changes can't be undone.
  func forgetUndoSteps() { pending.forgetUndoSteps() }

  @inline(__always)
  func noteInserted(_ object: ManagedObject) {
    guard announcesInsertions || hasObservers else { return }
    pending.noteInserted(object)
    noteDue()
  }

  @inline(__always)
  private func noteDue() {
    if isDue { return }
    isDue = true
    becameDue?()
  }

  /// Notes an object as new that was announced before, because its deletion is undone.
  func noteReinserted(_ object: ManagedObject) {
    pending.noteInserted(object)
    noteDue()
  }
  func noteUpdated(_ object: ManagedObject) {
    pending.noteUpdated(object)
    noteDue()
  }
  /// Notes the values of an object that was a fault at its first change.
  func noteFilled(_ object: ManagedObject) { pending.noteFilled(object) }
  func noteDeleted(_ object: ManagedObject) {
    pending.noteDeleted(object)
    noteDue()
  }
  func noteUndoableDeletion(of object: ManagedObject) { pending.noteUndoableDeletion(of: object) }
  func noteRefreshed(_ object: ManagedObject) {
    pending.noteRefreshed(object)
    noteDue()
  }
  /// How many objects have been noted as refreshed since the last announcement.
  var refreshedCount: Int { pending.refreshed.count }
  /// The IDs of those that were noted after the first `count`.
  func refreshedIDs(after count: Int) -> Set<ManagedObjectID> { Set(pending.refreshed.dropFirst(count).lazy.map(\.id)) }
  func noteInvalidated(_ object: ManagedObject) {
    pending.noteInvalidated(object)
    noteDue()
  }
  /// Notes what a merged save has inserted. No object is made for it.
  func noteMerged(_ save: ContextSave) {
    if announcesInsertions, save.insertsRows { pending.noteMerged(save) }
  }

  // MARK: Observers

  /// Whether there are observers, or were until recently.
  var hasObservers: Bool { !observers.isEmpty }

  /// Adds an observer, which is held weakly and may be released on any thread.
  func add(_ observer: any ContextObserver) {
    observers.removeAll { $0.value == nil }
    observers.append(Observer(value: observer))
  }

  /// The observer of single objects, from the first use on while there are any.
  var objectWatch: ObjectWatch {
    if let watch { return watch }
    let new = ObjectWatch()
    watch = new
    add(new)
    return new
  }

  func willProcess(_ save: ContextSave) { for observer in observers { observer.value?.contextWillProcess(save) } }

  func didProcess(_ changes: PendingChanges) {
    for observer in observers { observer.value?.contextDidProcess(changes) }
    if let watch, watch.isEmpty {
      self.watch = nil
      observers.removeAll { $0.value === watch }
    }
  }

  func didReset() { for observer in observers { observer.value?.contextDidReset() } }
}

/// Follows a context's objects more closely than notifications allow: it sees the rows of a merge whose objects aren't
/// registered, and learns when everything has been processed, even after a save that changed only IDs. Called on the
/// context's queue.
protocol ContextObserver: AnyObject {
  /// Another context's save is being merged. Registered objects have the new values already.
  /// ``contextDidProcess(_:)`` follows.
  func contextWillProcess(_ save: ContextSave)
  /// Changes have been processed and announced: those since the last call, often none. Objects may have got permanent IDs
  /// since then.
  func contextDidProcess(_ changes: PendingChanges)
  /// The context was reset.
  func contextDidReset()
}

/// The changes of a context since the last did-change notification.
struct PendingChanges {
  /// A saved or announced object as it was before its first change.
  struct Former {
    let object: ManagedObject
    let state: ManagedObject.State
    /// The values, which are shared with the object until it changes; empty for a fault.
    fileprivate(set) var values: ContiguousArray<Value>
  }

  private(set) var inserted: ContiguousArray<ManagedObject> = []
  /// Objects that changed, or whose unread sets did. Some were deleted later.
  private(set) var formers: ContiguousArray<Former> = []
  /// The places of the first ``indexed`` of them by object. Most changes are announced before anything looks for one.
  private var places: [ObjectIdentifier: Int] = [:]
  private var indexed = 0
  private(set) var deleted: ContiguousArray<ManagedObject> = []
  private(set) var refreshed: ContiguousArray<ManagedObject> = []
  /// Saves of other contexts that have inserted rows. Their objects are made for observers only.
  private(set) var merged: [ContextSave] = []
  /// Objects whose rows turned out to be gone from the store.
  private(set) var invalidated: ContiguousArray<ManagedObject> = []
  /// Objects that the program or a delete rule deleted while an undo manager records.
  private(set) var undoableDeletions: ContiguousArray<ManagedObject> = []

  var isEmpty: Bool {
    inserted.isEmpty && formers.isEmpty && deleted.isEmpty && refreshed.isEmpty && merged.isEmpty
  }

  /// The objects that changed.
  var updated: ContiguousArray<ManagedObject> { ContiguousArray(formers.lazy.map(\.object)) }

  fileprivate mutating func noteInserted(_ object: ManagedObject) { inserted.append(object) }
  fileprivate mutating func noteUpdated(_ object: ManagedObject) {
    formers.append(Former(object: object, state: object.state, values: object.isUnfilled ? [] : object.slots))
  }
  fileprivate mutating func noteFilled(_ object: ManagedObject) {
    guard let place = place(of: object), formers[place].values.isEmpty else { return }
    formers[place].values = object.slots
  }
  fileprivate mutating func formerValues(of object: ManagedObject) -> ContiguousArray<Value>? {
    place(of: object).map { formers[$0].values }
  }
  private mutating func place(of object: ManagedObject) -> Int? {
    for place in indexed..<formers.count where places[ObjectIdentifier(formers[place].object)] == nil {
      places[ObjectIdentifier(formers[place].object)] = place
    }
    indexed = formers.count
    return places[ObjectIdentifier(object)]
  }
  fileprivate mutating func noteDeleted(_ object: ManagedObject) { deleted.append(object) }
  fileprivate mutating func noteUndoableDeletion(of object: ManagedObject) { undoableDeletions.append(object) }
  fileprivate mutating func noteRefreshed(_ object: ManagedObject) { refreshed.append(object) }
  fileprivate mutating func noteMerged(_ save: ContextSave) { merged.append(save) }

  fileprivate mutating func forgetUndoSteps() {
    for former in formers { former.object.isChangePending = false }
    formers.removeAll()
    (places, indexed) = ([:], 0)
    undoableDeletions.removeAll()
  }

  fileprivate mutating func noteInvalidated(_ object: ManagedObject) {
    deleted.append(object)
    invalidated.append(object)
  }
}
