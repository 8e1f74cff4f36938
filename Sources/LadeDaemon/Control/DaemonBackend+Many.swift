import ControlAPI
import ControlServer
import Jobs
import Spool

extension DaemonBackend {
  func submit(_ submissions: [JobSubmission], by peer: Peer) async throws -> [JobReceipt] {
    var receipts = [JobReceipt?](repeating: nil, count: submissions.count)
    var planned: [(place: Int, submission: JobSubmission, file: SubmittedInput?)] = []
    for (place, submission) in submissions.enumerated() {
      do {
        try permissions.check(submission, by: peer)
        try await checkBackup(of: submission)
        let submission = try await undoCheck.checked(submission)
        try await translating {
          let origin = origin(of: submission, by: peer)
          if let known = try await job(madeFrom: origin) {
            receipts[place] = .init(id: known.id, isOld: true)
            return
          }
          let file: SubmittedInput?
          do {
            file = try await opened(submission, for: peer)
          } catch {
            // Another submission of the upload may have made the job since, and have removed the file.
            guard let known = try await job(madeFrom: origin) else { throw error }
            receipts[place] = .init(id: known.id, isOld: true)
            return
          }
          var wanted = try plan.submission(submission, source: file?.name, files: file?.files, by: peer.who)
          wanted.origin = origin
          planned.append((place, wanted, file))
        }
      } catch let error as ControlError {
        receipts[place] = .init(problem: error.problem)
      }
    }
    for (plan, answer) in zip(planned, try await queue.submit(planned.map(\.submission))) {
      do {
        receipts[plan.place] = try await translating {
          let id = try answer.number
          if let file = plan.file, answer.isNew { try await handOver(file, to: id, by: peer) }
          return .init(id: id, isOld: !answer.isNew)
        }
      } catch {
        // The others are made, and have to be reported.
        receipts[plan.place] = .init(
          problem: Problem(describing: error, method: "POST", path: Endpoint.manyJobs.path))
      }
    }
    return receipts.compactMap { $0 }
  }

  func setPriority(_ id: Int64, to priority: Int, by peer: Peer) async throws -> Job {
    try await translating { try SubmissionPlan.checkPriority(priority) }
    return try await change(id, by: peer) { permission in
      try await queue.setPriority(id, to: priority, by: peer.who, permission: permission)
    }
  }

  func remove(_ id: Int64, by peer: Peer) async throws -> Job {
    try await change(id, by: peer) { try await queue.remove(id, by: peer.who, permission: $0) }
  }

  func change(_ change: JobChange, by peer: Peer) async throws -> Job {
    try await translating {
      if let priority = change.priority { try SubmissionPlan.checkPriority(priority) }
      let options = ChangeOptions(change, submitters: try submitters(of: change.filter, for: peer))
      return shown(queue.completed(try await queue.submit(options, by: peer.who)))
    }
  }

  /// Whose jobs are meant, of those that a peer may change: operators change all jobs, other users their own. Nil for all.
  private func submitters(of selection: JobSelection, for peer: Peer) throws -> [String]? {
    let asked = JobFilter(resolving: selection).submitters
    guard !permissions.isOperator(peer.uid) else { return asked }
    let own = Permissions.submitters(peer.uid)
    if let asked, !Set(asked).isSubset(of: own) { try permissions.checkOperator(peer, to: "change the jobs of others") }
    return asked ?? own
  }

  func batches(_ query: BatchQuery) async throws -> BatchList {
    let found = try await queue.batches(before: query.before, limit: query.limit + 1)
    let page = Array(found.prefix(query.limit))
    return BatchList(batches: page, next: found.count > query.limit ? page.last?.id : nil)
  }

  func batch(_ id: Int64) async throws -> Batch {
    try await translating { try await queue.batch(id) }
  }

  func submit(_ batch: BatchSubmission, by peer: Peer) async throws -> Batch {
    for job in batch.jobs.map(\.job) + [batch.callback].compactMap({ $0 }) { try permissions.check(job, by: peer) }
    return try await translating {
      if let callback = batch.callback, callback.kind == ImportOperation.kind {
        throw ControlError.invalid(field: "callback", reason: "it can't be an import")
      }
      if let recipe = batch.jobs.compactMap(\.job.recipe).first(where: configuration.readsDatabase) {
        throw ControlError.invalid(
          field: "recipe", reason: "\(recipe) reads a database, and its jobs can't be in a batch",
          hint: "Submit it by itself.")
      }
      var batch = batch
      for (index, member) in batch.jobs.enumerated() {
        batch.jobs[index].job = try await undoCheck.checked(member.job, waits: !member.after.isEmpty)
      }
      if let callback = batch.callback { batch.callback = try await undoCheck.checked(callback, waits: true) }
      var files: [SubmittedInput?] = []
      for member in batch.jobs { files.append(try await opened(member.job, for: peer)) }
      var planned = batch
      planned.submittedBy = peer.who
      for (index, file) in files.enumerated() {
        planned.jobs[index].job = try plan.submission(
          batch.jobs[index].job, source: file?.name, files: file?.files, by: peer.who)
      }
      planned.callback = try batch.callback.map { try plan.submission($0, source: nil, by: peer.who) }
      let made = try await queue.submit(batch: planned)
      var failure: (any Error)?
      for (id, file) in zip(made.jobs, files) {
        guard let file else { continue }
        do {
          try await handOver(file, to: id, by: peer)
        } catch {
          // The others' files are handed over all the same: their jobs are made.
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
      return try await queue.batch(made.id)
    }
  }

  /// Copies the file of a job that was just made, and lets the job run.
  private func handOver(_ file: SubmittedInput, to id: Int64, by peer: Peer) async throws {
    let job: Job
    do {
      job = try await queue.job(id)
    } catch {
      await giveUp(id, because: error)
      throw error
    }
    _ = try await handOver(file, to: job, by: peer)
  }
}
