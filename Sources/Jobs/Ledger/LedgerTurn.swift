// Rule 6, second half: every transition is recorded with its time, its reason and who wanted it, in the transaction
// that makes it. All changes of jobs go through `apply`.

import Foundation
import ManagedObjects

/// A job that a turn changed, as it stands now, and what is to be done about it.
struct LedgerChange: Sendable {
  var job: JobSnapshot
  /// Where it stood before the turn; nil if it is new.
  var from: JobState?
  var actions: [JobAction]
}

/// One transaction of the ledger in the making. Lives on the ledger's queue, during one turn.
final class LedgerTurn {
  let context: ManagedObjectContext
  let now: Date
  private let backoff: Backoff
  private var changes: [(job: Job, from: JobState?, actions: [JobAction])] = []
  private var places: [ObjectIdentifier: Int] = [:]

  init(context: ManagedObjectContext, now: Date, backoff: Backoff) {
    self.context = context
    self.now = now.asStored
    self.backoff = backoff
  }

  /// The job of that number.
  /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
  func job(_ id: Int64) throws -> Job {
    let objectID = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: id)
    do {
      guard let job = try context.existingObject(with: objectID) as? Job else { throw JobQueueError.noSuchJob(id) }
      return job
    } catch ManagedObjectError.objectNotFound {
      throw JobQueueError.noSuchJob(id)
    }
  }

  /// Moves a job, records it, and notes what is to be done.
  /// - Throws: ``JobQueueError/notPossible(id:_:)``; nothing has changed then.
  func apply(_ event: JobEvent, to job: Job, reason: String, by who: String?) throws {
    let before = job.machine(backoff)
    var after = before
    let actions: [JobAction]
    do {
      actions = try after.apply(event, at: now)
    } catch {
      throw JobQueueError.notPossible(id: job.objectID.number, error)
    }
    if after != before {
      job.take(after)
      job.reason = reason
      let transition = try context.insert(JobTransition.self)
      transition.at = now
      transition.fromState = before.state
      transition.toState = after.state
      transition.reason = reason
      transition.requestedBy = who
      transition.job = job
    } else if actions.isEmpty {
      return
    }
    note(job, from: before.state, actions)
  }

  private func note(_ job: Job, from: JobState?, _ actions: [JobAction]) {
    if let place = places[ObjectIdentifier(job)] {
      changes[place].actions += actions
    } else {
      places[ObjectIdentifier(job)] = changes.count
      changes.append((job, from, actions))
    }
  }

  /// How many jobs of each lane stop running by this turn.
  var endedByLane: [String: Int] {
    changes.reduce(into: [:]) { ended, change in
      if change.from == .running, change.job.jobState != .running { ended[change.job.lane, default: 0] += 1 }
    }
  }

  /// Commits the turn.
  func save() throws -> [LedgerChange] {
    try context.save()
    return try changes.map { LedgerChange(job: try $0.job.snapshot(), from: $0.from, actions: $0.actions) }
  }
}
