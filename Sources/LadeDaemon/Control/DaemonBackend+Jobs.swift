import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Importing
import Jobs
import Spool

extension DaemonBackend {
  func jobs(_ query: JobQuery) async throws -> JobList {
    var filter = JobFilter(resolving: query.selection)
    filter.before = query.before
    filter.after = query.after
    filter.newestFirst = query.order == .newest
    filter.limit = query.limit + 1
    let found = try await queue.jobs(filter)
    let page = found.prefix(query.limit).map(shown)
    return JobList(jobs: page, next: found.count > query.limit ? page.last?.id : nil)
  }

  func job(_ id: Int64) async throws -> Job {
    try await translating {
      var job = shown(try await queue.job(id, withTransitions: true))
      job.openRejects = try await openRejects(of: job)
      job.settings = JobSettings(of: job).list
      return job
    }
  }

  func settledJob(_ id: Int64) async throws -> Job {
    let known = try await job(id)
    guard known.state.isEnded else { return known }
    _ = try await translating { try await queue.whenEnded(id) }
    return try await job(id)
  }

  func submit(_ submission: JobSubmission, by peer: Peer) async throws -> Job {
    try permissions.check(submission, by: peer)
    try await checkBackup(of: submission)
    let submission = try await undoCheck.checked(submission)
    return try await translating {
      let origin = origin(of: submission, by: peer)
      if let known = try await job(madeFrom: origin) { return shown(queue.completed(known)) }
      let file: SubmittedInput?
      do {
        file = try await opened(submission, for: peer)
      } catch {
        // Another submission of the upload may have made the job since, and have removed the file.
        guard let known = try await job(madeFrom: origin) else { throw error }
        return shown(queue.completed(known))
      }
      var wanted = try plan.submission(submission, source: file?.name, files: file?.files, by: peer.who)
      wanted.origin = origin
      let made = try await queue.receive(wanted)
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
      submission.kind != UndoOperation.kind, submission.source == nil, submission.files.isEmpty
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

  /// The opened file of a submitted import, or the files of a set.
  func opened(_ submission: JobSubmission, for peer: Peer) async throws -> SubmittedInput? {
    guard submission.kind == ImportOperation.kind else {
      if submission.source == nil, submission.files.isEmpty { return nil }
      throw ControlError.invalid(field: "source", reason: "a job of the kind \(submission.kind) takes no file")
    }
    let folders = configuration.allowedFolders
    if !submission.files.isEmpty {
      if let problem = submission.problem, problem.key == .files {
        throw ControlError.invalid(field: "files", reason: problem.reason)
      }
      let files = try await directories.onQueue { [directories] in
        try directories.openSubmitted(submission.files, for: peer.uid, allowedFolders: folders)
      }
      return .set(files, name: setName(of: submission, files.map(\.name)))
    }
    guard let source = submission.source else {
      if configuration.readsDatabase(submission.recipe) { return nil }
      throw ControlError.invalid(field: "source", reason: "an import needs the path of its file")
    }
    return .file(try await opened(source, by: peer))
  }

  /// As a set of the hot folder would be called: `timetable-2026-11-28`.
  private func setName(of submission: JobSubmission, _ files: [String]) -> String {
    let recipe = submission.recipe.flatMap { configuration.recipe(named: $0) }
    let key = recipe?.options.set?.groups(of: files).groups.first?.key ?? ""
    let name = recipe?.name ?? "set"
    return key.isEmpty ? name : "\(name)-\(key)"
  }

  /// Copies the file of a job that this submission has made, and lets the job run.
  func handOver(_ file: SubmittedInput, to job: Job, by peer: Peer) async throws -> Job {
    // It may have been cancelled since.
    guard job.isAwaitingFile, !job.state.isEnded else { return job }
    let name = SpoolDirectories.activeName(job: job.id, originalName: file.name)
    do {
      try await directories.onQueue { [directories] in
        switch file {
        case .file(let file): try directories.adoptWithLog(file, as: name)
        case .set(let files, _): try directories.adopt(files, as: name)
        }
      }
    } catch {
      await giveUp(job.id, because: error)
      throw error
    }
    do {
      let job = try await queue.fileArrived(job.id, activeName: name, by: peer.who)
      await uploads.remove(importedBy: job)
      return job
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
  /// The filter of a selection, with the users that it names.
  init(resolving selection: JobSelection) {
    self.init(selection)
    submitters = selection.submittedBy.map(Self.submitters)
  }

  /// The `submittedBy` of a user's jobs, by number or name; any other text is taken literally.
  private static func submitters(_ text: String) -> [String] {
    if text.contains(" ") { return [text] }
    let number = UInt32(text) ?? SystemUser.number(of: text)
    return number.map(Permissions.submitters) ?? [text]
  }
}
