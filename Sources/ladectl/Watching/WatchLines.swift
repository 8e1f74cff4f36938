import ControlAPI
import Synchronization

/// What `watch` writes where there is no terminal to draw on: a line for each change of a job's state, without end.
final class WatchLines: Sendable {
  private struct Told: Equatable {
    let state: JobState
    let attempt: Int
  }

  private let session: Session
  /// How each job that goes on was told last, so that its progress makes no lines.
  private let told = Mutex<[Int64: Told]>([:])

  init(_ session: Session) {
    self.session = session
  }

  /// Writes until the daemon ends.
  /// - Throws: ``ControlClientError``.
  func run() async throws {
    while true {
      try await session.client.listen(to: .allJobEvents) {
        true
      } each: { event in
        guard case .job(let job) = event else { return false }
        if self.isNews(job) {
          let text = try self.session.json ? JSONText.line(job) : ProgressLine(job).sentence(style: .plain) + "\n"
          self.session.terminal.write(text)
        }
        return true
      }
    }
  }

  private func isNews(_ job: Job) -> Bool {
    let now = Told(state: job.state, attempt: job.attempt)
    return told.withLock { told in
      defer { told[job.id] = job.state.isEnded ? nil : now }
      return told[job.id] != now
    }
  }
}
