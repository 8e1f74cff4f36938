// Rule 5 of the design, between spool and queue: an entry's job is durable before the entry is taken, by the entry's
// identity it makes one job however often it is seen, and the job waits for its file until that is in `active/`.

import ControlAPI
import Foundation
import Jobs
import Logging
import ManagedObjects
import Spool

/// Brings entries of the spool to the queue, and the files of ended jobs to where they belong.
struct SpoolBridge: Sendable {
  let directories: SpoolDirectories
  let plan: SubmissionPlan
  let queue: @Sendable () -> JobQueue
  let queueIdentifier: String
  let logger: Logger

  /// Makes an entry's job.
  /// - Throws: `SpoolRefusal` for what can't be a job, or the queue's error, after which the entry is offered again.
  func accept(_ entry: SpoolEntry) async throws -> Int64 {
    var request = SubmissionRequest()
    switch entry.kind {
    case .hotFolder(let recipe): request.recipe = recipe
    case .ticket(let ticket): request = SubmissionRequest(ticket)
    }
    guard entry.hasFile else {
      throw SpoolRefusal.unacceptable(
        what: "the ticket names no source", advice: "Say source: and the name of a file beside the ticket.")
    }
    do {
      var submission = try plan.submission(request, source: entry.originalName, by: "spool (user \(entry.ownerUID))")
      submission.spoolIdentity = entry.identity
      let job = try await queue().submit(submission)
      logger.info(
        "job \(job.id): \(job.entity ?? "") from \(entry.originalName)",
        metadata: ["job": "\(job.id)", "bytes": "\(entry.size)"])
      return job.id
    } catch let problem as SubmissionProblem {
      throw SpoolRefusal.unacceptable(what: "\(problem.field): \(problem.reason)", advice: problem.advice)
    } catch JobQueueError.invalidSubmission(let reason) {
      throw SpoolRefusal.unacceptable(what: reason, advice: "")
    }
  }

  /// Lets a job run whose file is in `active/` for good.
  func taken(_ id: Int64) async throws {
    let job = try await queue().job(id)
    let name = SpoolDirectories.activeName(job: id, originalName: job.source ?? "")
    _ = try await queue().fileArrived(id, activeName: name, by: "spool")
  }

  /// Forgets how far a job had come in its store, and puts its file away.
  func finished(_ job: JobSnapshot) async throws {
    let outcome: SpoolOutcome
    switch job.state {
    case .completed: outcome = .done
    case .cancelled, .discarded: outcome = .corrupt(reason: job.reason ?? "job \(job.id) ended without a reason")
    case .scheduled, .available, .running, .retryable: return
    }
    // Before the file is put away: while it is in active/, a start after a kill calls this again.
    if JobCheckpoint.kinds.contains(job.kind), let store = job.store, let coordinator = plan.stores[store]?.coordinator
    {
      do {
        try await directories.onQueue { try JobCheckpoint.forget(job, queue: queueIdentifier, in: coordinator) }
      } catch {
        // What is left harms nobody: the job's number is never used again.
        logger.warning("job \(job.id): its checkpoint stays in store \(store): \(error)")
      }
    }
    if let name = job.activeName { _ = try await directories.finish(activeName: name, as: outcome) }
  }

  /// Removes the rejects of a job that was removed from the queue.
  func removed(_ job: JobSnapshot, rejects: String) async throws {
    // The name is the daemon's own: the job's number and an ending.
    guard let name = job.progress.rejectsFile else { return }
    let file = URL(fileURLWithPath: rejects).appendingPathComponent(name)
    try await directories.onQueue {
      do {
        try FileManager.default.removeItem(at: file)
      } catch CocoaError.fileNoSuchFile {
        return
      }
    }
  }

  /// What a kill left between queue and spool: files of jobs that had ended, and jobs that wait for a file which came.
  func recover() async throws {
    let active = try await directories.onQueue {
      var files: [Int64: String] = [:]
      try directories.forEachActive { name, job in
        if name != SpoolDirectories.ticketName(job: job) { files[job] = name }
      }
      return files
    }
    let unknown = try await queue().settle(active.keys.sorted())
    for id in unknown {
      logger.warning("\(active[id] ?? "") is in active/ and its job \(id) isn't in the queue: it stays there")
    }
    var filter = JobFilter(isAwaitingFile: true, newestFirst: false, limit: 1000)
    while true {
      let waiting = try await queue().jobs(filter)
      for job in waiting where !job.state.isEnded {
        if let name = active[job.id] {
          _ = try await queue().fileArrived(job.id, activeName: name, by: "restart")
        } else if job.spoolIdentity == nil {
          _ = try await queue().cancel(job.id, by: "restart: the daemon was stopped while it copied the file")
        }
      }
      guard waiting.count == filter.limit else { break }
      filter.offset += filter.limit
    }
  }
}

extension SubmissionRequest {
  init(_ ticket: Ticket) {
    kind = ticket.kind
    store = ticket.store
    entity = ticket.entity
    mode = ticket.mode?.rawValue
    lane = ticket.lane
    priority = ticket.priority
    notBefore = ticket.notBefore
    uniqueKey = ticket.uniqueKey
    maxAttempts = ticket.maxAttempts
    options = ticket.options.mapValues(OptionValue.init)
  }

  init(_ submission: ControlAPI.JobSubmission) {
    kind = submission.kind
    recipe = submission.recipe
    store = submission.store
    entity = submission.entity
    mode = submission.mode?.rawValue
    lane = submission.lane
    priority = submission.priority
    notBefore = submission.notBefore
    uniqueKey = submission.uniqueKey
    maxAttempts = submission.maxAttempts
    uniquePeriod = submission.uniquePeriod
    uniqueStates = submission.uniqueStates.map { Set($0.map(\.queued)) }
    deadline = submission.deadline
    timeout = submission.timeout
    after = submission.after.map { Jobs.JobDependency(job: $0.job, condition: $0.condition.queued) }
    batch = submission.batch
    tags = submission.tags
    isHeld = submission.isHeld
    options = submission.options
  }
}

extension OptionValue {
  fileprivate init(_ value: TicketValue) {
    switch value {
    case .string(let text): self = .string(text)
    case .int(let number): self = .int(number)
    case .bool(let flag): self = .bool(flag)
    case .list(let values): self = .list(values.map(OptionValue.init))
    case .map(let values): self = .map(values.mapValues(OptionValue.init))
    }
  }
}
