import Foundation
import Logging
import ManagedObjects
import Synchronization

/// Makes the jobs of the configured schedules when they are due, and has their files fetched. Safe from any thread, except
/// where a method names the ledger's queue.
///
/// What it needs of the queue is in ``ScheduleRunner/Subject``.
final class ScheduleRunner: Sendable {
  /// The queue whose schedules run.
  protocol Subject: AnyObject, Sendable {
    /// Whether the queue ends, so that no file is fetched any more.
    var isDraining: Bool { get }
    /// Has ``ScheduleRunner/runDue(for:)`` called at a time, or before.
    func wake(at time: Date)
    /// Logs that something couldn't be written, and has it tried again soon.
    func report(_ error: any Error, _ what: String)
    /// Whether a job still waits for its file.
    /// - Throws: ``JobQueueError/noSuchJob(_:)``, or the store's error.
    func isAwaitingFile(_ id: Int64) async throws -> Bool
    /// Fetches the file of a job of a schedule. Throws if that has to be tried again.
    func fetchFile(of job: Job, for schedule: String) async throws
  }

  private static let firstFetchPause = Duration.seconds(5)
  private static let longestFetchPause = Duration.seconds(600)

  private let ledger: JobLedger
  private let clock: JobClock
  private let logger: Logger
  /// The queue's name, from which each schedule's delays follow.
  private let queue: String
  private let due: Mutex<DueSchedules>
  /// The schedules whose latest job is still to be looked at: its file may be missing, and isn't being fetched yet.
  private let unfetched = Mutex<Set<String>>([])

  init(_ schedules: [JobSchedule], ledger: JobLedger, clock: JobClock, queue: String, logger: Logger) {
    self.ledger = ledger
    self.clock = clock
    self.logger = logger
    self.queue = queue
    due = Mutex(DueSchedules(schedules))
  }

  /// The schedules of the configuration, in its order.
  var schedules: [JobSchedule] { due.withLock(\.schedules) }

  // MARK: The configuration

  /// Notes the schedules in the store, and goes on with the files that are still to be fetched. On the ledger's queue, before
  /// anything is claimed. A job that can't be read now is read again by ``runDue(for:)``, and keeps nothing else waiting.
  func begin(for subject: any Subject) throws {
    let schedules = schedules
    try ledger.cancelUnfetchable(schedules)
    try ledger.beginSchedules(schedules)
    unfetched.withLock { $0 = Set(schedules.map(\.name)) }
    for schedule in schedules { fetchUnfetched(of: schedule, subject) }
    due.withLock { $0.begin() }
  }

  /// Replaces the schedules by others, which the store has noted. On the ledger's queue.
  func replace(by new: [JobSchedule]) { due.withLock { $0.replace(by: new) } }

  // MARK: Jobs

  /// Makes the jobs that are due, and has itself woken up for the next. On the ledger's queue.
  func runDue(for subject: any Subject) {
    guard let now = ISODate.microseconds(of: clock.now()) else { return }
    for schedule in schedules {
      makeJob(of: schedule, at: now, subject)
      fetchUnfetched(of: schedule, subject)
    }
  }

  /// Makes the job of a schedule if it is due, and has the runner woken up for the next.
  private func makeJob(of schedule: JobSchedule, at now: Int64, _ subject: any Subject) {
    guard var known = due.withLock({ $0[schedule.name] }) else { return }
    if known.isToBeLookedAt(at: now) {
      let outcomes: [ScheduleOutcome]
      do {
        (outcomes, known) = try ledger.elapse(schedule, queue: queue)
      } catch {
        return subject.report(error, "the job of a schedule couldn't be made")
      }
      // The job is durable: whatever fails from here on mustn't have the schedule asked for it again.
      due.withLock { [known] in $0.note(known, of: schedule.name) }
      for outcome in outcomes { log(outcome, of: schedule) }
      if outcomes.contains(where: \.isNewJob) { unfetched.withLock { _ = $0.insert(schedule.name) } }
    }
    if let next = known.next { subject.wake(at: ISODate.date(microseconds: next.due)) }
  }

  /// Makes the job of a schedule now: see ``JobQueue/run(schedule:by:)``.
  func run(_ name: String, by who: String, for subject: any Subject) async throws -> Job {
    let schedule = try schedule(name)
    let job = try await ledger.run(schedule, by: who)
    // The job before has ended, and needs no file any more.
    unfetched.withLock { _ = $0.remove(name) }
    if schedule.submission.awaitsFile { fetchFile(of: job, schedule, subject) }
    return job
  }

  /// Pauses a schedule, or resumes it: see ``JobQueue/pause(schedule:by:)``. A resumed schedule is
  /// looked at immediately.
  func setPaused(_ isPaused: Bool, _ name: String, by who: String, for subject: any Subject) async throws {
    try await ledger.setPaused(isPaused, try schedule(name), by: who)
    logger.notice(
      "schedule \(name): \(isPaused ? "paused" : "resumed") by \(who)", metadata: ["schedule": "\(name)"])
    guard !isPaused else { return }
    due.withLock { $0.look(at: name) }
    subject.wake(at: clock.now())
  }

