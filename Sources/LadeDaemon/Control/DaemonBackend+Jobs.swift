import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Importing
import Jobs
import Spool

extension DaemonBackend {
  func jobs(_ query: JobQuery) async throws -> JobList {
    var filter = JobFilter(query.selection)
    filter.before = query.before
    filter.after = query.after
    filter.newestFirst = query.order == .newest
    filter.limit = query.limit + 1
    let found = try await queue.jobs(filter)
    let page = found.prefix(query.limit).map(shown)
    return JobList(jobs: page, next: found.count > query.limit ? page.last?.id : nil)
  }

  func job(_ id: Int64) async throws -> Job {
    try await translating { shown(try await queue.job(id, withTransitions: true)) }
  }

  func submit(_ submission: JobSubmission, by peer: Peer) async throws -> Job {
    try permissions.check(submission, by: peer)
    try await checkBackup(of: submission)
    let submission = try await checkedUndo(submission)
    return try await translating {
      let file = try await opened(submission, for: peer)
      let made = try await queue.receive(plan.submission(submission, source: file?.name, by: peer.who))
      // One that was there, with the same unique key, has a file of its own, or is being handed it.
      guard let file, made.isNew else { return shown(queue.completed(made.job)) }
      return shown(queue.completed(try await handOver(file, to: made.job, by: peer)))
    }
  }

  func submitAtOnce(
    _ submission: JobSubmission, by peer: Peer, reply: @escaping @Sendable (Result<Job, any Error>) -> Void
  ) -> Bool {
    // An import's file is opened before, a restore's backup is looked at, and so is what an undo takes back.
    guard submission.kind != ImportOperation.kind, submission.kind != RestoreOperation.kind,
      submission.kind != UndoOperation.kind, submission.source == nil
    else { return false }
    do {
      try permissions.check(submission, by: peer)
      try queue.submit(plan.submission(submission, source: nil, by: peer.who)) { result in
        reply(result.map { shown(queue.completed($0)) }.mapError(Self.translated))
      }
      return true
    } catch {
      // The other way finds the same mistake, and reports it.
      return false
    }
  }

  /// The opened file of a submitted import.
  func opened(_ submission: JobSubmission, for peer: Peer) async throws -> SubmittedFile? {
    guard submission.kind == ImportOperation.kind else {
      if submission.source == nil { return nil }
      throw ControlError.invalid(field: "source", reason: "a job of the kind \(submission.kind) takes no file")
    }
    guard let source = submission.source else {
      throw ControlError.invalid(field: "source", reason: "an import needs the path of its file")
    }
    let folders = configuration.allowedFolders
    return try await directories.onQueue { [directories] in
      try directories.openSubmitted(source, for: peer.uid, allowedFolders: folders)
    }
  }

  /// Copies the file of a job that this submission has made, and lets the job run.
  func handOver(_ file: SubmittedFile, to job: Job, by peer: Peer) async throws -> Job {
    // It may have been cancelled since.
    guard job.isAwaitingFile, !job.state.isEnded else { return job }
    let name = SpoolDirectories.activeName(job: job.id, originalName: file.name)
    do {
      try await directories.onQueue { [directories] in try directories.adoptWithLog(file, as: name) }
    } catch {
      await giveUp(job.id, because: error)
      throw error
    }
    do {
      return try await queue.fileArrived(job.id, activeName: name, by: peer.who)
    } catch let refusal as JobQueueError {
      throw refusal
    } catch {
      await lateHandOvers.add(job.id, .arrived(activeName: name), by: peer.who, after: error)
      throw ControlError.unavailable(
        reason: "Job \(job.id) was made and its file was copied, but the queue couldn't be written then: \(error). "
          + "The job begins as soon as the queue can be written.",
        hint: "Don't submit the file again; 'ladectl show \(job.id)' shows the job.")
    }
  }

  /// Cancels a job whose file won't come, if need be later.
  func giveUp(_ id: Int64, because failure: any Error) async {
    let reason = "laded: its file couldn't be copied: \(failure)"
    do {
      _ = try await queue.cancel(id, by: reason)
    } catch is JobQueueError {
      // It has ended already.
    } catch {
      await lateHandOvers.add(id, .failed(reason: reason), by: "laded", after: error)
    }
  }

  func cancel(_ id: Int64, by peer: Peer) async throws -> Job {
    try await change(id, by: peer) { try await queue.cancel(id, by: peer.who, permission: $0) }
  }

  func retry(_ id: Int64, by peer: Peer) async throws -> Job {
    try await change(id, by: peer) { try await queue.retry(id, by: peer.who, permission: $0) }
  }

  func hold(_ id: Int64, by peer: Peer) async throws -> Job {
    try await change(id, by: peer) { try await queue.hold(id, by: peer.who, permission: $0) }
  }

  func release(_ id: Int64, by peer: Peer) async throws -> Job {
    try await change(id, by: peer) { try await queue.release(id, by: peer.who, permission: $0) }
  }

  /// Changes a job, if the peer may. The queue checks that in the transaction of the change.
  func change(
    _ id: Int64, by peer: Peer, _ body: (_ permission: @escaping JobQueue.Permission) async throws -> Job
  ) async throws -> Job {
    try await translating {
      let permissions = permissions
      return shown(try await body { try permissions.checkChange(of: id, submittedBy: $0, by: peer) })
    }
  }
}

extension Peer {
  /// As jobs and transitions name it.
  var who: String { "user \(uid)" }
}

extension JobFilter {
  init(_ selection: JobSelection) {
    self.init(
      states: Set(selection.states), kind: selection.kind, lane: selection.lane, store: selection.store,
      entity: selection.entity, recipe: selection.recipe,
      uniqueKey: selection.uniqueKey, tag: selection.tag,
      isHeld: selection.isHeld)
    ids = selection.jobs
    batch = selection.batch
    submitters = selection.submittedBy.map(Self.submitters)
  }

  /// The `submittedBy` of a user's jobs, by number or name; any other text is taken literally.
  private static func submitters(_ text: String) -> [String] {
    if text.contains(" ") { return [text] }
    let number = UInt32(text) ?? SystemUser.number(of: text)
    return number.map(Permissions.submitters) ?? [text]
  }
}

extension DaemonBackend {
  /// Reject files are read one after the other: each takes a core for as long as it is.
  private static let rejectQueue = DispatchQueue(label: "control.rejects")

  func rejects(_ id: Int64) async throws -> RejectReport {
    let job = try await translating { try await queue.job(id) }
    guard let name = job.progress.rejectsFile else { return RejectReport(job: id) }
    let file = URL(fileURLWithPath: configuration.rejects).appendingPathComponent(name)
    let options = try job.decodeOptions(as: ImportOptions.self).reader
    let summary = try await Self.rejectQueue.result { try Self.summary(of: file, options) }
    return RejectReport(job: id, file: file.path, isFolder: job.entity == ImportRequest.feed, summary)
  }

  private static func summary(of file: URL, _ options: ReaderOptions) throws -> RejectSummary {
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw ControlError.conflict(reason: "The job rejected records, and \(file.path) isn't there any more.")
    }
    do {
      return try RejectSummary.read(file, options: options)
    } catch {
      throw ControlError.conflict(reason: "\(file.path) can't be read as the job wrote it: \(error)")
    }
  }
}
