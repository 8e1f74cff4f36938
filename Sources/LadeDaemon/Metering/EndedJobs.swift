import ControlAPI
import Foundation
import Jobs
import Synchronization

/// Counts the jobs that end, second by second for the last quarter of an hour, and how long the latest of each kind took.
final class EndedJobs: Sendable {
  private static let seconds = 900
  /// The number of kinds whose durations are kept. Programs add kinds of their own, and the memory is bounded.
  private static let mostKinds = 64

  private struct Second {
    var time = Int.min
    var completed = 0
    var cancelled = 0
    var discarded = 0
    var records: Int64 = 0
  }

  private struct State {
    var seconds = [Second](repeating: Second(), count: EndedJobs.seconds)
    var durations: [String: LatestSamples] = [:]
  }

  private let startedAt: Date
  private let state = Mutex(State())

  init(since startedAt: Date) { self.startedAt = startedAt }

  /// Notes a job that has ended; one that had ended before this daemon's start isn't counted.
  func note(_ job: Job) {
    guard let end = job.endedAt, end >= startedAt else { return }
    let time = Self.second(of: end)
    state.withLock { state in
      let place = time % Self.seconds
      if state.seconds[place].time < time { state.seconds[place] = Second(time: time) }
      guard state.seconds[place].time == time else { return }
      switch job.state {
      case .completed: state.seconds[place].completed += 1
      case .cancelled: state.seconds[place].cancelled += 1
      case .discarded: state.seconds[place].discarded += 1
      case .scheduled, .available, .running, .retryable: return
      }
      state.seconds[place].records += job.progress.records
      guard job.state == .completed, let start = job.startedAt else { return }
      guard state.durations[job.kind] != nil || state.durations.count < Self.mostKinds else { return }
      state.durations[job.kind, default: LatestSamples(capacity: 1000)].add(max(0, end.timeIntervalSince(start)))
    }
  }

  /// What ended within the last minute, the last five and the last fifteen.
  func rates(at now: Date) -> [Stats.Rate] {
    let time = Self.second(of: now)
    let uptime = max(0, now.timeIntervalSince(startedAt))
    return state.withLock { state in
      [60, 300, Self.seconds].map { length in
        var rate = Stats.Rate(
          seconds: min(Double(length), uptime), completed: 0, cancelled: 0, discarded: 0, records: 0)
        for second in state.seconds where second.time > time - length && second.time <= time {
          rate.completed += second.completed
          rate.cancelled += second.cancelled
          rate.discarded += second.discarded
          rate.records += second.records
        }
        return rate
      }
    }
  }

  var durations: [String: Stats.Spread] { state.withLock { $0.durations.compactMapValues(\.spread) } }

  private static func second(of time: Date) -> Int { Int(max(0, time.timeIntervalSince1970)) }
}
