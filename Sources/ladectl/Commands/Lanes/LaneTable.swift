import ControlAPI

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
          .init(lane.standing, lane.isPaused ? .yellow : nil),
        ]
      })
  }
}

extension Lane {
  /// The concurrency, with the configured one if that differs.
  fileprivate var atOnce: String {
    concurrency == configuration.concurrency ? "\(concurrency)" : "\(concurrency) (not \(configuration.concurrency))"
  }

  /// `paused by anna, 2026-03-01 12:00:05`.
  fileprivate var standing: String {
    guard isPaused else { return "" }
    return "paused" + (pausedBy.map { " by \($0.namingUsers)" } ?? "")
      + (pausedAt.map { ", \(Quantity.time($0))" } ?? "")
  }

  /// The lane as text after a change.
  var sentence: String {
    let running = counts[.running] ?? running.count
    let still = running > 0 ? ", \(Quantity.count(running, "job")) still running" : ""
    return "lane \(name.printable) "
      + (isPaused ? "paused" + still : "runs up to \(Quantity.count(concurrency, "job")) at once")
  }
}

extension RateLimit {
  /// `100 jobs in 60 s`.
  fileprivate var words: String { "\(Quantity.count(jobs, "job")) in \(Quantity.seconds(period))" }
}
