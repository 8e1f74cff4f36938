import Foundation
import Logging

extension JobQueue {
  /// Starts the operation of a job that was claimed.
  func run(_ job: JobSnapshot) {
    if let operation = prepare(job) { lanes[job.lane]?.run(operation) }
  }

  /// Makes the operation of a job that was claimed, or whose claim is about to be written.
  /// - Returns: what is to be run; nil where there is no such operation, which is the job's end.
  func prepare(_ job: JobSnapshot) -> JobOperation? {
    var environment = environment
    for (key, value) in job.logMetadata { environment.logger[metadataKey: key] = value }
    if let stores = environment.presentStores { environment.dataStores = stores() }
    environment.report = { [weak self] in self?.note($0, of: job.id) }
    let factory = operations.factory(for: job.kind)
    let operation = factory?(job, environment) ?? JobOperation(job: job, environment: environment)
    let access = operations.access(of: job.kind)
    let limit = limit(of: job)
    let begun = job.startedAt ?? clock.now()
    let id = job.id
    operation.whenDone { [weak self] in self?.operationDidEnd(id) }
    let news = state.withLock { state in
      let beginning = state.beginning.removeValue(forKey: job.id)
      state.running[job.id] = .init(
        operation: operation, snapshot: job, lane: job.lane, access: access, limit: limit, begun: clock.now(),
        isClaimed: beginning?.isClaimed ?? true)
      state.inLane[job.lane, default: 0] += 1
      state.lanes[job.lane]?.note(start: begun)
      if beginning == nil {
        _ = state.use.enter(.init(id: job.id, kind: job.kind, lane: job.lane), store: job.store, access: access)
      }
      hub.broadcast(job)
      return (isStopped: beginning?.isStopped ?? false, isDraining: beginning != nil && state.isDraining)
    }
    if news.isStopped { operation.cancel() }
    if news.isDraining { operation.drain() }
    if let limit { wake(at: limit.time) }
    if lanes[job.lane] != nil, factory != nil { return operation }
    // It was submitted under another configuration.
    let failure = JobFailure(
      code: "unknown_kind", message: "no operation is known for jobs of the kind \(job.kind)", isRetryable: false)
    write(.failed(failure, job.progress), of: job.id)
    return nil
  }

  /// Takes note of progress, and tells it on.
  private func note(_ progress: JobProgress, of id: Int64) {
    let (before, news) = state.withLock { state -> (JobSnapshot?, JobSnapshot?) in
      guard let snapshot = state.running[id]?.snapshot else { return (nil, nil) }
      guard snapshot.progress != progress else { return (snapshot, nil) }
      state.running[id]?.snapshot.progress = progress
      var news = snapshot
      news.progress = progress
      hub.broadcast(news)
      return (snapshot, news)
    }
    if let before { hooks.progressed(before, progress) }
    if let news { logger.logProgress(of: news) }
  }

  /// Called on the operation's thread, also for one that was cancelled before it ran.
  /// - Returns: what is to follow in its place.
  private func operationDidEnd(_ id: Int64) -> JobOperation? {
    let now = clock.now()
    let ended = state.withLock { state in
      state.running[id].map { (running: $0, next: state.passOnSlot(of: id, at: now)) }
    }
    guard let (running, next) = ended else { return nil }
    // Its end first, then what follows: they are written in this order.
    write(outcome(running.operation.outcome, passed: running.passed), of: id)
    return next.flatMap { beginAhead($0) }
  }

  /// Makes the end of an operation durable. Its slot is free after that.
  func write(_ outcome: JobOutcome, of id: Int64) {
    let jitter = random()
    ledger.write({ turn in
      let job = try turn.job(id)
      try turn.record(outcome, of: job, jitter: jitter)
      return {}
    }) { [weak self] (result: Result<Void, any Error>) in
      guard let self, case .failure(let error) = result else { return }
      switch error {
      case JobQueueError.noSuchJob, JobQueueError.notPossible, JobQueueError.unreadable: forget(id, error)
      default:
        state.withLock { $0.unwritten[id] = outcome }
        report(error, "the end of a job couldn't be written", job: id)
      }
    }
  }

  /// The job was changed by somebody else than this queue, who knows better.
  private func forget(_ id: Int64, _ error: any Error) {
    logger.error(
      "job \(id): its end was lost, for its row was changed by another program",
      metadata: ["job": "\(id)", "error": "\(error)"])
    let waiters = state.withLock { state in
      state.forget(id)
      return state.waiters.removeValue(forKey: id) ?? []
    }
    for waiter in waiters { waiter.open() }
    endDrainIfQuiet()
  }
}

extension LedgerTurn {
  /// Moves a job as its operation's outcome says.
  func record(_ outcome: JobOutcome, of job: Job, jitter: Double) throws {
    job.progress = outcome.progress
    switch outcome {
    case .completed(_, let note):
      job.failureCode = nil
      job.note = note
      try apply(.succeeded, to: job, reason: note ?? "done", by: nil)
    case .cancelled: try apply(.cancelled, to: job, reason: job.cancelReason, by: nil)
    case .interrupted:
      let reason = job.isCancelRequested ? job.cancelReason : "the daemon stopped"
      try apply(.interrupted, to: job, reason: reason, by: nil)
    case .failed(let failure, _):
      job.failureCode = failure.code
      let event = JobEvent.failed(isRetryable: failure.isRetryable, jitter: jitter)
      try apply(event, to: job, reason: failure.message, by: nil)
    }
  }
}

extension Job {
  /// Who wanted a running job stopped is its reason since.
  fileprivate var cancelReason: String { isCancelRequested ? reason ?? "cancelled" : "cancelled by its operation" }
}
