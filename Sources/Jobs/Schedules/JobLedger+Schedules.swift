// Each elapse of a schedule makes one job, ever. The job and the note that the elapse is seen to (`handled`) are one
// transaction, so a kill leaves both or neither; the job's identity has the elapse in it and is unique in the store, so
// nothing is made twice either when the note is lost to a clock that was set back, or to a schedule that was taken out of
// the configuration and put back. What was missed, and what was left out because the job before hasn't ended, is noted
// in the same way.

import Foundation
import ManagedObjects

/// What came of an elapse.
enum ScheduleOutcome: Sendable, Equatable {
  /// A job was made.
  case made
  /// The run was missed, and isn't caught up.
  case skipped(seconds: Int)
  /// The job before hasn't ended.
  case leftOut(job: Int64, state: String)
  /// The clock was set back beyond what is a correction.
  case clockSetBack(from: Date)
}

extension JobLedger {
  /// Seconds from which on a clock that was set back is believed to have been wrong before.
  static let largestSetBack: TimeInterval = 25 * 3600
  /// Seconds by which a run may be late without having been missed.
  static let punctuality: TimeInterval = 60

  /// Makes the rows of the store those of the configuration. A schedule that is new, changed or wasn't enabled begins
  /// now; nothing is made for its past. On the ledger's queue, where the caller is.
  func beginSchedules(_ schedules: [ScheduleConfiguration]) throws {
    try turn { turn in
      var rows: [String: JobSchedule] = [:]
      for row in try turn.context.fetch(FetchRequest<JobSchedule>(entityName: QueueModel.schedule)) {
        rows[row.name] = row
      }
      for schedule in schedules {
        let row = try rows.removeValue(forKey: schedule.name) ?? turn.context.insert(JobSchedule.self)
        if row.name != schedule.name { row.name = schedule.name }
        if row.handled == nil || row.calendar != schedule.signature {
          row.calendar = schedule.signature
          row.handled = turn.now
        }
      }
      for row in rows.values { turn.context.delete(row) }
    }
  }

  /// Sees to what is due of a schedule, on the ledger's queue, where the caller is.
  /// - Returns: what came of it, if something was due, and the next elapse.
  func elapse(
    _ schedule: ScheduleConfiguration, queue: String
  ) throws -> (outcomes: [ScheduleOutcome], next: ScheduledElapse?) {
    try turn { turn in
      let request = FetchRequest<JobSchedule>(
        entityName: QueueModel.schedule, predicate: .equal(JobScheduleSlot.name.name, .string(schedule.name)),
        fetchLimit: 1)
      guard let row = try turn.context.fetch(request).first, let handled = row.handled else { return ([], nil) }
      var outcomes: [ScheduleOutcome] = []
      var start = handled
      if handled.timeIntervalSince(turn.now) > Self.largestSetBack {
        outcomes.append(.clockSetBack(from: handled))
        start = turn.now
        row.handled = start
      }
      guard let from = ISODate.microseconds(of: start), let now = ISODate.microseconds(of: turn.now) else {
        return ([], nil)
      }
      guard let due = schedule.latest(after: from, dueAt: now, queue: queue) else {
        return (outcomes, schedule.next(after: from, queue: queue))
      }
      outcomes.append(try turn.see(to: due, of: schedule, row))
      return (outcomes, schedule.next(after: due.time, queue: queue))
    }
  }
}

extension LedgerTurn {
  fileprivate func see(
    to elapse: ScheduledElapse, of schedule: ScheduleConfiguration, _ row: JobSchedule
  ) throws -> ScheduleOutcome {
    let time = ISODate.date(microseconds: elapse.time)
    row.handled = time
    row.lastElapse = time
    let late = now.timeIntervalSince(ISODate.date(microseconds: elapse.due))
    let outcome = try outcome(late: late, of: schedule, row)
    row.lastOutcome = outcome.words
    guard outcome == .made else { return outcome }
    var submission = schedule.submission
    submission.submittedBy = "schedule \(schedule.name)"
    let identity = "schedule:\(schedule.name):\(ISODate.text(of: time) ?? "\(elapse.time)")"
    submission.spoolIdentity = identity
    row.lastJobIdentity = identity
    if try existing(for: submission) == nil { _ = try insert(submission) }
    return outcome
  }

  private func outcome(
    late: TimeInterval, of schedule: ScheduleConfiguration, _ row: JobSchedule
  ) throws -> ScheduleOutcome {
    if schedule.catchUp == .skip, late > JobLedger.punctuality { return .skipped(seconds: Int(late)) }
    if let identity = row.lastJobIdentity, let last = try job(withIdentity: identity), let state = last.jobState,
      !state.isEnded
    {
      return .leftOut(job: last.objectID.number, state: state.rawValue)
    }
    return .made
  }

  private func job(withIdentity identity: String) throws -> Job? {
    let request = FetchRequest<Job>(
      entityName: QueueModel.job, predicate: .equal(JobSlot.spoolIdentity.name, .string(identity)), fetchLimit: 1)
    return try context.fetch(request).first
  }
}

extension ScheduleOutcome {
  /// For people.
  var words: String {
    switch self {
    case .made: "a job was made"
    case .skipped(let seconds): "left out: it was missed by \(Duration.seconds(seconds).formatted(.units()))"
    case .leftOut(let job, let state): "left out: job \(job) of the run before is \(state)"
    case .clockSetBack(let date): "the clock was set back from \(date.formatted(.iso8601)): it goes on from now"
    }
  }
}
