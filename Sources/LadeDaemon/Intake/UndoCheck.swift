import ControlAPI
import ControlServer
import Importing
import Jobs
import ManagedObjects

/// What every submission of an undo passes, by whatever way it comes. That the job has ended is checked in the store again, when
/// the undo begins.
struct UndoCheck: Sendable {
  let stores: DataStores
  let queue: JobQueue

  /// Refuses the undo of a job of which nothing was recorded, or that hasn't ended, and finds out in which store it was recorded.
  /// - Parameter waits: whether the undo follows other jobs, among which may be the one that it takes back.
  /// - Throws: `ControlError`.
  func checked(_ submission: JobSubmission, waits: Bool = false) async throws -> JobSubmission {
    guard submission.kind == UndoOperation.kind else { return submission }
    let options: UndoOperation.Options
    do {
      options = try UndoOperation.Options.read(submission)
    } catch let failure as JobFailure {
      throw ControlError.invalid(field: "options", reason: failure.message)
    }
    let waits = waits || !submission.after.isEmpty || submission.notBefore != nil
    let job = try await known(options.job)
    if !waits, let job, !job.state.isEnded {
      throw ControlError.conflict(
        reason: "Job \(job.id) is \(job.state.rawValue): wait until it has ended, or cancel it first.")
    }
    var submission = submission
    let candidates = submission.store.map { name in stores.all.filter { $0.configuration.name == name } } ?? stores.all
    if let holder = try await holder(of: options.job, among: candidates) {
      submission.store = holder.configuration.name
      return submission
    }
    if waits {
      submission.store = submission.store ?? job?.store
      return submission
    }
    // A store that isn't there is refused with those that are.
    if let name = submission.store, candidates.isEmpty { throw ControlError.noSuchStore(name, known: stores.names) }
    throw ControlError.conflict(
      reason:
        "No store knows what job \(options.job) has done, so that can't be taken back. Before a job runs, its recipe "
        + "or the user info of its entity must say lineage: true. A job that changed nothing has nothing to be taken back."
    )
  }

  /// The store in which a job was recorded.
  private func holder(of job: Int64, among stores: [DataStores.Store]) async throws -> DataStores.Store? {
    let name = JobCheckpoint.name(job, queue: queue.queueIdentifier)
    for store in stores {
      let reader = ContextQueue(.privateQueue, coordinator: store.coordinator, name: "undo")
      if try await reader.perform({ try JobReversal.record(of: name, in: $0) }) != nil { return store }
    }
    return nil
  }

  /// The job of a number, while the queue has it.
  private func known(_ id: Int64) async throws -> Job? {
    do {
      return try await queue.job(id)
    } catch JobQueueError.noSuchJob {
      return nil
    }
  }
}

extension DaemonBackend {
  /// What checks an undo.
  var undoCheck: UndoCheck { UndoCheck(stores: stores, queue: queue) }
}
