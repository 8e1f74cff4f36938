import Dispatch
import Synchronization

/// Keeps the saves of others that a context has yet to merge, and knows what of them its own later saves have overwritten.
final class MergeQueue {
  /// The saves that wait. Safe from any thread; the rest is touched on the context's queue only.
  let mailbox = SaveMailbox()
  /// Whether the context saves, merges or announces changes. What waits is merged by the next event.
  private var isSuspended = false
  /// Saves of the context's own while it has yet to merge some that precede them.
  private var ownSaves: [PendingSave] = []
  /// The highest number of a save that the context has merged; 0 before the first.
  private(set) var latestMerge: Int64 = 0

  /// How many saves the context has merged or made. What was read before the last of them may be older than what the context
  /// shows.
  private(set) var takenSaves = 0

  /// Whether saves wait and may be merged now.
  @inline(__always)
  var isReady: Bool { !mailbox.isEmpty && !isSuspended }

  /// Runs `body` without merges in between.
  func suspended<T>(_ body: () throws -> T) rethrows -> T {
    let wasSuspended = isSuspended
    isSuspended = true
    defer { isSuspended = wasSuspended }
    return try body()
  }

  /// Notes a save that is being merged.
  func noteMerge(of save: ContextSave) {
    latestMerge = max(latestMerge, save.number)
    takenSaves += 1
  }

  /// Notes that the context itself has saved.
  func noteSaved() { takenSaves += 1 }

  /// Remembers a save of the context's own that others precede.
  func noteOwnSave(_ save: ContextSave) { ownSaves.append(PendingSave(save)) }

  /// Forgets own saves with higher numbers, which other saves will get.
  func forgetOwnSaves(after number: Int64) { ownSaves.removeAll { $0.number > number } }

  /// Another context's save without the rows that the context has saved later.
  func withoutOverwrittenRows(_ save: ContextSave, in context: ManagedObjectContext) -> ContextSave {
    if ownSaves.isEmpty { return save }
    ownSaves.removeAll { $0.number < save.number }
    return ownSaves.reduce(save) { $0.seen(by: context, before: $1) }
  }
}

/// A save of a context, from the time it is made until the saves that precede it are merged.
///
/// A context that saves may have yet to merge earlier saves of others: one that arrived while it was saving waits, or hasn't
/// been delivered. Merged afterwards, it would bring back what has been overwritten. So the context remembers the rows of
/// its own save until everything that precedes it is merged; they are as it saved them. The store has made sure that the
/// context knew what the others wrote into those rows, except for the sets of many-to-many relationships, which are merged
/// all the same.
struct PendingSave {
  let number: Int64
  /// The rows that it wrote.
  let rows: Set<ManagedObjectID>
  /// The rows whose derived attributes it changed.
  let refreshed: Set<ManagedObjectID>

  init(_ save: ContextSave) {
    number = save.number
    rows = Set(save.insertedObjectIDs).union(save.updated.lazy.map(\.id)).union(save.deletedObjectIDs)
    refreshed = Set(save.refreshedObjectIDs)
  }
}

/// One automatic merge of waiting saves, for measurements.
package struct SaveMerge: Sendable {
  /// The number of saves that were merged together.
  package let saveCount: Int
  /// The time from the arrival of the oldest of them to the end of the merge.
  package let lag: Duration
  /// The number of objects that the context has registered now.
  package let registeredObjectCount: Int
}

/// Saves that wait until one context merges them. Safe from any thread.
final class SaveMailbox: Sendable {
  private struct State {
    var saves: [ContextSave] = []
    var pause = Duration.zero
    /// Whether nothing sees what a merge changes, so that it may wait longer.
    var isUnseen = false
    /// Called after each merge.
    var listener: (@Sendable (SaveMerge) -> Void)?
    /// When the oldest of the saves arrived; known only while there is a listener.
    var waitingSince: ContinuousClock.Instant?
    /// How many saves wait. Several of them may be one element of `saves`.
    var count = 0
    /// Whether the context itself saved after the last of `saves`, to which nothing may be appended then.
    var isLastSealed = false
    /// When saves were last taken out.
    var lastTime: ContinuousClock.Instant?
    /// Saves that have been merged and are yet to be freed.
    var merged: [[ContextSave]] = []
    /// Whether another thread will free them.
    var isFreeingScheduled = false
  }

  private let state = Mutex(State())
  private let isWaiting = Atomic(false)

  /// The longest time that a save waits when it arrives right after others were taken out.
  var pause: Duration {
    get { state.withLock(\.pause) }
    set { state.withLock { $0.pause = newValue } }
  }

