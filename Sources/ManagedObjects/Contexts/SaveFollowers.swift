import Dispatch
import Synchronization

// Who merges by itself what others save. Of a coordinator's saves the followers are told in the order in which the store
// has them, whatever order the contexts that saved come by in: merging takes values from the save, and the last one
// counts. A context passes on to its children what it saves and merges, and what they save into it, on its own queue,
// with its own unsaved changes on top: what they would read from it.

/// The contexts that merge by themselves what is saved into one coordinator, or known to one parent. Safe from any thread.
final class SaveFollowers: Sendable {
  private struct Entry {
    weak var context: ManagedObjectContext?
  }

  private struct State {
    var entries: [Entry] = []
    /// The number of the save to be told next.
    var next: Int64 = 1
    /// Saves that came by before the one that precedes them.
    var early: [Int64: ContextSave] = [:]
    /// The number of the save that a parent has told last.
    var last: Int64 = 0
  }

  private let state = Mutex(State())

  var isEmpty: Bool { state.withLock { !$0.entries.contains { $0.context != nil } } }

  func contains(_ context: ManagedObjectContext) -> Bool {
    state.withLock { $0.entries.contains { $0.context === context } }
  }

  func add(_ context: ManagedObjectContext) {
    state.withLock {
      $0.entries.removeAll { $0.context == nil || $0.context === context }
      $0.entries.append(Entry(context: context))
    }
  }

  func remove(_ context: ManagedObjectContext) {
    state.withLock { $0.entries.removeAll { $0.context == nil || $0.context === context } }
  }

  /// The number of the save that a parent has told its children last.
  var lastNumber: Int64 { state.withLock(\.last) }

  /// Tells a parent's save now, with the next number.
  func tell(_ save: ContextSave) {
    let (contexts, number) = state.withLock { state in
      state.last += 1
      return (state.entries.compactMap(\.context), state.last)
    }
    var save = save
    save.number = number
    for context in contexts { context.takeIn(save) }
  }

  /// Whether a context is to merge what others saved before a save of its own that isn't told yet. To be called on its queue.
  func areBehind(_ save: ContextSave, for context: ManagedObjectContext) -> Bool {
    state.withLock { state in
      (state.next < save.number || !context.mailbox.isEmpty) && state.entries.contains { $0.context === context }
    }
  }

  /// Tells a save after those with lower numbers. Every number comes by, once. Returns whether others were saved before
  /// that the context which saved hasn't merged yet. To be called on its queue.
  func tell(_ save: ContextSave, by context: ManagedObjectContext) -> Bool {
    state.withLock { state in
      let isLast = save.number == state.next && context.mailbox.isEmpty
      state.early[save.number] = save
      while let ready = state.early.removeValue(forKey: state.next) {
        state.next += 1
        // Only puts work on queues, which keeps the order; nothing runs under the lock.
        for entry in state.entries { entry.context?.takeIn(ready) }
      }
      return !isLast && state.entries.contains { $0.context === context }
    }
  }
}

/// One automatic merge of waiting saves, for measurements.
package struct SaveMerge: Sendable {
  /// The number of saves that were merged together.
  package let saveCount: Int
  /// The time from the arrival of the oldest of them to the end of the merge.
  package let lag: Duration
}

/// Saves that wait to be merged by one context. Safe from any thread.
final class SaveMailbox: Sendable {
  /// Saves that were merged, to be let go of on another thread than the one that merged them.
  final class Batch: @unchecked Sendable {
    // Sendable: the merging thread reads it, then hands it over once and doesn't touch it again.
    private(set) var content: [ContextSave]
    init(_ content: [ContextSave]) { self.content = content }
    func letGo() { content = [] }
  }

  private struct State {
    var saves: [ContextSave] = []
    var pause = Duration.zero
    /// Called after each merge.
    var listener: (@Sendable (SaveMerge) -> Void)?
    /// When the oldest of the saves arrived; known only while there is a listener.
    var waitingSince: ContinuousClock.Instant?
    /// How many saves wait. Several of them may be one element of `saves`.
    var count = 0
    /// When something was taken out last.
    var lastTime: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let isWaiting = Atomic(false)

  /// How long a save waits, at most, that comes right after others were taken out.
  var pause: Duration {
    get { state.withLock(\.pause) }
    set { state.withLock { $0.pause = newValue } }
  }

  /// Called after each merge of waiting saves; see ``ManagedObjectContext/didMergeSaves``.
  var listener: (@Sendable (SaveMerge) -> Void)? {
    get { state.withLock(\.listener) }
    set { state.withLock { $0.listener = newValue } }
  }

  /// Puts a save in. Returns how long to wait until somebody is to be called who takes it out; nil when somebody has been
  /// called already.
  func put(_ save: ContextSave) -> Duration? {
    state.withLock { state in
      let isCalled = !state.saves.isEmpty
      state.count += 1
      if !isCalled, state.listener != nil { state.waitingSince = .now }
      if state.pause == .zero || state.saves.last?.canTake(save) != true {
        state.saves.append(save)
      } else {
        state.saves[state.saves.count - 1].take(save)
      }
      isWaiting.store(true, ordering: .releasing)
      if isCalled { return nil }
      guard state.pause > .zero, let last = state.lastTime else { return .zero }
      return max(.zero, state.pause - last.duration(to: .now))
    }
  }

