import Foundation

/// The schedules of the configuration, and when each is next looked at. A value, kept by ``ScheduleRunner``.
struct DueSchedules: Sendable {
  /// In the configuration's order.
  private(set) var schedules: [JobSchedule]
  private var byName: [String: ScheduleDue] = [:]

  init(_ schedules: [JobSchedule]) { self.schedules = schedules }

  subscript(name: String) -> ScheduleDue? { byName[name] }

  /// When a schedule elapses next, if that is known.
  func nextElapse(of name: String) -> ScheduledElapse? { byName[name].flatMap { $0 == .now ? nil : $0.next } }

  /// Has the next wake-up look at each schedule.
  mutating func begin() {
    byName = Dictionary(schedules.filter(\.isEnabled).map { ($0.name, ScheduleDue.now) }) { first, _ in first }
  }

  /// A schedule was looked at.
  mutating func note(_ due: ScheduleDue, of name: String) { byName[name] = due }

  /// Has the next wake-up look at a schedule.
  mutating func look(at name: String) {
    if byName[name] != nil { byName[name] = .now }
  }

  /// The configuration has changed: the next wake-up looks at schedules that are new or different.
  mutating func replace(by new: [JobSchedule]) {
    let before = Dictionary(schedules.map { ($0.name, $0) }) { first, _ in first }
    let known = byName
    schedules = new
    byName = [:]
    for schedule in new where schedule.isEnabled {
      let isSame =
        before[schedule.name]?.signature == schedule.signature && before[schedule.name]?.jitter == schedule.jitter
      byName[schedule.name] = isSame ? known[schedule.name] ?? .now : .now
    }
  }
}

/// How far a schedule has come. Times are in microseconds from the start of 1970.
struct ScheduleDue: Sendable, Equatable {
  /// The next wake-up looks at the schedule.
  static let now = ScheduleDue(handled: .min, next: ScheduledElapse(time: .min, due: .min))

  /// Elapses up to then are handled.
  var handled: Int64
  /// The next elapse; nil if there is none.
  var next: ScheduledElapse?

  /// Whether something is due, or the clock was set back so far that the store has to be asked again.
  func isToBeLookedAt(at now: Int64) -> Bool {
    if let next, next.due <= now { return true }
    return handled > now && handled - now > Int64(JobLedger.largestSetBack * 1_000_000)
  }
}

/// The outcome of an elapse.
enum ScheduleOutcome: Sendable, Equatable {
  /// A job was made, at its time.
  case made
  /// A job was made for times that were missed: their number, or more than `MissedTimes.most`.
  case caughtUp(MissedTimes)
  /// The job for this time was made before, by a clock that has been set back since.
  case madeBefore
  /// The run was missed and isn't caught up.
  case skipped(MissedTimes)
  /// The job before hasn't ended.
  case leftOut(job: Int64, state: String)
  /// Somebody has paused the schedule.
  case paused(by: String)
  /// The clock was set back beyond what is a correction.
  case clockSetBack(from: Date)

  /// Whether it made a job.
  var isNewJob: Bool {
    switch self {
    case .made, .caughtUp: true
    case .madeBefore, .skipped, .leftOut, .paused, .clockSetBack: false
    }
  }

  /// Whether nothing else was to be expected.
  var isUsual: Bool {
    switch self {
    case .made, .paused: true
    case .caughtUp, .madeBefore, .skipped, .leftOut, .clockSetBack: false
    }
  }
}

/// Times of a schedule that passed without being handled.
struct MissedTimes: Sendable, Equatable {
  /// The most that are counted: a schedule of every second may have millions.
  static let most = 1000

  /// From 1 on; one more than `most` stands for any number above.
  var count: Int
  /// How late the last of them was.
  var seconds: Int
}
