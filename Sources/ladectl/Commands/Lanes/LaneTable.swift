import ControlAPI
import FoundationEssentials

extension LaneList {
  /// The lanes as `ladectl lane list` prints them.
  var table: TextTable {
    TextTable(
      columns: [
        .init("LANE"), .init("AT ONCE", .right), .init("RUNNING", .right), .init("AVAILABLE", .right),
        .init("SCHEDULED", .right), .init("RETRYABLE", .right), .init("RATE"), .init("STATE"),
      ],
      rows: lanes.map { lane in
        func count(_ state: JobState) -> TextTable.Cell { .init(Quantity.count(lane.counts[state] ?? 0)) }
        return [
          .init(lane.name), .init(lane.atOnce), count(.running), count(.available), count(.scheduled),
          count(.retryable), .init(lane.configuration.rate.map(\.words) ?? ""),
          .init(lane.standing, .yellow),
        ]
      })
  }
}

extension Lane {
  /// The concurrency, with the configured one if that differs.
  fileprivate var atOnce: String {
    concurrency == configuration.concurrency ? "\(concurrency)" : "\(concurrency) (not \(configuration.concurrency))"
  }

  /// What keeps its jobs from starting; empty where they start.
  fileprivate var standing: String {
    if isPaused { return LaneStanding.paused(by: pausedBy, at: pausedAt) }
    return nextStart.map(LaneStanding.limited) ?? ""
  }

  /// The lane as text after a change.
  var sentence: String {
    let running = counts[.running] ?? running.count
    let still = running > 0 ? ", \(Quantity.count(running, "job")) still running" : ""
    return "lane \(name.printable) "
      + (isPaused ? "paused" + still : "runs up to \(Quantity.count(concurrency, "job")) at once")
  }
}

/// What keeps the jobs of a lane from starting, in words.
enum LaneStanding {
  /// `paused by anna, 2026-03-01 12:00:05`.
  static func paused(by user: String?, at time: Date?) -> String {
    "paused" + (user.map { " by \($0.namingUsers)" } ?? "") + (time.map { ", \(Quantity.time($0))" } ?? "")
  }

  /// `rate limit until 2026-03-01 12:00:05`.
  static func limited(until time: Date) -> String { "rate limit until \(Quantity.time(time))" }
}

extension LaneList {
  /// `Paused lanes: import.`; nil where all lanes start jobs.
  var headLine: String? {
    func line(_ what: String, _ lanes: [Lane]) -> String? {
      lanes.isEmpty ? nil : "\(what): \(lanes.map(\.name.printable).joined(separator: ", "))"
    }
    let parts = [
      line("lanes paused", lanes.filter(\.isPaused)),
      line("lanes at their rate limit", lanes.filter { !$0.isPaused && $0.nextStart != nil }),
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }
}

extension RateLimit {
  /// `100 jobs in 60 s`.
  fileprivate var words: String { "\(Quantity.count(jobs, "job")) in \(Quantity.seconds(period))" }
}