  /// Called after each merge of waiting saves; see ``ManagedObjectContext/didMergeSaves``.
  var listener: (@Sendable (SaveMerge) -> Void)? {
    get { state.withLock(\.listener) }
    set { state.withLock { $0.listener = newValue } }
  }

  /// Whether waiting saves keep the rows that they insert.
  private let holdsRows = Atomic(true)

  /// Whether waiting saves keep the rows that they insert. A context that has read and written nothing doesn't need them:
  /// whatever it reads later is at least as new, and no row refers to an object that it hasn't saved.
  var keepsInsertedRows: Bool { holdsRows.load(ordering: .sequentiallyConsistent) }

  /// Drops the inserted rows of saves until ``noteRead()``.
  func dropInsertedRowsUntilRead() { holdsRows.store(false, ordering: .sequentiallyConsistent) }

  /// The context is about to read or write. A save that is delivered before this was committed before that begins.
  @inline(__always)
  func noteRead() {
    if !holdsRows.load(ordering: .relaxed) { holdsRows.store(true, ordering: .sequentiallyConsistent) }
  }

  /// Adds a save. Returns when a merge should be scheduled; nil when one has been scheduled already.
  func put(_ save: ContextSave) -> Duration? {
    state.withLock { state in
      let isScheduled = !state.saves.isEmpty
      state.count += 1
      if !isScheduled, state.listener != nil { state.waitingSince = .now }
      if state.pause == .zero || state.isLastSealed || state.saves.last?.canAppend(save) != true {
        state.saves.append(save)
        state.isLastSealed = false
      } else {
        state.saves[state.saves.count - 1].append(save)
      }
      isWaiting.store(true, ordering: .releasing)
      if isScheduled { return nil }
      guard state.pause > .zero, let last = state.lastTime else { return .zero }
      let pause = state.isUnseen ? state.pause * 2 : state.pause
      return max(.zero, pause - last.duration(to: .now))
    }
  }

  /// Notes that the context itself saved after what waits. Saves on both sides of its own are merged separately, because it
  /// may have overwritten rows of the earlier ones only.
  func noteOwnSave() { state.withLock { $0.isLastSealed = !$0.saves.isEmpty } }

  /// Makes what a merge of the waiting saves announces, on this thread rather than on the main queue.
  func prepareAnnouncements() {
    // The lock isn't held while they are made: the lists of an import's saves take longer than other savers should wait.
    for save in state.withLock(\.saves) { save.listIDs() }
  }

  /// Keeps saves that have been merged until they are freed on another thread, because freeing thousands of rows takes longer
  /// than merging them, and the main queue has other work.
  /// - Returns: whether the caller has to arrange for ``freeMerged()``.
  func keepMerged(_ saves: [ContextSave]) -> Bool {
    state.withLock { state in
      state.merged.append(saves)
      defer { state.isFreeingScheduled = true }
      return !state.isFreeingScheduled
    }
  }

  /// Returns whether the caller has to arrange for ``freeMerged()``, after a merge that is about to happen.
  func planFreeing() -> Bool {
    state.withLock { state in
      defer { state.isFreeingScheduled = true }
      return !state.isFreeingScheduled
    }
  }

  /// Frees the saves that have been merged, on this thread.
  func freeMerged() {
    // What the closure returns is freed after the lock.
    _ = state.withLock { state in
      defer { (state.merged, state.isFreeingScheduled) = ([], false) }
      return state.merged
    }
  }

  /// Notes whether anything can see what the next merge changes.
  func noteSight(_ isSeen: Bool) { state.withLock { $0.isUnseen = !isSeen } }

  /// Whether nothing waits.
  @inline(__always)
  var isEmpty: Bool { !isWaiting.load(ordering: .acquiring) }

  /// Takes out all saves in the order of their arrival. `merged` is to be called once they are merged, with the number of
  /// objects that the context has registered.
  func takeAll() -> (saves: [ContextSave], merged: ((Int) -> Void)?) {
    state.withLock { state in
      defer { (state.saves, state.waitingSince, state.count, state.isLastSealed) = ([], nil, 0, false) }
      isWaiting.store(false, ordering: .relaxed)
      if !state.saves.isEmpty, state.pause > .zero { state.lastTime = .now }
      guard let listener = state.listener, let since = state.waitingSince else { return (state.saves, nil) }
      let count = state.count
      return (
        state.saves,
        { listener(SaveMerge(saveCount: count, lag: since.duration(to: .now), registeredObjectCount: $0)) }
      )
    }
  }
}
