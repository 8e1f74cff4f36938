import ControlAPI
import Foundation
import Jobs
import ServiceLifecycle
import Synchronization

/// What the daemon has done in each minute of the last six hours. Safe from any thread; its memory is bounded.
final class HistoryRing: Sendable {
  private static let minutes = 360
  /// Durations of a minute that percentiles are computed from: of more jobs a random sample.
  private static let samples = 100
  /// Programs may configure any number of lanes.
  private static let mostLanes = 64

  private struct Minute {
    var number = Int.min
    var completed = 0
    var cancelled = 0
    var discarded = 0
    var records: Int64 = 0
    var durations: [Double] = []
    /// How many durations there were.
    var measured = 0
    var waiting: [String: Int] = [:]
  }

  private struct State {
    var minutes = [Minute](repeating: Minute(), count: HistoryRing.minutes)
    var records: Int64 = 0

    subscript(number: Int) -> Minute {
      get {
        let minute = minutes[number % HistoryRing.minutes]
        return minute.number == number ? minute : Minute(number: number)
      }
      set { minutes[number % HistoryRing.minutes] = newValue }
    }

    /// Whether a later minute has the place of this one, by now; not one that is still to come, since a clock was set back.
    func isOver(_ number: Int, at now: Int) -> Bool {
      let kept = minutes[number % HistoryRing.minutes].number
      return kept > number && kept <= now
    }
  }

  private let startedAt: Date
  private let state = Mutex(State())

  init(since startedAt: Date) { self.startedAt = startedAt }

  /// A job has ended.
  func note(_ job: Job, at now: Date = Date()) {
    guard let end = job.endedAt else { return }
    let number = Self.minute(of: end)
    state.withLock { state in
      guard !state.isOver(number, at: Self.minute(of: now)) else { return }
      var minute = state[number]
      switch job.state {
      case .completed:
        minute.completed += 1
        if let start = job.startedAt { Self.add(max(0, end.timeIntervalSince(start)), to: &minute) }
      case .cancelled: minute.cancelled += 1
      case .discarded: minute.discarded += 1
      case .scheduled, .available, .running, .retryable: return
      }
      state[number] = minute
    }
  }

  private static func add(_ duration: Double, to minute: inout Minute) {
    minute.measured += 1
    if minute.durations.count < samples { return minute.durations.append(duration) }
    let place = Int.random(in: 0..<minute.measured)
    if place < samples { minute.durations[place] = duration }
  }

  /// Notes what can be read at any time.
  /// - Parameters:
  ///   - waiting: how many jobs wait in each lane.
  ///   - records: all that jobs have read since the daemon's start.
  func sample(waiting: [String: Int], records: Int64, at now: Date) {
    let number = Self.minute(of: now)
    let kept = waiting.sorted { $0.key < $1.key }.prefix(Self.mostLanes)
    state.withLock { state in
      var minute = state[number]
      minute.waiting = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
      minute.records += max(0, records - state.records)
      state.records = records
      state[number] = minute
    }
  }

  /// The last six hours, or since the daemon's start, in spans of some minutes.
  func history(_ query: HistorySpanQuery, at now: Date) -> History {
    let (last, grain) = (Self.minute(of: now), query.grain)
    // Where the clock was set back since the start, all that is kept.
    let (start, oldest) = (Self.minute(of: startedAt), max(0, last - Self.minutes + 1))
    let first = start <= last ? max(start, oldest) : oldest
    let minutes = state.withLock { state in (first...last).map { state[$0] } }
    let spans = Dictionary(grouping: minutes) { $0.number / grain }.sorted { $0.key < $1.key }
    return History(grain: grain, spans: spans.map { Self.span(of: $0.value, start: $0.key * grain) })
  }

  private static func span(of minutes: [Minute], start: Int) -> History.Span {
    var span = History.Span(start: Date(timeIntervalSince1970: Double(start) * 60))
    for minute in minutes {
      span.completed += minute.completed
      span.cancelled += minute.cancelled
      span.discarded += minute.discarded
      span.records += minute.records
      if !minute.waiting.isEmpty { span.waiting = minute.waiting }
    }
    let durations = minutes.flatMap(\.durations).sorted()
    guard !durations.isEmpty else { return span }
    span.median = durations[(durations.count - 1) / 2]
    span.p95 = durations[min(durations.count - 1, Int((Double(durations.count) * 0.95).rounded(.up)) - 1)]
    return span
  }

  private static func minute(of time: Date) -> Int { Int(max(0, time.timeIntervalSince1970) / 60) }
}

/// Samples what the history shows, every ten seconds, so that what is read belongs to its minute.
struct HistoryService: Service {
  let ring: HistoryRing
  let queue: JobQueue
  let jobs: JobMeter

  func run() async throws {
    await cancelWhenGracefulShutdown {
      repeat {
        // What can't be counted now is counted the next time; the health checks report the queue's store.
        guard let counts = try? await queue.counts() else { continue }
        let waiting = counts.lanes.filter { $0.key != LaneConfiguration.changesName }.mapValues { $0[.available] ?? 0 }
        ring.sample(waiting: waiting, records: jobs.records, at: Date())
      } while (try? await Task.sleep(for: .seconds(10))) != nil
    }
  }
}
