import ControlAPI
import ControlServer
import Foundation
import Jobs
import ManagedObjects
import Spool

/// What the control socket shows and does, over the daemon's parts.
struct DaemonBackend: ControlBackend {
  let configuration: DaemonConfiguration
  let queue: JobQueue
  let stores: DataStores
  let plan: SubmissionPlan
  let directories: SpoolDirectories
  let intake: SpoolIntake
  let startedAt: Date

  func status() async throws -> Status {
    let counts = try await queue.counts()
    let lanes = configuration.lanes.map { lane in
      let states = counts.lanes[lane.name] ?? [:]
      return LaneStatus(
        name: lane.name, concurrency: lane.concurrency, running: states[.running] ?? 0,
        available: states[.available] ?? 0, scheduled: states[.scheduled] ?? 0, retryable: states[.retryable] ?? 0)
    }
    let states = ControlAPI.JobState.allCases.map { state in
      (state, Jobs.JobState(rawValue: state.rawValue).map { counts[$0] } ?? 0)
    }
    return Status(
      version: LadeVersion.current, pid: getpid(), startedAt: startedAt, lanes: lanes,
      counts: Dictionary(uniqueKeysWithValues: states),
      stores: stores.all.map { store in
        StoreStatus(
          name: store.configuration.name, path: store.configuration.path,
          entities: store.entities.sorted())
      },
      spool: configuration.spool)
  }

  func jobs(_ query: JobQuery) async throws -> JobList {
    // What lies in incoming/ counts: whoever drops a file and asks at once sees its job.
    try await intake.rescan()
    let filter = JobFilter(
      states: Set(query.states.compactMap { Jobs.JobState(rawValue: $0.rawValue) }), lane: query.lane,
      before: query.before, limit: query.limit + 1)
    let found = try await queue.jobs(filter)
    let page = found.prefix(query.limit).map(shown)
    return JobList(jobs: page, next: found.count > query.limit ? page.last?.id : nil)
  }

  func job(_ id: Int64) async throws -> ControlAPI.Job {
    try await translating { shown(try await queue.job(id, withTransitions: true)) }
  }

  func submit(_ submission: ControlAPI.JobSubmission, by peer: Peer) async throws -> ControlAPI.Job {
    try await translating {
      let folders = configuration.allowedFolders
      guard let source = submission.source else {
        throw ControlError.invalid(field: "source", reason: "an import needs the path of its file")
      }
      let file = try await directories.onQueue { [directories] in
        try directories.openSubmitted(source, for: peer.uid, allowedFolders: folders)
      }
      let request = SubmissionRequest(submission)
      let job = try await queue.submit(plan.submission(request, source: file.name, by: "user \(peer.uid)"))
      // With a unique key it may be a job that has its file already.
      guard job.isAwaitingFile, !job.state.isEnded else { return shown(job) }
      let name = SpoolDirectories.activeName(job: job.id, originalName: file.name)
      do {
        try await directories.onQueue { [directories] in try directories.adopt(file, as: name) }
      } catch {
        _ = try await queue.cancel(job.id, by: "laded: its file couldn't be copied: \(error)")
        throw error
      }
      return shown(try await queue.fileArrived(job.id, activeName: name, by: "user \(peer.uid)"))
    }
  }

  func cancel(_ id: Int64, by peer: Peer) async throws -> ControlAPI.Job {
    try await translating {
      let job = try await queue.job(id)
      guard peer.uid == 0 || peer.uid == geteuid() || job.submittedBy == "user \(peer.uid)" else {
        throw ControlError.forbidden(
          reason: "Job \(id) was submitted by \(job.submittedBy).",
          hint: "Its submitter, root and the daemon's user may cancel it.")
      }
      return shown(try await queue.cancel(id, by: "user \(peer.uid)"))
    }
  }

  func jobEvents() -> AsyncStream<ControlAPI.Job> {
    let events = queue.events()
    return AsyncStream { continuation in
      let task = Task {
        for await job in events { continuation.yield(shown(job)) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// A job as clients see it.
  private func shown(_ job: JobSnapshot) -> ControlAPI.Job { ControlAPI.Job(job, rejects: configuration.rejects) }

  /// The parts' refusals as the client's.
  func translating<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch let problem as SubmissionProblem {
      throw ControlError.invalid(
        field: problem.field, reason: problem.reason, hint: problem.advice.isEmpty ? nil : problem.advice)
    } catch let refusal as SubmissionRefusal {
      if case .notTheSubmitters = refusal { throw ControlError.forbidden(reason: refusal.description) }
      throw ControlError.invalid(field: "source", reason: refusal.description)
    } catch let error as JobQueueError {
      switch error {
      case .noSuchJob(let id): throw ControlError.noSuchJob(id)
      case .noSuchBatch(let id): throw ControlError.noSuchBatch(id)
      case .notPossible, .refused: throw ControlError.conflict(reason: error.description)
      case .invalidSubmission, .unknownKind, .unknownLane:
        throw ControlError.invalid(field: "job", reason: error.description)
      case .invalidLanes, .startedBefore, .unreadable: throw error
      }
    }
  }
}

extension ControlAPI.Job {
  /// - Parameter rejects: the folder of reject files.
  init(_ job: JobSnapshot, rejects: String) {
    let progress = ControlAPI.JobProgress(
      bytesDone: job.progress.bytesDone, bytesTotal: job.progress.bytesTotal, records: job.progress.records,
      inserted: job.progress.inserted, updated: job.progress.updated, unchanged: job.progress.unchanged,
      deleted: job.progress.deleted, rejected: job.progress.rejected, skipped: job.progress.skipped)
    self.init(
      id: job.id, kind: job.kind, lane: job.lane, state: .init(job.state), priority: job.priority,
      store: job.store ?? "", entity: job.entity ?? "", mode: job.mode.flatMap(ImportMode.init),
      recipe: job.recipe, source: job.source ?? "", submittedAt: job.submittedAt,
      availableAt: job.availableAt ?? job.notBefore ?? job.submittedAt, startedAt: job.startedAt, endedAt: job.endedAt,
      attempt: job.attempt, maxAttempts: job.maxAttempts, submittedBy: job.submittedBy, progress: progress,
      reason: job.reason, note: job.state == .completed ? job.note : nil,
      rejectsFile: job.progress.rejectsFile.map { rejects + "/" + $0 },
      transitions: job.transitions?.map {
        ControlAPI.JobTransition(
          at: $0.at, from: $0.from.map(ControlAPI.JobState.init), to: .init($0.to), reason: $0.reason, by: $0.by)
      })
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
}
