import ControlAPI
import FoundationEssentials

/// The data that `watch` shows. Independent of daemon and terminal.
///
/// It keeps the running jobs and the last ones that ended. Waiting jobs appear only in the lanes' counts, so that a queue of a
/// million jobs costs no more than one of ten.
struct WatchState: Sendable {
  /// The maximum number of ended jobs to keep: no terminal shows more.
  static let remembered = 100

  /// The daemon's status; nil until it has answered.
  private(set) var status: Status?
  /// The reason for a lost connection; nil while connected.
  private(set) var trouble: String?
  private(set) var meters: [Int64: RateMeter] = [:]
  private var runningJobs: [Int64: Job] = [:]
  /// Jobs that ended or whose attempt failed, latest first.
  private(set) var recent: [Job] = []

  /// The running jobs by number.
  var running: [Job] { runningJobs.values.sorted { $0.id < $1.id } }

  /// Adds the daemon's status.
  mutating func note(_ status: Status) {
    self.status = status
    trouble = nil
  }

  /// Records that the daemon doesn't answer any more.
  mutating func lost(_ why: String) {
    trouble = why
    // Their progress is unknown by now.
    runningJobs = [:]
    meters = [:]
  }

  /// Adds all jobs after connecting.
  mutating func begin(running: [Job], recent: [Job]) {
    runningJobs = [:]
    let meters = meters
    self.meters = [:]
    for job in running {
      runningJobs[job.id] = job
      self.meters[job.id] = meters[job.id] ?? RateMeter()
    }
    self.recent = Array(recent.sorted(by: Self.isLater).prefix(Self.remembered))
  }

  /// Adds a job's current state.
  /// - Parameter time: seconds since any fixed moment.
  mutating func note(_ job: Job, at time: Double) {
    // An event from before the request may arrive after its answer.
    if let known = runningJobs[job.id] ?? recent.first(where: { $0.id == job.id }) {
      guard known.attempt <= job.attempt else { return }
      guard !known.state.isEnded || job.state.isEnded || known.attempt < job.attempt else { return }
    }
    guard job.state != .running else {
      runningJobs[job.id] = job
      meters[job.id, default: RateMeter()].note(job.progress, at: time)
      recent.removeAll { $0.id == job.id }
      return
    }
    runningJobs[job.id] = nil
    meters[job.id] = nil
    guard job.state.isEnded || job.state == .retryable else { return }
    recent.removeAll { $0.id == job.id }
    recent.insert(job, at: 0)
    if recent.count > Self.remembered { recent.removeLast() }
  }

  private static func isLater(_ a: Job, _ b: Job) -> Bool {
    (a.endedAt ?? a.submittedAt, a.id) > (b.endedAt ?? b.submittedAt, b.id)
  }
}
