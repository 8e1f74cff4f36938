/// A first-in, first-out lock for the tasks of one actor.
///
/// An actor lets other tasks in wherever it awaits, and a scan that awaits the queue must end before the next one begins.
/// Not `Sendable`: it is confined to the actor that owns it, which makes `lock` and `unlock` free of data races.
final class AsyncMutex {
  private var isLocked = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Waits for the lock. Does not react to cancellation: the holder always unlocks.
  nonisolated(nonsending) func lock() async {
    if !isLocked {
      isLocked = true
      return
    }
    // `unlock` passes the lock on, so `isLocked` stays true.
    await withCheckedContinuation { waiters.append($0) }
  }

  func unlock() {
    if waiters.isEmpty {
      isLocked = false
    } else {
      waiters.removeFirst().resume()
    }
  }
}
