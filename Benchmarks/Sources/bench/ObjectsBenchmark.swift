import ArgumentParser
import BenchSupport
import Foundation

/// Objects against GRDB's records, on the same file, in turns, each side as a process of its own; medians count.
struct ObjectsBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "objects",
    abstract: "Fetches and inserts objects, against GRDB's records on the same file; costs of the object layer alone.",
    discussion: """
      Writes results/objects.json. Ends with another status than 0 if the two sides didn't read the same. A goal that \
      isn't met doesn't change the status.
      """)

  @Option(help: "The folder of the benchmarks' package.")
  var benchmarks = "Benchmarks"

  @Option(help: "How many rows are fetched.")
  var rows = 200_000

  @Option(help: "How many runs of each.")
  var runs = 5

  func validate() throws {
    guard rows > 0, runs > 0 else { throw ValidationError("--rows and --runs are at least 1.") }
  }

  func run() throws {
    let folder = URL(filePath: benchmarks).appending(path: "results/work/objects")
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "items.sqlite").path
    let ours = programBeside("lade-objects").path
    let empty = folder.appending(path: "empty.sqlite")
    _ = try MeasuredProgram(ours, ["prepare", file, "\(rows)"]).run()
    _ = try MeasuredProgram(ours, ["prepare", empty.path, "0"]).run()
    var sides: [[Timings]] = [[], []]
    for round in 0..<runs {
      for side in round.isMultiple(of: 2) ? [1, 0] : [0, 1] {
        let work = folder.appending(path: "run")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: empty, to: work.appending(path: "items.sqlite"))
        let program =
          side == 0
          ? MeasuredProgram(ours, ["measure", file, work.path])
          : MeasuredProgram(programBeside("grdb-objects").path, [file, work.path])
        sides[side].append(try Timings(printed: program.run().output))
        try FileManager.default.removeItem(at: work)
      }
    }
    try FileManager.default.removeItem(at: folder)

    func median(_ side: Int, _ name: String) -> Double? { sides[side].compactMap { $0.values[name] }.median }
    var results: [BenchResult] = []
    for name in ["fetch", "fetch by key path, sorted", "fetch by index", "insert"] {
      guard let mine = sides[0][0].sums[name], mine == sides[1][0].sums[name] else {
        throw WrongContents(
          who: name, expected: "\(sides[1][0].sums[name] ?? -1)", found: "\(sides[0][0].sums[name] ?? -1)")
      }
      let milliseconds = (0..<2).map { (median($0, name) ?? 0) * 1000 }
      results.append(
        BenchResult(name, ours: milliseconds[0], peer: milliseconds[1], unit: "ms", goal: .ratioAtMost(1)))
    }
    for (name, goal) in [("property read, ns", 10.0), ("property write, ns", 20.0)] {
      results.append(
        BenchResult(
          String(name.dropLast(4)), ours: median(0, name) ?? .infinity, peer: nil, unit: "ns",
          goal: .oursAtMost(goal)))
    }
    say("\n\(figure(Double(rows))) rows of 10 integers, medians of \(runs)\n")
    say(results.table(peer: "GRDB 7.10.0"))
    say("\nwithout a peer or a goal:")
    for name in sides[0][0].values.keys.sorted() where sides[1][0].values[name] == nil && !name.hasPrefix("property") {
      let value = median(0, name) ?? 0
      say("  \(name): " + (name.hasSuffix("ns") ? figure(value) : figure(value * 1000) + " ms"))
    }
    let written = URL(filePath: benchmarks).appending(path: "results/objects.json")
    try results.write(to: written)
    say("\nwritten: \(written.relativePath)")
  }
}
