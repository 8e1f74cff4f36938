import Synchronization

/// Who waits for the end of a job, and who for the queue to be quiet. A value, kept by the queue; the latches are opened
/// outside of its lock.
struct JobWaiters {
  private var byJob: [Int64: [Latch]] = [:]
  private var forQuiet: [Latch] = []

  /// Whether there are no waiters for jobs.
  var isEmpty: Bool { byJob.isEmpty }

  /// The jobs that are waited for, in order.
  var jobs: [Int64] { byJob.keys.sorted() }

  mutating func add(_ latch: Latch, for id: Int64) { byJob[id, default: []].append(latch) }

  mutating func remove(_ latch: Latch, for id: Int64) {
    byJob[id]?.removeAll { $0 === latch }
    if byJob[id]?.isEmpty ?? false { byJob[id] = nil }
  }

  mutating func take(for id: Int64) -> [Latch] { byJob.removeValue(forKey: id) ?? [] }

  mutating func addForQuiet(_ latch: Latch) { forQuiet.append(latch) }

  mutating func takeForQuiet() -> [Latch] {
    defer { forQuiet = [] }
    return forQuiet
  }
}

/// Opens once. Tasks that wait for it go on then; later ones don't wait.
final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until it is open.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
