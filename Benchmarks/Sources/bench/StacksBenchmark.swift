import ArgumentParser
import BenchSupport
import Foundation

/// The three stacks against each other, each as a process of its own, in turns; medians count.
struct StacksBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stacks",
    abstract: "Imports the same objects on each of the three stacks, and measures the load of the main queue.",
    discussion: """
      Writes results/stacks.json: of each stack the total, how long the main queue's thread was busy, and the longest \
      time that it kept a probe waiting. The peer is the independent stack. Ends with another status than 0 if a stack \
      didn't store every object. A goal that isn't met doesn't change the status.
      """)

  static let stacks = ["independent", "mainWithChildren", "privateWriter"]

  @Option(help: "The folder of the benchmarks' package.")
  var benchmarks = "Benchmarks"

  @Option(help: "How many objects, each number once.")
  var counts = [15_000, 500_000]

  @Option(help: "How many runs of each.")
  var runs = 3

  func validate() throws {
    guard runs > 0, counts.allSatisfy({ $0 > 0 }) else { throw ValidationError("--runs and --counts are at least 1.") }
  }

  func run() throws {
    var results: [BenchResult] = []
    var table = TextSet(headings: ["objects", "saves", "stack", "total s", "busy s", "busy %", "stall ms"])
    for count in counts {
      for every in [500, 0] {
        var timings: [String: [Timings]] = [:]
        for round in 0..<runs {
          for stack in round.isMultiple(of: 2) ? Self.stacks : Self.stacks.reversed() {
            timings[stack, default: []].append(try measure(stack, count, every))
          }
        }
        func median(_ stack: String, _ name: String) -> Double {
          (timings[stack] ?? []).compactMap { $0.values[name] }.median ?? .infinity
        }
        let what = "\(figure(Double(count))) objects, " + (every == 0 ? "one save" : "saved every \(every)")
        for stack in Self.stacks {
          let (total, busy) = (median(stack, "total"), median(stack, "busy"))
          let stall = median(stack, "stall") * 1000
          table.append([
            figure(Double(count)), every == 0 ? "one" : "every \(every)", stack, String(format: "%.3f", total),
            String(format: "%.4f", busy), String(format: "%.2f", busy / total * 100), String(format: "%.1f", stall),
          ])
          if stack == Self.stacks[0] {
            results.append(
              BenchResult(
                "main queue busy, \(what)", ours: busy / total * 100, peer: nil, unit: "%", goal: .oursAtMost(0.1)))
            results.append(
              BenchResult("longest stall, \(what)", ours: stall, peer: nil, unit: "ms", goal: .oursAtMost(1000.0 / 60)))
          } else {
            results.append(
              BenchResult(
                "\(stack), \(what)", ours: total, peer: median(Self.stacks[0], "total"), unit: "s",
                goal: .ratioAtMost(1.15)))
          }
        }
      }
    }
    say("\nmedians of \(runs)\n")
    say(table)
    say("")
    say(results.table(peer: "independent"))
    let file = URL(filePath: benchmarks).appending(path: "results/stacks.json")
    try results.write(to: file)
    say("\nwritten: \(file.relativePath)")
  }

  private func measure(_ stack: String, _ count: Int, _ every: Int) throws -> Timings {
    let folder = URL(filePath: benchmarks).appending(path: "results/work/stacks")
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = MeasuredProgram(
      programBeside("lade-stacks").path, [stack, "\(count)", "\(every)", folder.appending(path: "s.sqlite").path])
    let timings = try Timings(printed: program.run().output)
    try FileManager.default.removeItem(at: folder)
    for stored in ["stored", "stored, probed"] where timings.sums[stored] != Int64(count) {
      throw WrongContents(who: stack, expected: "\(count)", found: "\(timings.sums[stored] ?? -1)")
    }
    return timings
  }
}