  /// - Throws: ``JobQueueError/noSuchSchedule(_:known:)``.
  private func schedule(_ name: String) throws(JobQueueError) -> JobSchedule {
    let schedules = schedules
    guard let schedule = schedules.first(where: { $0.name == name }) else {
      throw JobQueueError.noSuchSchedule(name, known: schedules.map(\.name))
    }
    return schedule
  }

  /// The schedules with their latest outcomes, in the configuration's order.
  /// - Throws: the store's error.
  func snapshots() async throws -> [Schedule] {
    let due = due.withLock { $0 }
    return try await ledger.reader.perform { context in
      let rows = try context.fetch(FetchRequest<ScheduleRecord>(entityName: QueueModel.schedule))
      return try due.schedules.map { schedule in
        let row = rows.first { $0.name == schedule.name }
        let zones = schedule.calendar.map(\.zone.name)
        let last = try row?.lastOrigin.flatMap { try JobLedger.lastJob($0, in: context) }
        return Schedule(
          name: schedule.name, kind: schedule.submission.kind, calendar: schedule.calendar.map(\.normalized),
          timeZones: zones.enumerated().filter { zones.firstIndex(of: $1) == $0 }.map(\.element),
          catchUp: schedule.catchUp, isEnabled: schedule.isEnabled,
          nextAt: due.nextElapse(of: schedule.name).map { ISODate.date(microseconds: $0.due) },
          lastAt: row?.lastElapse,
          lastOutcome: row?.lastOutcome, lastJob: last?.id, lastState: last?.state,
          pausedBy: row.flatMap { $0.isPaused ? $0.pausedBy ?? "somebody" : nil }, pausedAt: row?.pausedAt,
          recent: try JobLedger.recentJobs(of: schedule.name, in: context))
      }
    }
  }

  private func log(_ outcome: ScheduleOutcome, of schedule: JobSchedule) {
    let level: Logger.Level = outcome.isUsual ? .info : .warning
    logger.log(
      level: level, "schedule \(schedule.name): \(outcome.words)", metadata: ["schedule": "\(schedule.name)"])
  }

  // MARK: Files

  /// Fetches the file of a schedule's latest job, if that wasn't begun yet. On the ledger's queue.
  private func fetchUnfetched(of schedule: JobSchedule, _ subject: any Subject) {
    guard unfetched.withLock({ $0.contains(schedule.name) }) else { return }
    do {
      try fetchMissingFile(of: schedule, subject)
      unfetched.withLock { _ = $0.remove(schedule.name) }
    } catch {
      subject.report(error, "the latest job of schedule \(schedule.name) couldn't be read to fetch its file")
    }
  }

  /// Fetches the file of a schedule's latest job, if that waits for one. On the ledger's queue.
  private func fetchMissingFile(of schedule: JobSchedule, _ subject: any Subject) throws {
    guard schedule.submission.awaitsFile, let job = try ledger.jobAwaitingFile(of: schedule) else { return }
    fetchFile(of: job, schedule, subject)
  }

  /// Tries again, with growing pauses, until the file is fetched or the job doesn't wait any more.
  private func fetchFile(of job: Job, _ schedule: JobSchedule, _ subject: any Subject) {
    Task { [weak subject, logger] in
      var pause = Self.firstFetchPause
      while true {
        do {
          guard let subject else { return }
          return try await subject.fetchFile(of: job, for: schedule.name)
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
          guard let subject, !subject.isDraining, try await subject.isAwaitingFile(job.id) else { return }
        } catch is CancellationError {
          return
        } catch JobQueueError.noSuchJob {
          return
        } catch {
          // The queue can't be read now. The next attempt finds out whether the job still waits.
          logger.error(
            "job \(job.id): \(error)", metadata: job.logMetadata.adding(["schedule": "\(schedule.name)"]))
        }
        pause = min(pause * 2, Self.longestFetchPause)
      }
    }
  }
}

extension JobLedger {
  /// The latest job of a schedule, if it has no file yet, on the ledger's queue, where the caller is. There is no other:
  /// the next isn't made before this one has ended.
  fileprivate func jobAwaitingFile(of schedule: JobSchedule) throws -> Job? {
    guard let origin = try row(of: schedule, in: context)?.lastOrigin else { return nil }
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .equal(JobRecord.Key.origin.name, .string(origin)), fetchLimit: 1)
    guard let job = try context.fetch(request).first, job.isAwaitingFile, job.jobState == .scheduled,
      daemon == nil || job.host == daemon?.host
    else { return nil }
    return try job.snapshot()
  }

  /// The job that a schedule made.
  fileprivate static func lastJob(_ origin: String, in context: ManagedObjectContext) throws -> (
    id: Int64, state: JobState
  )? {
    let request = FetchRequest<JobRecord>(
      entityName: QueueModel.job, predicate: .equal(JobRecord.Key.origin.name, .string(origin)), fetchLimit: 1)
    guard let job = try context.fetch(request).first, let state = job.jobState else { return nil }
    return (job.objectID.number, state)
  }
}
