import ControlAPI
import Synchronization

/// The output of `watch` without a terminal: an endless stream with a line per change of a job's state.
final class WatchLines: Sendable {
  private struct Reported: Equatable {
    let state: JobState
    let attempt: Int
  }

  private let session: Session
  /// The last reported state of each unfinished job, so that mere progress writes nothing.
  private let reported = Mutex<[Int64: Reported]>([:])

  init(_ session: Session) {
    self.session = session
  }

  /// Writes until the daemon stops.
  /// - Throws: ``ControlClientError``.
  func run() async throws {
    while true {
      try await session.client.listen(to: .allJobEvents) {
        true
      } each: { event in
        guard case .job(let job) = event else { return false }
        if self.isNews(job) {
          let text = try self.session.json ? JSONText.line(job) : ProgressLine(job).sentence(style: .plain) + "\n"
          self.session.terminal.writeData(text)
        }
        return true
      }
    }
  }

  private func isNews(_ job: Job) -> Bool {
    let now = Reported(state: job.state, attempt: job.attempt)
    return reported.withLock { reported in
      defer { reported[job.id] = job.state.isEnded ? nil : now }
      return reported[job.id] != now
    }
  }
}
