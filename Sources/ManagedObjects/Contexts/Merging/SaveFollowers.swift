import Synchronization

/// The contexts that merge by themselves what is saved into one coordinator, or what one parent saves and merges. Safe from
/// any thread.
///
/// Followers get a coordinator's saves in the order in which the store has them, in whatever order the saving contexts
/// arrive: a merge takes its values from the save, and the last one counts. A context passes to its children what it saves
/// and merges and what they save into it. It does so on its own queue, with its own unsaved changes on top, so that a child
/// gets what it would read.
final class SaveFollowers: Sendable {
  private struct State {
    var entries: [WeakContextQueue] = []
    /// The number of the save to deliver next.
    var next: Int64 = 1
    /// Saves that arrived before one that precedes them.
    var early: [Int64: ContextSave] = [:]
    /// The number of the save that a parent delivered last.
    var last: Int64 = 0
  }

  private let state = Mutex(State())

  var isEmpty: Bool { state.withLock { !$0.entries.contains { $0.queue != nil } } }

  func contains(_ context: ContextQueue) -> Bool {
    state.withLock { $0.entries.contains { $0.queue == context } }
  }

  func add(_ context: ContextQueue) {
    state.withLock {
      $0.entries.removeAll { $0.queue == nil || $0.queue == context }
      $0.entries.append(WeakContextQueue(context))
    }
  }

  func remove(_ context: ContextQueue) {
    state.withLock { $0.entries.removeAll { $0.queue == nil || $0.queue == context } }
  }

  /// The number of the save that a parent delivered to its children last.
  var lastNumber: Int64 { state.withLock(\.last) }

  /// Delivers a parent's save at once, with the next number.
  func deliver(_ save: ContextSave) {
    let (contexts, number) = state.withLock { state in
      state.last += 1
      return (state.entries.compactMap(\.queue), state.last)
    }
    var save = save
    save.number = number
    for context in contexts { context.enqueue(save) }
  }

  /// Whether a context has yet to merge other contexts' saves that precede a save of its own that isn't delivered yet. To be
  /// called on the context's queue.
  func areBehind(_ save: ContextSave, for context: ContextQueue) -> Bool {
    state.withLock { state in
      (state.next < save.number || !context.mailbox.isEmpty)
        && state.entries.contains { $0.queue == context }
    }
  }

  /// Delivers a save after all saves with lower numbers. Every number has to be delivered once. Returns whether the context
  /// that saved has yet to merge earlier saves of other contexts. To be called on the context's queue.
  func deliver(_ save: ContextSave, by context: ContextQueue) -> Bool {
    state.withLock { state in
      let isLast = save.number == state.next && context.mailbox.isEmpty
      state.early[save.number] = save
      while let ready = state.early.removeValue(forKey: state.next) {
        state.next += 1
        // This only puts work on queues, which keeps the order. Nothing runs under the lock.
        for entry in state.entries { entry.queue?.enqueue(ready) }
      }
      return !isLast && state.entries.contains { $0.queue == context }
    }
  }
}
