import ControlAPI
import Jobs

extension ControlAPI.Job {
  /// - Parameter rejects: the folder of reject files.
  init(_ job: JobSnapshot, rejects: String) {
    self.init(
      id: job.id, kind: job.kind, lane: job.lane, state: .init(job.state), priority: job.priority,
      store: job.store ?? "", entity: job.entity ?? "", mode: job.mode.flatMap(ImportMode.init),
      recipe: job.recipe, source: job.source ?? "", submittedAt: job.submittedAt,
      availableAt: job.availableAt ?? job.notBefore ?? job.submittedAt, startedAt: job.startedAt, endedAt: job.endedAt,
      attempt: job.attempt, maxAttempts: job.maxAttempts, submittedBy: job.submittedBy,
      tags: job.tags.isEmpty ? nil : job.tags, isHeld: job.isHeld ? true : nil,
      isCancelRequested: job.isCancelRequested ? true : nil, uniqueKey: job.uniqueKey,
      batch: job.batch, deadline: job.deadline, timeout: job.timeout,
      after: job.after?.map { ControlAPI.JobDependency(job: $0.job, condition: .init($0.condition)) },
      waitsFor: job.waitsFor, failureCode: job.failureCode, rescues: job.rescues == 0 ? nil : job.rescues,
      progress: ControlAPI.JobProgress(job.progress), reason: job.reason,
      note: job.state == .completed ? job.note : nil,
      rejectsFile: job.progress.rejectsFile.map { rejects + "/" + $0 },
      transitions: job.transitions?.map {
        ControlAPI.JobTransition(
          at: $0.at, from: $0.from.map(ControlAPI.JobState.init), to: .init($0.to), reason: $0.reason, by: $0.by)
      })
  }
}

extension ControlAPI.JobProgress {
  init(_ progress: Jobs.JobProgress) {
    self.init(
      bytesDone: progress.bytesDone, bytesTotal: progress.bytesTotal, records: progress.records,
      inserted: progress.inserted, updated: progress.updated, unchanged: progress.unchanged,
      deleted: progress.deleted, rejected: progress.rejected, skipped: progress.skipped, phase: progress.phase)
  }
}

extension ControlAPI.JobState {
  init(_ state: Jobs.JobState) {
    switch state {
    case .scheduled: self = .scheduled
    case .available: self = .available
    case .running: self = .running
    case .retryable: self = .retryable
    case .completed: self = .completed
    case .cancelled: self = .cancelled
    case .discarded: self = .discarded
    }
  }

  /// The same as the queue calls it.
  var queued: Jobs.JobState {
    switch self {
    case .scheduled: .scheduled
    case .available: .available
    case .running: .running
    case .retryable: .retryable
    case .completed: .completed
    case .cancelled: .cancelled
    case .discarded: .discarded
    }
  }
}
