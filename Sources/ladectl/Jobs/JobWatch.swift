import ControlAPI

/// The jobs that `wait` waits for, and their states. Independent of daemon and terminal.
struct JobWatch: Sendable {
  enum Scope: Sendable, Hashable {
    /// Only these.
    case jobs([Int64])
    /// All unfinished jobs that aren't scheduled for later, and jobs that arrive while they run.
    case all
    /// These, until no attempt runs any more, whatever the result.
    case attempts([Int64])
  }

  /// The effect of a report.
  enum Change: Sendable, Hashable {
    /// Nothing changed, or the job isn't waited for.
    case none
    /// The job's progress changed.
    case progress
    /// The job's state changed, or it is new.
    case state
  }

  let scope: Scope
  private var known: [Int64: Job] = [:]
  private(set) var meters: [Int64: RateMeter] = [:]

  init(_ scope: Scope) {
    self.scope = scope
  }

  /// Adds a job's current state.
  /// - Parameter time: seconds since any fixed moment.
  mutating func note(_ job: Job, at time: Double) -> Change {
    switch scope {
    case .jobs(let ids), .attempts(let ids): guard ids.contains(job.id) else { return .none }
    case .all: guard known[job.id] != nil || isPending(job) else { return .none }
    }
    // An event from before the request may arrive after its answer.
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

  /// The jobs by number.
  var jobs: [Job] { known.values.sorted { $0.id < $1.id } }

  /// The jobs still waited for.
  var pending: [Job] { jobs.filter(isPending) }

  /// The number of jobs to wait for, including named ones not seen yet.
  var unfinishedCount: Int {
    switch scope {
    case .jobs(let ids), .attempts(let ids): ids.count { known[$0].map(isPending) ?? true }
    case .all: pending.count
    }
  }

  /// Whether there is nothing left to wait for.
  var isDone: Bool { unfinishedCount == 0 }

  /// Success if every job completed and imported all records.
  var exitStatus: ExitStatus {
    if case .attempts = scope { return .success }
    if jobs.contains(where: { $0.state == .cancelled || $0.state == .discarded }) { return .jobEndedBadly }
    return jobs.contains(where: \.hasRejects) ? .completedWithRejects : .success
  }

  private func isPending(_ job: Job) -> Bool {
    switch scope {
    case .jobs: !job.state.isEnded
    // A job scheduled for next week, or one on hold, would block the wait until then.
    case .all: !job.state.isEnded && job.state != .scheduled && (!job.isHeld || job.state == .running)
    case .attempts: job.state == .running
    }
  }
}
