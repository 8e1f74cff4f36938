import ControlAPI
import Synchronization

/// Changed jobs on their way to one client: of each job only the latest, in the order in which they began to wait.
///
/// So a client that reads slowly gets fewer events, not older ones, and what waits for it is bounded by the number of
/// jobs, and by `capacity`: past that the mailbox ends, and says so in ``isOverfull``.
final class JobMailbox: Sendable {
  private struct State {
    var waiting: [Int64: Job] = [:]
    var order: [Int64] = []
    var isFinished = false
    var isOverfull = false
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let bell: AsyncStream<Void>
  private let ring: AsyncStream<Void>.Continuation

  /// An empty mailbox.
  init(capacity: Int = 4096) {
    self.capacity = capacity
    (bell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Whether more jobs changed than it has room for.
  var isOverfull: Bool { state.withLock { $0.isOverfull } }

  /// Leaves a job, in place of an older state of it that still waits.
  func put(_ job: Job) {
    let isFull = state.withLock { state in
      guard !state.isFinished else { return false }
      if state.waiting.updateValue(job, forKey: job.id) == nil { state.order.append(job.id) }
      state.isOverfull = state.order.count > capacity
      return state.isOverfull
    }
    if isFull { finish() } else { ring.yield() }
  }

  /// Nothing more comes, and what waits is thrown away.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      state.waiting = [:]
      state.order = []
    }
    ring.finish()
  }

  /// Waits for jobs and takes all that wait. Nil when the mailbox is finished or the task is cancelled. For one reader.
  func take() async -> [Job]? {
    while true {
      let jobs = state.withLock { state -> [Job]? in
        if state.isFinished { return nil }
        defer {
          state.waiting.removeAll(keepingCapacity: true)
          state.order.removeAll(keepingCapacity: true)
        }
        return state.order.compactMap { state.waiting[$0] }
      }
      guard let jobs, !Task.isCancelled else { return nil }
      if !jobs.isEmpty { return jobs }
      var bells = bell.makeAsyncIterator()
      guard await bells.next() != nil else { return nil }
    }
  }
}
