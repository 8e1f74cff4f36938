import ControlAPI
import FoundationEssentials

/// What `watch` shows, as far as it is known. Knows neither the daemon nor the terminal.
///
/// It keeps the jobs that run and the last that ended, not those that wait: of them the lanes' counts tell, so that a
/// queue of a million jobs costs no more than one of ten.
struct WatchState: Sendable {
  /// The most ended jobs that are kept: no terminal shows more.
  static let remembered = 100

  /// The daemon's own words of itself; nil until it has answered.
  private(set) var status: Status?
  /// Why there is no connection; nil while there is one.
  private(set) var trouble: String?
  private(set) var meters: [Int64: RateMeter] = [:]
  private var runningJobs: [Int64: Job] = [:]
  /// Jobs that ended, or whose attempt failed; the latest first.
  private(set) var recent: [Job] = []

  /// The jobs that run, by their numbers.
  var running: [Job] { runningJobs.values.sorted { $0.id < $1.id } }

  /// Takes in how the daemon is.
  mutating func note(_ status: Status) {
    self.status = status
    trouble = nil
  }

  /// Takes in that the daemon doesn't answer any more.
  mutating func lost(_ why: String) {
    trouble = why
    // Nobody knows how far they have come by now.
    runningJobs = [:]
    meters = [:]
  }

  /// Takes in all there is, after connecting.
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

  /// Takes in a job as it is now.
  /// - Parameter time: seconds from any fixed moment on.
  mutating func note(_ job: Job, at time: Double) {
    // An event from before the daemon was asked may come after its answer.
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
