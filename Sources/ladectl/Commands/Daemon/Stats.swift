import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl stats`: prints the daemon's statistics.
  struct StatsCommand: ControlCommand {
    static let configuration = verb(
      "stats", "Show the daemon's statistics: jobs and records per minute, and how long things take.",
      json: .document("Stats"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let stats = try await session.client.stats()
      try session.report(stats) {
        StatsSheet(stats: stats).rendered(width: session.terminal.width, style: session.terminal.style)
      }
    }
  }
}

/// The daemon's statistics as text and tables.
struct StatsSheet: Sendable {
  let stats: Stats

  func rendered(width: Int?, style: Style) -> String {
    var text = style("laded \(stats.version.printable)", .bold)
    text += ", up \(Quantity.duration(stats.uptime)), \(Quantity.count(stats.listeners, "listener"))\n"
    for table in [rates, durations, mainContexts] where !table.rows.isEmpty {
      text += "\n" + table.rendered(width: width, style: style)
    }
    return text
  }

  /// For a daemon that has just started, the last hour equals the last minute; print it once.
  private var rates: TextTable {
    let rates = stats.rates.enumerated().filter { index, rate in
      index == 0 || Quantity.duration(rate.seconds) != Quantity.duration(stats.rates[index - 1].seconds)
    }.map(\.element)
    return TextTable(
      columns: [
        .init("THE LAST"), .init("COMPLETED", .right), .init("CANCELLED", .right), .init("DISCARDED", .right),
        .init("RECORDS", .right), .init("RECORDS/S", .right),
      ],
      rows: rates.map { rate in
        [
          .init(Quantity.duration(rate.seconds)), .init(Quantity.count(rate.completed)),
          .init(Quantity.count(rate.cancelled)), .init(Quantity.count(rate.discarded), rate.discarded > 0 ? .red : nil),
          .init(Quantity.count(rate.records)),
          .init(rate.seconds > 0 ? Quantity.count(Int(Double(rate.records) / rate.seconds)) : ""),
        ]
      })
  }

  private var mainContexts: TextTable {
    TextTable(mainContexts: stats.mainContexts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  private var durations: TextTable {
    var spreads = stats.durations.sorted { $0.key < $1.key }.map { ("job: \($0.key)", $0.value) }
    if let requests = stats.requests { spreads.append(("request", requests)) }
    if let mainQueue = stats.mainQueue { spreads.append(("main queue", mainQueue)) }
    return TextTable(
      columns: [
        .init("TAKES"), .init("COUNT", .right), .init("MEDIAN", .right), .init("P99", .right), .init("LONGEST", .right),
      ],
      rows: spreads.map { name, spread in
        [
          .init(name), .init(Quantity.count(spread.count)), .init(Quantity.span(spread.median)),
          .init(Quantity.span(spread.p99)), .init(Quantity.span(spread.longest)),
        ]
      })
  }
}

extension TextTable {
  /// How the main contexts of stores keep up with what is saved.
  init(mainContexts: [(store: String, status: MainContextStatus)]) {
    self.init(
      columns: [
        .init("MAIN CONTEXT OF"), .init("SAVES MERGED", .right), .init("LAG P50", .right), .init("LAG P99", .right),
        .init("OBJECTS", .right),
      ],
      rows: mainContexts.map { store, status in
        [
          .init(store), .init(Quantity.count(status.savesMerged)),
          .init(status.lag.map { Quantity.span($0.median) } ?? ""),
          .init(status.lag.map { Quantity.span($0.p99) } ?? ""),
          .init(Quantity.count(status.registeredObjects)),
        ]
      })
  }
}
