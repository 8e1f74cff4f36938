// Each elapse of a schedule makes one job, ever. The job and the note that the elapse is handled are one transaction, so a
// kill leaves both or neither. The job's identity contains the elapse and is unique in the store, so no job is made twice when
// the note is lost to a clock that was set back, or to a schedule that was removed from the configuration and added again.
// Missed elapses, and those that were left out because the job before hasn't ended, are noted in the same way.

import Foundation
import ManagedObjects

extension JobLedger {
  /// Seconds from which on a clock that was set back is believed to have been wrong before.
  static let largestSetBack: TimeInterval = 25 * 3600
  /// Seconds by which a run may be late without having been missed.
  static let punctuality: TimeInterval = 60

  /// Makes the rows of the store those of the configuration. A schedule that is new, changed or wasn't enabled begins
  /// now; nothing is made for its past. On the ledger's queue, where the caller is.
  func beginSchedules(_ schedules: [JobSchedule]) throws {
    try turn { turn in
      var rows: [String: ScheduleRecord] = [:]
      for row in try turn.context.fetch(FetchRequest<ScheduleRecord>(entityName: QueueModel.schedule)) {
        rows[row.name] = row
      }
      for schedule in schedules {
        let row = try rows.removeValue(forKey: schedule.name) ?? turn.context.insert(ScheduleRecord.self)
        if row.name != schedule.name { row.name = schedule.name }
        if row.handled == nil || row.calendar != schedule.signature {
          row.calendar = schedule.signature
          row.handled = turn.now
        }
      }
      // Other daemons may know them.
      if daemon == nil { for row in rows.values { turn.context.delete(row) } }
    }
  }

  /// Cancels the jobs that wait for a file which no schedule fetches any more: their schedules were taken out of the
  /// configuration, or import nothing now. On the ledger's queue, where the caller is, before files are fetched.
  func cancelUnfetchable(_ schedules: [JobSchedule]) throws {
    try turn { turn in
      let fetched = Set(
        try schedules.filter(\.submission.awaitsFile).compactMap { try row(of: $0, in: turn.context)?.lastOrigin })
      var wanted = FetchPredicate.equal(JobRecord.Key.isAwaitingFile.name, .bool(true))
      // The two ends of whatever begins with `schedule:`.
      for (end, comparison) in [("schedule:", FetchPredicate.Operator.greaterOrEqual), ("schedule;", .less)] {
        wanted = wanted && .comparison(.path(JobRecord.Key.origin.name), comparison, .constant(.string(end)))
      }
      for job in try turn.context.fetch(FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: wanted)) {
        guard job.jobState?.isEnded == false, daemon == nil || job.host == daemon?.host,
          case .schedule(let name, _)? = job.origin,
          !fetched.contains(job.origin?.rawValue ?? "")
        else { continue }
        let reason = "cancelled at the start: schedule \(name), whose file it waited for, doesn't fetch it any more"
        try turn.apply(.cancelRequested, to: job, reason: reason, by: "schedule \(name)")
      }
    }
  }

  /// Makes a job of a schedule by hand.
  func run(_ schedule: JobSchedule, by who: String) async throws -> Job {
    try await write { turn in
      guard let row = try self.row(of: schedule, in: turn.context) else {
        throw JobQueueError.invalidSchedule(schedule.name, "its row was taken out of the queue's store")
      }
      if let origin = row.lastOrigin, let last = try turn.job(withOrigin: origin), let state = last.jobState,
        !state.isEnded
      {
        throw JobQueueError.refused(
          id: last.objectID.number, why: "of schedule \(schedule.name) is \(state.rawValue): the next is made after it")
      }
      var submission = schedule.submission
      submission.submittedBy = who
      if let other = try turn.existing(for: submission), let state = other.jobState {
        throw JobQueueError.refused(
          id: other.objectID.number, why: "has the same unique key and is \(state.rawValue): the next is made after it")
      }
      let time = ISODate.text(of: turn.now) ?? "\(turn.now.timeIntervalSince1970)"
      let origin = JobOrigin.schedule(name: schedule.name, time: "by hand \(time)")
      submission.origin = origin
      row.lastOrigin = origin.rawValue
      row.lastOutcome = "a job was made by \(who)"
      let job = try turn.insert(submission)
      return { try job.snapshot() }
    }
  }

  /// Pauses a schedule, or lets it go on from now: nothing is made for what has passed.
  func setPaused(_ isPaused: Bool, _ schedule: JobSchedule, by who: String) async throws {
    try await write { turn in
      guard let row = try self.row(of: schedule, in: turn.context) else {
        throw JobQueueError.invalidSchedule(schedule.name, "its row was taken out of the queue's store")
      }
      if row.isPaused != isPaused {
        row.isPaused = isPaused
        row.pausedBy = isPaused ? who : nil
        row.pausedAt = isPaused ? turn.now : nil
        if !isPaused, let handled = row.handled { row.handled = max(handled, turn.now) }
      }
      return {}
    }
  }

  /// The latest jobs of a schedule that are still there, the latest first.
  static func recentJobs(of schedule: String, in context: ManagedObjectContext) throws -> [ScheduledJob] {
    let byHand = "schedule:\(schedule):by hand"
    // By the index of origins, which end with the time: those of the calendar, and those by hand.
    let ranges = [("schedule:\(schedule):", byHand), (byHand, "schedule:\(schedule);")]
    let jobs = try ranges.flatMap { start, end in
      let isWithin =
        FetchPredicate.comparison(.path(JobRecord.Key.origin.name), .greaterOrEqual, .constant(.string(start)))
        && .comparison(.path(JobRecord.Key.origin.name), .less, .constant(.string(end)))
      return try context.fetch(
        FetchRequest<JobRecord>(
          entityName: QueueModel.job, predicate: isWithin,
          sortDescriptors: [FetchSortDescriptor(JobRecord.Key.origin.name, ascending: false)],
          fetchLimit: Schedule.mostRecent))
    }
    return jobs.sorted { $0.objectID.number > $1.objectID.number }.prefix(Schedule.mostRecent).compactMap { job in
      guard let state = job.jobState else { return nil }
      let seconds = job.startedAt.flatMap { start in job.endedAt.map { $0.timeIntervalSince(start) } }
      return ScheduledJob(id: job.objectID.number, state: state, seconds: seconds)
    }
  }

  func row(of schedule: JobSchedule, in context: ManagedObjectContext) throws -> ScheduleRecord? {
    try context.fetch(
      FetchRequest<ScheduleRecord>(
        entityName: QueueModel.schedule, predicate: .equal(ScheduleRecord.Key.name.name, .string(schedule.name)),
        fetchLimit: 1)
    ).first
  }

  /// Does what is due for a schedule, on the ledger's queue, where the caller is.
  /// - Returns: what came of it, if something was due, and how far the schedule has come then.
  func elapse(
    _ schedule: JobSchedule, queue: String
  ) throws -> (outcomes: [ScheduleOutcome], due: ScheduleDue) {
    try turn { turn in
      guard let row = try row(of: schedule, in: turn.context), var handled = row.handled,
        let now = ISODate.microseconds(of: turn.now)
      else { throw JobQueueError.invalidSchedule(schedule.name, "its row was taken out of the queue's store") }
      var outcomes: [ScheduleOutcome] = []
      if handled.timeIntervalSince(turn.now) > Self.largestSetBack {
        outcomes.append(.clockSetBack(from: handled))
        handled = turn.now
        row.handled = handled
      }
      var start = ISODate.microseconds(of: handled) ?? now
      if let due = schedule.latest(after: start, dueAt: now, queue: queue) {
        outcomes.append(try turn.see(to: due, after: start, of: schedule, row))
        start = due.time
      }
      return (outcomes, ScheduleDue(handled: start, next: schedule.next(after: start, queue: queue)))
    }
  }
}

