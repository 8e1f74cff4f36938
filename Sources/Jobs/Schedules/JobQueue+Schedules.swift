package import Foundation
import Logging
import ManagedObjects

extension JobQueue {
  /// What the schedules of the configuration are to do, and what came of them, in the configuration's order.
  /// - Throws: the store's error.
  package func schedules() async throws -> [ScheduleSnapshot] {
    let due = dueSchedules.withLock { $0 }
    let context = mainContext
    let (schedules, ledger) = (configuredSchedules, ledger)
    return try await context.perform {
      let rows = try context.fetch(FetchRequest<JobSchedule>(entityName: QueueModel.schedule))
      return try schedules.map { schedule in
        let row = rows.first { $0.name == schedule.name }
        let zones = schedule.calendar.map(\.zone.name)
        return ScheduleSnapshot(
          name: schedule.name, kind: schedule.submission.kind, calendar: schedule.calendar.map(\.normalized),
          timeZones: zones.enumerated().filter { zones.firstIndex(of: $1) == $0 }.map(\.element),
          catchUp: schedule.catchUp, isEnabled: schedule.isEnabled,
          nextElapse: due[schedule.name].map { ISODate.date(microseconds: $0.due) }, lastElapse: row?.lastElapse,
          lastOutcome: row?.lastOutcome, lastJob: try row?.lastJobIdentity.flatMap { try ledger.lastJob($0) })
      }
    }
  }

  /// Looks whether the schedules' jobs could be taken, and notes which schedules there are. On the ledger's queue, before
  /// anything is claimed.
  func beginSchedules() throws {
    for schedule in configuredSchedules {
      do {
        try check(schedule.submission)
      } catch {
        throw JobQueueError.invalidSubmission("schedule \(schedule.name): \(error)")
      }
    }
    try ledger.beginSchedules(configuredSchedules)
    // Each is looked at by the first wake-up.
    let all = configuredSchedules.filter(\.isEnabled).map { ($0.name, ScheduledElapse(time: .min, due: .min)) }
    dueSchedules.withLock { $0 = Dictionary(all) { first, _ in first } }
  }

  /// Makes the jobs that are due, and sets the timer for the next. On the ledger's queue.
  func runSchedules() {
    guard let now = ISODate.microseconds(of: clock.now()) else { return }
    for schedule in configuredSchedules {
      guard let known = dueSchedules.withLock({ $0[schedule.name] }) else { continue }
      var next: ScheduledElapse? = known
      // Far away is what the clock says that was set back, too.
      if known.due <= now || known.farthestStart - now > Int64(JobLedger.largestSetBack * 1_000_000) {
        do {
          next = try elapse(schedule)
        } catch {
          report(error, "the job of a schedule couldn't be made")
          continue
        }
        dueSchedules.withLock { $0[schedule.name] = next }
      }
      if let next { wake(at: ISODate.date(microseconds: next.due)) }
    }
  }

  private func elapse(_ schedule: ScheduleConfiguration) throws -> ScheduledElapse? {
    let (outcomes, next) = try ledger.elapse(schedule, queue: environment.queueIdentifier)
    for outcome in outcomes {
      let level: Logger.Level = outcome == .made ? .info : .warning
      logger.log(level: level, "schedule \(schedule.name): \(outcome.words)")
    }
    return next
  }
}

extension JobLedger {
  /// The job that a schedule made, read in the main context, where the caller is.
  fileprivate func lastJob(_ identity: String) throws -> ScheduleSnapshot.LastJob? {
    let request = FetchRequest<Job>(
      entityName: QueueModel.job, predicate: .equal(JobSlot.spoolIdentity.name, .string(identity)), fetchLimit: 1)
    guard let job = try mainContext.fetch(request).first, let state = job.jobState else { return nil }
    return ScheduleSnapshot.LastJob(id: job.objectID.number, state: state)
  }
}
