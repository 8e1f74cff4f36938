import ControlAPI

/// Which jobs `wait` waits for, and what has become of them. Knows neither the daemon nor the terminal.
struct JobWatch: Sendable {
  enum Scope: Sendable, Hashable {
    /// These and no others.
    case jobs([Int64])
    /// Whatever isn't ended and isn't put off to a later time, and what comes while those run.
    case all
    /// These, until nobody works on them any more, whatever became of them.
    case attempts([Int64])
  }

  /// What a report of a job changed.
  enum Change: Sendable, Hashable {
    /// Nothing, or it isn't waited for.
    case none
    /// Its progress.
    case progress
    /// Its state, or it is seen for the first time.
    case state
  }

  let scope: Scope
  private var known: [Int64: Job] = [:]
  private(set) var meters: [Int64: RateMeter] = [:]

  init(_ scope: Scope) {
    self.scope = scope
  }

  /// Takes in a job as it is now.
  /// - Parameter time: seconds from any fixed moment on.
  mutating func note(_ job: Job, at time: Double) -> Change {
    switch scope {
    case .jobs(let ids), .attempts(let ids): guard ids.contains(job.id) else { return .none }
    case .all: guard known[job.id] != nil || isPending(job) else { return .none }
    }
    // An event from before the daemon was asked may come after its answer.
    guard known[job.id]?.state.isEnded != true || job.state.isEnded, known[job.id]?.attempt ?? 0 <= job.attempt else {
      return .none
    }
    let before = known.updateValue(job, forKey: job.id)
    if job.state == .running {
      meters[job.id, default: RateMeter()].note(job.progress, at: time)
    } else {
      meters[job.id] = nil
    }
    if before?.state != job.state || before?.attempt != job.attempt { return .state }
    return before?.progress == job.progress ? .none : .progress
  }

  /// The jobs by their numbers.
  var jobs: [Job] { known.values.sorted { $0.id < $1.id } }

  /// Those that are still waited for.
  var pending: [Job] { jobs.filter(isPending) }

  /// How many there are to wait for; a named job that wasn't seen yet is one.
  var unfinishedCount: Int {
    switch scope {
    case .jobs(let ids), .attempts(let ids): ids.count { known[$0].map(isPending) ?? true }
    case .all: pending.count
    }
  }

  /// Whether there is nothing more to wait for.
  var isDone: Bool { unfinishedCount == 0 }

  /// Success when every job completed.
  var exitStatus: ExitStatus {
    if case .attempts = scope { return .success }
    return jobs.contains { $0.state == .cancelled || $0.state == .discarded } ? .jobEndedBadly : .success
  }

  private func isPending(_ job: Job) -> Bool {
    switch scope {
    case .jobs: !job.state.isEnded
    // A job for next week, or one that somebody holds, would keep everybody waiting until then.
    case .all: !job.state.isEnded && job.state != .scheduled && (job.isHeld != true || job.state == .running)
    case .attempts: job.state == .running
    }
  }
}