  /// Whether nothing waits.
  @inline(__always)
  var isEmpty: Bool { !isWaiting.load(ordering: .acquiring) }

  /// Everything that waits, in the order in which it came, and what is to be called when it is merged.
  func takeAll() -> (saves: [ContextSave], merged: (@Sendable () -> Void)?) {
    state.withLock { state in
      defer { (state.saves, state.waitingSince, state.count) = ([], nil, 0) }
      isWaiting.store(false, ordering: .relaxed)
      if !state.saves.isEmpty, state.pause > .zero { state.lastTime = .now }
      guard let listener = state.listener, let since = state.waitingSince else { return (state.saves, nil) }
      let count = state.count
      return (state.saves, { listener(SaveMerge(saveCount: count, lag: since.duration(to: .now))) })
    }
  }
}

extension ManagedObjectContext {
  /// Whether the context merges by itself what others save: into the coordinator, or, for a child, into its parent, and
  /// what the parent saves and merges.
  ///
  /// Merging happens on the context's queue, some time after the save; ``mergingInterval`` says how often. A confinement
  /// context has no queue, so it can't be set for one. Source: `automaticallyMergesChangesFromParent` of Core Data.
  public var automaticallyMergesChangesFromParent: Bool {
    get { (parent?.followers ?? persistentStoreCoordinator.followers).contains(self) }
    set {
      home.check()
      precondition(queue != nil || !newValue, "a confinement context has no queue to merge on")
      let followers = parent?.followers ?? persistentStoreCoordinator.followers
      if newValue { followers.add(self) } else { followers.remove(self) }
    }
  }

  /// How much time lies, at least, between one automatic merge and the next that isn't asked for: 0.05 s for a context of
  /// the main queue, 0 for others. Safe from any thread.
  ///
  /// A save is merged at once when there was none for that long; while others follow on its heels, as those of an import
  /// do, they are merged together at the end of the interval, so that the main queue isn't called for each. Whatever waits
  /// is merged earlier when the context fetches, saves, or runs a ``perform(_:)-(()->Void)`` that was called after the save:
  /// only an object that is read on the main queue outside of one may lag behind that long. Saves of one context that wait
  /// together are one save in what is told of the merge, if they only insert, and nothing that belongs to a set. 0 merges
  /// each save by itself, as soon as the queue comes to it, as Core Data does.
  public var mergingInterval: Duration {
    get { mailbox.pause }
    set { mailbox.pause = newValue }
  }

  /// Called on the context's queue after each automatic merge of other contexts' saves. It must not touch the context.
  /// Safe to set from any thread.
  package var didMergeSaves: (@Sendable (SaveMerge) -> Void)? {
    get { mailbox.listener }
    set { mailbox.listener = newValue }
  }

  /// Merges a save on the context's queue, later.
  fileprivate func takeIn(_ save: ContextSave) {
    guard save.contextID != identity else { return }
    // One piece of work for all that waits, so that a context which is busy isn't called once a save.
    if let pause = mailbox.put(save) { callToMerge(after: pause) }
  }

  /// Sees to it that what waits is merged, if it hasn't been by then.
  private func callToMerge(after pause: Duration) {
    // Running on the context's queue merges what waits. A program that runs its main loop within a save is asked again.
    guard pause > .zero else {
      return perform { if !self.mailbox.isEmpty { self.callToMerge(after: .milliseconds(10)) } }
    }
    let (seconds, attoseconds) = pause.components
    // No clock counts longer than a few centuries.
    let nanoseconds = min(seconds, 1_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
    let time = DispatchTimeInterval.nanoseconds(Int(nanoseconds))
    DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + time) { [weak self] in
      if let self, !mailbox.isEmpty { callToMerge(after: .zero) }
    }
  }

  /// Merges what others saved and this context is to merge by itself, unless it is in the midst of something: what waits
  /// is merged before the context next does anything for its program.
  @inline(__always)
  func mergeWaitingSaves() {
    if !mailbox.isEmpty, !isAtWork { mergeWaiting() }
  }

  private func mergeWaiting() {
    isAtWork = true
    defer { isAtWork = false }
    let (waiting, merged) = mailbox.takeAll()
    let saves = SaveMailbox.Batch(waiting)
    for save in saves.content { mergeChanges(fromContextDidSave: laterSaves.isEmpty ? save : withoutLaterSaves(save)) }
    merged?()
    // Letting go of thousands of rows takes longer than merging them; the main queue has other things to do.
    DispatchQueue.global(qos: .utility).async { saves.letGo() }
  }

  /// Tells a save of this context to whoever merges by itself.
  func tellFollowers(_ save: ContextSave) {
    if let parent {
      if !mailbox.isEmpty { laterSaves.append(LaterSave(save)) }
      if !parent.followers.isEmpty { parent.perform { parent.passDown(save) } }
    } else if save.number > 0 {
      if !persistentStoreCoordinator.followers.isEmpty { save.listIDs() }
      if persistentStoreCoordinator.followers.tell(save, by: self) {
        laterSaves.append(LaterSave(save))
      }
    }
    passDown(save)
  }

  /// Tells the children of a save that this context has made or taken in.
  func passDown(_ save: ContextSave) {
    if !followers.isEmpty { followers.tell(save.seen(by: self)) }
  }
}
