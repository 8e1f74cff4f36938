import Dispatch
import Jobs
import Synchronization

/// LivenessProbe through everything that a job passes: the queue's store, every lane, the main queue. One at a time. Whatever hangs
/// there keeps the round from coming back. Safe from any thread.
final class LivenessProbe: Sendable {
  /// Where a probe is.
  struct Standing: Sendable {
    /// The stations that it has passed.
    var passed: [String] = []
    var station: String
    /// When it got there.
    var since: ContinuousClock.Instant
  }

  private let queue: JobQueue
  private let last: DispatchQueue
  private let standing = Mutex<Standing?>(nil)

  /// - Parameter last: the last station, the main queue.
  init(_ queue: JobQueue, last: DispatchQueue = .main) {
    self.queue = queue
    self.last = last
  }

  /// Where the probe is; nil when none is under way.
  var underWay: Standing? { standing.withLock { $0 } }

  /// Starts a probe, if none is under way.
  /// - Parameter finished: called once, on the main queue, when another may begin: with the stations that were passed, and
  ///   the error of the queue's store, if that can't be read.
  func begin(_ finished: @escaping @Sendable (_ passed: [String], _ error: (any Error)?) -> Void) {
    let isNew = standing.withLock { standing in
      guard standing == nil else { return false }
      standing = Standing(station: "\(ProbeStation.store)", since: .now)
      return true
    }
    guard isNew else { return }
    queue.round(
      arrived: { self.arrive(at: $0.description) },
      finished: { error in
        self.arrive(at: "the main queue")
        self.last.async {
          let passed = self.standing.withLock { standing in
            defer { standing = nil }
            return standing.map { $0.passed + [$0.station] } ?? []
          }
          finished(passed, error)
        }
      })
  }

  private func arrive(at station: String) {
    standing.withLock { standing in
      guard let before = standing, before.station != station else { return }
      standing = Standing(passed: before.passed + [before.station], station: station, since: .now)
    }
  }
}
