import ControlAPI
import ControlServer
import Glibc
import Foundation
import Jobs
import ManagedObjects
import Spool

/// What the control socket shows and does, over the daemon's parts.
struct DaemonBackend: ControlBackend {
  let current: CurrentConfiguration
  /// What the daemon was started with.
  let loaded: LoadedConfiguration
  let reloader: Reloader
  let service: StatusService
  let queue: JobQueue
  /// What names the queue in the data stores.
  let queueIdentifier: String
  let stores: DataStores
  let directories: SpoolDirectories
  let intake: SpoolIntake
  let freshness: FreshnessMonitor
  let meters: Meters
  let standing: StandingQueries
  let lateHandOvers: LateHandOvers
  let uploads: UserUploads
  let readiness: Readiness
  /// Browsers that have signed in.
  let sessions: WebSessions
  let startedAt: Date

  var configuration: DaemonConfiguration { current.now.configuration }
  var plan: SubmissionPlan { current.now.plan }
  var permissions: Permissions { current.now.permissions }

  func status() async throws -> Status {
    let counts = try await queue.counts()
    let lanes = try await queue.laneSnapshots().map(LaneStatus.init)
    let mainContexts = meters.mainContexts.status
    return Status(
      version: LadeVersion.current, pid: getpid(), startedAt: startedAt, lanes: lanes,
      counts: Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0, counts[$0]) }),
      stores: stores.all.map { store in
        StoreStatus(
          name: store.configuration.name, path: store.configuration.place.shown,
          entities: store.entities.sorted(), mainContext: mainContexts[store.configuration.name])
      },
      spool: configuration.spool, spoolTrouble: Readiness.check(intake.status).output, recipes: freshness.freshness,
      sets: intake.status.waitingSetsOrNone)
  }

  func jobEvents() -> AsyncStream<Job> {
    let events = queue.events()
    return AsyncStream { continuation in
      let task = Task {
        for await job in events { continuation.yield(shown(job)) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// A job as clients see it: with its earliest start, its note once it has completed, and the path of its rejects.
  func shown(_ job: Job) -> Job {
    var shown = job
    shown.availableAt = job.availableAt ?? job.notBefore ?? job.submittedAt
    if job.state != .completed { shown.note = nil }
    shown.retryOf = job.origin?.retriedJob
    shown.originSummary = JobOrigin.Summary(of: job)
    // Those of a job that any daemon may run aren't kept in a file.
    shown.rejectsFile = job.sharedFile == nil ? job.progress.rejectsFile.map { configuration.rejects + "/" + $0 } : nil
    return shown
  }

  func webLink(for peer: Peer) async throws -> WebLink {
    // A look-up may wait for a name service.
    let name = try await DispatchQueue(label: "control.users").result { SystemUser.name(of: peer.uid) }
    return try sessions.link(for: peer, user: name ?? peer.who)
  }

  func isOperator(_ peer: Peer) -> Bool { permissions.isOperator(peer.uid) }

  func schedules() async throws -> [Schedule] { try await queue.schedules() }

  func run(schedule: String, by peer: Peer) async throws -> Job {
    try permissions.checkOperator(peer, to: "run schedules")
    return try await translating { shown(try await queue.run(schedule: schedule, by: peer.who)) }
  }

  func pause(schedule: String, by peer: Peer) async throws -> Schedule {
    try permissions.checkOperator(peer, to: "pause schedules")
    return try await translating { try await queue.pause(schedule: schedule, by: peer.who) }
  }

  func resume(schedule: String, by peer: Peer) async throws -> Schedule {
    try permissions.checkOperator(peer, to: "resume schedules")
    return try await translating { try await queue.resume(schedule: schedule, by: peer.who) }
  }

  private static let openingHint =
    "The daemon opens the file itself: is the path right, and may \(SystemUser.name(of: geteuid()) ?? "user \(geteuid())"), "
    + "as whom it runs, read it? A service sees no home "
    + "directory, and has a /tmp of its own."

  /// The parts' refusals as the client's.
  func translating<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    do {
      return try await body()
    } catch {
      throw Self.translated(error)
    }
  }

  /// A refusal of a part as the client's; any other error as it is.
  static func translated(_ error: any Error) -> any Error {
    switch error {
    case let problem as SubmissionProblem:
      ControlError.invalid(
        field: problem.field, reason: problem.reason, hint: problem.advice.isEmpty ? nil : problem.advice)
    case SubmissionRefusal.notTheSubmitters: ControlError.forbidden(reason: "\(error)")
    case SubmissionRefusal.cannotOpen:
      ControlError.unreachableSource(reason: "\(error)", hint: openingHint)
    case let refusal as SubmissionRefusal: ControlError.invalid(field: "source", reason: refusal.description)
    case let error as JobQueueError: translation(of: error)
    default: error
    }
  }

  private static func translation(of error: JobQueueError) -> any Error {
    switch error {
    case .noSuchJob(let id): ControlError.noSuchJob(id)
    case .noSuchBatch(let id): ControlError.noSuchBatch(id)
    case .noSuchSchedule(let name, let known): ControlError.noSuchSchedule(name, known: known)
    case .notPossible, .refused: ControlError.conflict(reason: error.description)
    case .invalidSubmission, .unknownKind, .unknownLane:
      ControlError.invalid(field: "job", reason: error.description)
    case .superseded, .invalidLanes, .lanesInUse, .invalidSchedule, .startedBefore, .unreadable: error
    }
  }
}
