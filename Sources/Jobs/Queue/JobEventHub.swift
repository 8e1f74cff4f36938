// Each listener gets the newest snapshot of every job that has changed since it last looked. A slow listener misses steps of
// a job, but never its latest state, and needs memory for a bounded number of jobs.

import Synchronization

/// Hands snapshots of jobs to all listeners.
final class JobEventHub: Sendable {
  private struct Listener {
    weak var subscription: JobSubscription?
    /// Whether it is to hear of what other daemons do soon.
    let isLive: Bool
  }
  private struct State {
    var listeners: [Listener] = []
    var isFinished = false
  }
  private let state = Mutex(State())

  /// A stream of what is broadcast from now on. It ends when the hub is finished.
  func stream(capacity: Int, isLive: Bool = true) -> AsyncStream<Job> {
    let subscription = JobSubscription(capacity: capacity)
    let isFinished = state.withLock { state in
      state.listeners.removeAll { $0.subscription == nil }
      if !state.isFinished { state.listeners.append(Listener(subscription: subscription, isLive: isLive)) }
      return state.isFinished
    }
    if isFinished { subscription.finish() }
    return AsyncStream(unfolding: { await subscription.next() }, onCancel: { subscription.finish() })
  }

  /// Whether anything listens that is to hear soon of what other daemons do.
  var hasLiveListeners: Bool {
    state.withLock { $0.listeners.contains { $0.isLive && $0.subscription?.isFinished == false } }
  }

  func broadcast(_ snapshot: Job) {
    for subscription in subscriptions { subscription.offer(snapshot) }
  }

  func finish() {
    let all = state.withLock { state in
      // Together, so that no stream is made in between.
      state.isFinished = true
      return state.listeners.compactMap(\.subscription)
    }
    for subscription in all { subscription.finish() }
  }

  private var subscriptions: [JobSubscription] { state.withLock { $0.listeners.compactMap(\.subscription) } }
}

/// One listener's snapshots, one for each job, in the order in which the jobs first moved.
final class JobSubscription: Sendable {
  private struct State {
    var order: [Int64] = []
    var latest: [Int64: Job] = [:]
    var waiting: CheckedContinuation<Job?, Never>?
    var isFinished = false
  }
  private let state = Mutex(State())
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  func offer(_ snapshot: Job) {
    let waiting = state.withLock { state -> CheckedContinuation<Job?, Never>? in
      guard !state.isFinished else { return nil }
      if let waiting = state.waiting {
        state.waiting = nil
        return waiting
      }
      if state.latest.updateValue(snapshot, forKey: snapshot.id) == nil { state.order.append(snapshot.id) }
      if state.order.count > capacity { state.latest[state.order.removeFirst()] = nil }
      return nil
    }
    waiting?.resume(returning: snapshot)
  }

  /// The next snapshot; nil at the end. For one caller at a time.
  func next() async -> Job? {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state -> Job?? in
        if let id = state.order.first {
          state.order.removeFirst()
          return .some(state.latest.removeValue(forKey: id))
        }
        if state.isFinished { return .some(nil) }
        state.waiting = continuation
        return nil
      }
      if let ready { continuation.resume(returning: ready) }
    }
  }

  var isFinished: Bool { state.withLock(\.isFinished) }

  func finish() {
    let waiting = state.withLock { state in
      state.isFinished = true
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(returning: nil)
  }
}