extension LedgerTurn {
  fileprivate func see(
    to elapse: ScheduledElapse, after start: Int64, of schedule: JobSchedule, _ row: ScheduleRecord
  ) throws -> ScheduleOutcome {
    let time = ISODate.date(microseconds: elapse.time)
    row.handled = time
    row.lastElapse = time
    let late = now.timeIntervalSince(ISODate.date(microseconds: elapse.due))
    let count = schedule.number(after: start, notAfter: elapse.time)
    let missed = late > JobLedger.punctuality || count > 1 ? MissedTimes(count: count, seconds: Int(late)) : nil
    var outcome = try outcome(isLate: late > JobLedger.punctuality, missed, of: schedule, row)
    if outcome.isNewJob {
      var submission = schedule.submission
      submission.submittedBy = "schedule \(schedule.name)"
      let origin = JobOrigin.schedule(name: schedule.name, time: ISODate.text(of: time) ?? "\(elapse.time)")
      submission.origin = origin
      row.lastOrigin = origin.rawValue
      if try existing(for: submission) == nil {
        _ = try insert(submission)
      } else {
        outcome = .madeBefore
      }
    }
    row.lastOutcome = outcome.words
    return outcome
  }

  private func outcome(
    isLate: Bool, _ missed: MissedTimes?, of schedule: JobSchedule, _ row: ScheduleRecord
  ) throws -> ScheduleOutcome {
    if row.isPaused { return .paused(by: row.pausedBy ?? "somebody") }
    if schedule.catchUp == .skip, isLate, let missed { return .skipped(missed) }
    if let origin = row.lastOrigin, let last = try job(withOrigin: origin), let state = last.jobState,
      !state.isEnded
    {
      return .leftOut(job: last.objectID.number, state: state.rawValue)
    }
    return missed.map { .caughtUp($0) } ?? .made
  }

  fileprivate func job(withOrigin origin: String) throws -> JobRecord? {
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .equal(JobRecord.Key.origin.name, .string(origin)), fetchLimit: 1)
    return try context.fetch(request).first
  }
}

extension ScheduleOutcome {
  /// For people.
  var words: String {
    switch self {
    case .made: "a job was made"
    case .madeBefore: "its job was made before"
    case .caughtUp(let missed): "a job was made for what was missed: \(missed.words)"
    case .skipped(let missed): "left out, for it was missed: \(missed.words)"
    case .leftOut(let job, let state): "left out: job \(job) of the run before is \(state)"
    case .paused(let who): "left out: paused by \(who)"
    case .clockSetBack(let date): "the clock was set back from \(date.formatted(.iso8601)): it goes on from now"
    }
  }
}

extension MissedTimes {
  fileprivate var words: String {
    let times =
      count == 1 ? "one time, late" : "\(min(count, Self.most))\(count > Self.most ? "+" : "") times, the last late"
    return "\(times) by \(seconds < 60 ? "\(seconds) s" : "\(seconds / 3600) h \(seconds / 60 % 60) min")"
  }
}
