// A submission over the control socket makes its job durable, then copies the file, then lets the job run (rule 5,
// ARCHITECTURE.md). Where the queue can't be written after the first of these, the job would wait for its file until the next
// start, which makes up for it (`SpoolBridge.recover`). So it is tried again here until the queue can be written.

import Foundation
import Jobs
import Logging

/// The jobs of submissions whose hand-over couldn't be written to the queue.
actor LateHandOvers {
  /// What the queue is to learn about a job.
  enum News: Sendable, Equatable {
    /// Its file is in `active/` for good.
    case arrived(activeName: String)
    /// Its file won't come.
    case failed(reason: String)
  }

  /// The time before it is tried again, which doubles.
  private static let pauses = (first: Duration.milliseconds(500), longest: Duration.seconds(60))

  private let queue: JobQueue
  private let logger: Logger
  private var late: [Int64: (news: News, who: String)] = [:]
  private var retrying: Task<Void, Never>?

  init(queue: JobQueue, logger: Logger) {
    self.queue = queue
    self.logger = logger
  }

  /// Reports to the queue later.
  func add(_ job: Int64, _ news: News, by who: String, after error: any Error) {
    logger.error(
      "job \(job): what became of its file couldn't be written; it is tried again",
      metadata: ["job": "\(job)", "error": "\(error)"])
    late[job] = (news, who)
    guard retrying == nil else { return }
    retrying = Task { await retry() }
  }

  private func retry() async {
    var pause = Self.pauses.first
    while true {
      do { try await Task.sleep(for: pause) } catch { return }
      if await tellAll() { return }
      pause = min(pause * 2, Self.pauses.longest)
    }
  }

  /// - Returns: whether none is left.
  private func tellAll() async -> Bool {
    for (job, (news, who)) in late {
      do {
        switch news {
        case .arrived(let name): _ = try await queue.fileArrived(job, activeName: name, by: who)
        case .failed(let reason): _ = try await queue.cancel(job, by: reason)
        }
        late[job] = nil
      } catch is JobQueueError {
        // It has ended or was removed in the meantime.
        late[job] = nil
      } catch {
        logger.warning(
          "job \(job): what became of its file still couldn't be written",
          metadata: ["job": "\(job)", "error": "\(error)"])
      }
    }
    guard late.isEmpty else { return false }
    retrying = nil
    return true
  }
}
