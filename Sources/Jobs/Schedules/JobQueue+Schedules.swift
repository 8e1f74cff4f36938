import Foundation
import Logging
import ManagedObjects

extension JobQueue {
  /// The schedules of the configuration with their latest outcomes, in the configuration's order.
  /// - Throws: the store's error.
  package func schedules() async throws -> [Schedule] {
    let due = dueSchedules.withLock { $0 }
    let (schedules, ledger) = (configuredSchedules, ledger)
    let context = ledger.reader
    return try await context.perform {
      let rows = try context.fetch(FetchRequest<ScheduleRecord>(entityName: QueueModel.schedule))
      return try schedules.map { schedule in
        let row = rows.first { $0.name == schedule.name }
        let zones = schedule.calendar.map(\.zone.name)
        let last = try row?.lastOrigin.flatMap { try ledger.lastJob($0) }
        return Schedule(
          name: schedule.name, kind: schedule.submission.kind, calendar: schedule.calendar.map(\.normalized),
          timeZones: zones.enumerated().filter { zones.firstIndex(of: $1) == $0 }.map(\.element),
          catchUp: schedule.catchUp, isEnabled: schedule.isEnabled,
          nextAt: due.nextElapse(of: schedule.name).map { ISODate.date(microseconds: $0.due) },
          lastAt: row?.lastElapse,
          lastOutcome: row?.lastOutcome, lastJob: last?.id, lastState: last?.state)
      }
    }
  }

  /// Makes the job of a schedule now. It counts as the schedule's last job, so the next elapse is left out until it has ended.
  /// Durable when this returns.
  /// - Throws: ``JobQueueError/noSuchSchedule(_:known:)``, ``JobQueueError/refused(id:why:)`` while the schedule's last job
  ///   hasn't ended, or the store's error.
  package func run(schedule name: String, by who: String) async throws -> Job {
    guard let schedule = configuredSchedules.first(where: { $0.name == name }) else {
      throw JobQueueError.noSuchSchedule(name, known: configuredSchedules.map(\.name))
    }
    let job = try await ledger.run(schedule, by: who)
    if schedule.submission.awaitsFile { fetchFile(of: job, schedule) }
    return job
  }

  /// Checks whether the jobs of schedules would be accepted, in these lanes.
  func check(_ schedules: [JobSchedule], lanes: [String]) throws(JobQueueError) {
    var names = Set<String>()
    for schedule in schedules {
      guard names.insert(schedule.name).inserted else {
        throw JobQueueError.invalidSchedule(schedule.name, "it is there twice")
      }
      guard !schedule.calendar.isEmpty else { throw JobQueueError.invalidSchedule(schedule.name, "it has no calendar") }
      do {
        try check(schedule.submission, lanes: lanes)
      } catch {
        throw JobQueueError.invalidSchedule(schedule.name, error.description)
      }
    }
  }

  /// Notes the configured schedules. On the ledger's queue, before anything is claimed.
  func beginSchedules() throws {
    try check(configuredSchedules, lanes: lanesNow)
    try ledger.beginSchedules(configuredSchedules)
    for schedule in configuredSchedules where schedule.submission.awaitsFile {
      if let job = try ledger.jobAwaitingFile(of: schedule) { fetchFile(of: job, schedule) }
    }
    let all = configuredSchedules
    dueSchedules.withLock { $0.begin(all) }
  }

  /// Makes the jobs that are due, and sets the timer for the next. On the ledger's queue.
  func runSchedules() {
    guard let now = ISODate.microseconds(of: clock.now()) else { return }
    for schedule in configuredSchedules {
      guard var known = dueSchedules.withLock({ $0[schedule.name] }) else { continue }
      if known.isToBeLookedAt(at: now) {
        do {
          let (outcomes, due) = try ledger.elapse(schedule, queue: environment.queueIdentifier)
          for outcome in outcomes { log(outcome, of: schedule) }
          if outcomes.contains(where: \.isNewJob), schedule.submission.awaitsFile {
            if let job = try ledger.jobAwaitingFile(of: schedule) { fetchFile(of: job, schedule) }
          }
          known = due
        } catch {
          report(error, "the job of a schedule couldn't be made")
          continue
        }
        dueSchedules.withLock { [known] in $0.note(known, of: schedule.name) }
      }
      if let next = known.next { wake(at: ISODate.date(microseconds: next.due)) }
    }
  }

  private static var firstFetchPause: Duration { .seconds(5) }

  private func fetchFile(of job: Job, _ schedule: JobSchedule) {
    Task { [weak self, logger] in
      var pause = Self.firstFetchPause
      while true {
        do {
          guard let self else { return }
          return try await delegate?.jobQueue(self, fetchFileOf: job, for: schedule.name) ?? ()
        } catch {
          logger.error(
            """
            job \(job.id): the file of schedule \(schedule.name) couldn't be fetched; it is tried again in \
            \(pause.components.seconds) s
            """,
            metadata: job.logMetadata.adding(["schedule": "\(schedule.name)", "error": "\(error)"]))
        }
        do {
          try await Task.sleep(for: pause)
          guard let self, !state.withLock({ $0.isDraining }), try await self.job(job.id).isAwaitingFile else { return }
        } catch is CancellationError {
          return
        } catch JobQueueError.noSuchJob {
          return
        } catch {
          // The queue can't be read now. The next attempt finds out whether the job still waits.
          logger.error(
            "job \(job.id): \(error)", metadata: job.logMetadata.adding(["schedule": "\(schedule.name)"]))
        }
        pause = min(pause * 2, .seconds(600))
      }
    }
  }

  private func log(_ outcome: ScheduleOutcome, of schedule: JobSchedule) {
    let level: Logger.Level = outcome == .made ? .info : .warning
    logger.log(
      level: level, "schedule \(schedule.name): \(outcome.words)", metadata: ["schedule": "\(schedule.name)"])
  }
}

extension JobLedger {
  /// The latest job of a schedule, if it has no file yet, on the ledger's queue, where the caller is. There is no other:
  /// the next isn't made before this one has ended.
  fileprivate func jobAwaitingFile(of schedule: JobSchedule) throws -> Job? {
    guard let origin = try row(of: schedule, in: context)?.lastOrigin else { return nil }
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .equal(JobRecord.Key.origin.name, .string(origin)), fetchLimit: 1)
    guard let job = try context.fetch(request).first, job.isAwaitingFile, job.jobState == .scheduled else { return nil }
    return try job.snapshot()
  }

  /// The job that a schedule made, read in the reader, where the caller is.
  fileprivate func lastJob(_ origin: String) throws -> (id: Int64, state: JobState)? {
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .equal(JobRecord.Key.origin.name, .string(origin)), fetchLimit: 1)
    guard let job = try reader.fetch(request).first, let state = job.jobState else { return nil }
    return (job.objectID.number, state)
  }
}
