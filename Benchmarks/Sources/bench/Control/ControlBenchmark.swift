import ArgumentParser
import BenchSupport
import Foundation

/// How soon a daemon answers while it imports the standard load, alone and with standing queries that follow the import.
struct ControlBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "control",
    abstract: "Asks a daemon for its jobs, lanes, numbers and objects while it imports, and measures the answers.",
    discussion: """
      Starts the laded that `make build` made, with a spool and a store of its own, hands it the standard load, and asks \
      it a hundred times a second, each time over a connection of its own, as ladectl does. Writes results/control.json: \
      the 99th percentile while nothing is to be done, during an import, and during an import that standing queries \
      follow; what the main queue let others wait; and what the watching cost the import. Imports that nobody asks about, \
      with and without standing queries, show what the main contexts cost: how busy they keep the main queue and the longest \
      wait for it.
      """)

  @Option(help: "The folder of the benchmarks' package.")
  var benchmarks = "Benchmarks"

  @Option(help: "The daemon.")
  var laded = ".build/release/laded"

  @Option(help: "How many rows are imported.")
  var rows = 1_000_000

  @Option(help: "How many imports of each kind; medians count.")
  var runs = 3

  @Option(help: "How many standing queries follow the import of the second kind.")
  var watchers = 3

  func validate() throws {
    guard runs > 0, rows > 0, watchers > 0 else {
      throw ValidationError("--runs, --rows and --watchers are at least 1.")
    }
  }

  func run() throws {
    let folder = URL(filePath: benchmarks)
    let load = try LoadFile(
      rows: rows, generator: folder.appending(path: "standard-load.awk"), folder: folder.appending(path: "results/load")
    )
    let idle = try round(load, folder, importing: false, watchers: 0)
    var alone: [ControlRound] = []
    var watched: [ControlRound] = []
    for number in 0..<runs {
      for isWatched in number.isMultiple(of: 2) ? [false, true] : [true, false] {
        let measured = try round(load, folder, importing: true, watchers: isWatched ? watchers : 0)
        if isWatched { watched.append(measured) } else { alone.append(measured) }
      }
    }
    var unasked: [ControlRound] = []
    var unaskedWatched: [ControlRound] = []
    for _ in 0..<runs {
      unasked.append(try quiet(load, folder, watchers: 0))
      unaskedWatched.append(try quiet(load, folder, watchers: watchers))
    }
    var table = TextSet(headings: ["", "answers", "p50 ms", "p99 ms", "longest ms", "main queue p99 ms", "import s"])
    table.append(idle.cells("idle"))
    for round in alone { table.append(round.cells("importing")) }
    for round in watched { table.append(round.cells("importing, \(watchers) watching")) }
    say(table)
    var merging = TextSet(
      headings: [
        "", "main queue busy %", "longest wait ms", "saves merged", "merge lag p99 ms", "peak MiB", "import s",
      ])
    for round in unasked { merging.append(round.mergingCells("main contexts")) }
    for round in unaskedWatched { merging.append(round.mergingCells("main contexts, \(watchers) watching")) }
    say("")
    say(merging)
    func median(_ rounds: [ControlRound], _ figure: (ControlRound) -> Double) -> Double {
      rounds.map(figure).median ?? .infinity
    }
    let merged = [("", unasked), (" with \(watchers) standing queries", unaskedWatched)].flatMap { name, rounds in
      [
        BenchResult(
          "main queue busy during the standard load" + name, ours: median(rounds) { $0.busyShare * 100 }, peer: nil,
          unit: "%", goal: .oursAtMost(0.1)),
        BenchResult(
          "longest wait for the main queue" + name, ours: median(rounds) { $0.longestWait }, peer: nil, unit: "ms",
          goal: .oursAtMost(1000.0 / 60)),
      ]
    }
    let results =
      [
        BenchResult(
          "answers, p99 while idle", ours: idle.quantile(0.99), peer: nil, unit: "ms", goal: .oursAtMost(5)),
        BenchResult(
          "answers, p99 during the standard load", ours: median(alone) { $0.quantile(0.99) }, peer: nil, unit: "ms",
          goal: .oursAtMost(5)),
        BenchResult(
          "answers, p99 with \(watchers) standing queries", ours: median(watched) { $0.quantile(0.99) }, peer: nil,
          unit: "ms", goal: .oursAtMost(5)),
        BenchResult(
          "main queue, p99 with \(watchers) standing queries", ours: median(watched) { $0.mainQueue }, peer: nil,
          unit: "ms", goal: .oursAtMost(5)),
        BenchResult(
          "import with \(watchers) standing queries", ours: median(watched) { $0.seconds },
          peer: median(alone) { $0.seconds }, unit: "s", goal: .ratioAtMost(1.5)),
        BenchResult(
          "peak memory with \(watchers) standing queries", ours: median(watched) { $0.peakMiB },
          peer: median(alone) { $0.peakMiB }, unit: "MiB", goal: .ratioAtMost(2)),
      ] + merged
    say("\nmedians of \(runs)\n")
    say(results.table(peer: "alone"))
    let file = folder.appending(path: "results/control.json")
    try results.write(to: file)
    say("\nwritten: \(file.relativePath)")
  }

  private func round(_ load: LoadFile, _ folder: URL, importing: Bool, watchers: Int) throws -> ControlRound {
    try measured(folder, watchers: watchers) { try $0.measure(importing ? load.file : nil) }
  }

  private func quiet(_ load: LoadFile, _ folder: URL, watchers: Int) throws -> ControlRound {
    try measured(folder, watchers: watchers) { try $0.measureUnasked(load.file) }
  }

  private func measured(
    _ folder: URL, watchers: Int, _ body: (MeasuredDaemon) throws -> ControlRound
  ) throws -> ControlRound {
    let daemon = try MeasuredDaemon(
      laded: URL(filePath: laded), folder: folder.appending(path: "results/work/control"),
      model: URL(filePath: "etc/lade/models/Demo.xcdatamodeld"))
    defer { daemon.stop() }
    for _ in 0..<watchers { try daemon.watch("/v1/watch?entity=Person&where=age%20%3D%3D%2030&sort=-id&limit=100") }
    return try body(daemon)
  }
}

/// What one daemon was measured at.
struct ControlRound {
  /// Milliseconds, in order.
  var times: [Double] = []
  /// The 99th percentile of what the main queue let others wait, in milliseconds.
  var mainQueue = 0.0
  /// How long the import took.
  var seconds = 0.0
  var peakMiB = 0.0
  /// The part of the time in which contexts of the main queue worked.
  var busyShare = 0.0
  /// The longest wait for the main queue, in milliseconds.
  var longestWait = 0.0
  /// Saves that the store's main context has merged, and the 99th percentile of their lag, in milliseconds.
  var savesMerged = 0
  var mergeLag = 0.0

  func mergingCells(_ name: String) -> [String] {
    [
      name, String(format: "%.3f", busyShare * 100), String(format: "%.2f", longestWait), "\(savesMerged)",
      String(format: "%.2f", mergeLag), String(format: "%.1f", peakMiB), String(format: "%.2f", seconds),
    ]
  }

  func quantile(_ share: Double) -> Double {
    times.isEmpty ? .infinity : times[min(times.count - 1, Int(Double(times.count) * share))]
  }

  func cells(_ name: String) -> [String] {
    [
      name, "\(times.count)", String(format: "%.2f", quantile(0.5)), String(format: "%.2f", quantile(0.99)),
      String(format: "%.2f", quantile(1)), String(format: "%.2f", mainQueue), String(format: "%.2f", seconds),
    ]
  }
}
