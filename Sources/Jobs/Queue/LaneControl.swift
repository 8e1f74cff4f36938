import Foundation

/// What governs how many jobs of a lane begin. A value, kept by the queue.
struct LaneControl {
  /// What was set while the daemon ran.
  struct Setting: Sendable, Equatable {
    var isPaused = false
    var pausedBy: String?
    var pausedAt: Date?
    /// nil for that of the configuration.
    var concurrency: Int?
  }

  var configuration: LaneConfiguration
  var setting = Setting()
  /// When its latest jobs began, oldest first; only of a lane with a rate, and no more than that lets begin.
  var starts: [Date] = []

  init(_ configuration: LaneConfiguration) { self.configuration = configuration }

  /// How many of its jobs run at a time, at most.
  var concurrency: Int { setting.concurrency ?? configuration.concurrency }

  /// How many of its jobs may begin now, when `running` do.
  func slots(running: Int, at time: Date) -> Int {
    guard !setting.isPaused else { return 0 }
    let free = max(0, concurrency - running)
    guard let rate = configuration.rate else { return free }
    return min(free, rate.jobs - starts.count { $0 > time.addingTimeInterval(-rate.period) })
  }

  /// When the rate lets the next begin; nil if it lets one begin now.
  func nextStart(at time: Date) -> Date? {
    guard let rate = configuration.rate else { return nil }
    let recent = starts.filter { $0 > time.addingTimeInterval(-rate.period) }
    guard recent.count >= rate.jobs else { return nil }
    return recent[recent.count - rate.jobs].addingTimeInterval(rate.period)
  }

  /// A job has begun.
  mutating func note(start time: Date) {
    guard let rate = configuration.rate else { return }
    starts.append(time)
    if starts.count > rate.jobs { starts.removeFirst(starts.count - rate.jobs) }
  }
}
