import ArgumentParser
import BenchSupport
import Foundation

/// Durable jobs that do nothing, ours and its peers' in turns, each in folders of their own on the same disk; medians
/// count. Then what is ours alone: how soon a job begins, and what a queue costs that is long, or has nothing to do.
struct QueueBenchmark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queue",
    abstract: "Runs jobs that do nothing, against beanstalkd and SqliteHuey with fsync, and raw SQLite.",
    discussion: """
      Writes results/queue.json if it measured everything, and ends with another status than 0 if a side didn't end as \
      many jobs as it was given. A goal that isn't met doesn't change the status.

      What is measured, by the names for --only:

        throughput: jobs handed in and ended, by the socket and by the spool
        memory: the same in memory (/dev/shm), where a sync costs nothing and the processor decides
        latency: from the rename of a ticket to the beginning of its job, the daemon having nothing to do
        restart: from the start of a daemon that was killed to the beginning of the job that it ran
        claim: jobs from a queue of 1,000,000, against one of 100
        idle: how often a daemon that has nothing to do wakes up
      """)

  enum Part: String, CaseIterable, ExpressibleByArgument {
    case throughput, memory, latency, restart, claim, idle
  }

  @Option(help: "The folder of the benchmarks' package.")
  var benchmarks = "Benchmarks"

  @Option(help: "How many jobs; may be given more than once. Default: 5,000 and 100,000.")
  var jobs: [Int] = []

  @Option(help: "How many runs of each.")
  var runs = 3

  @Option(help: "How many jobs wait in the long queue.")
  var queued = 1_000_000

  @Option(help: "Measure this alone, of the list above; may be given more than once. Nothing is written to results/.")
  var only: [Part] = []

  func validate() throws {
    guard runs > 0, queued > 0, jobs.allSatisfy({ $0 > 0 }) else {
      throw ValidationError("--runs, --jobs and --queued are at least 1.")
    }
    guard FileManager.default.fileExists(atPath: model) else {
      throw ValidationError("\(model) isn't there: run from the repository's top, or say --benchmarks.")
    }
  }

  /// A store is needed that nothing is done with.
  private var model: String {
    URL(filePath: benchmarks).appending(path: "../etc/lade/models/Demo.xcdatamodeld").standardizedFileURL.path
  }

  private func inMemory() throws -> [BenchResult] {
    let memory = try QueueBench(
      benchmarks: URL(filePath: benchmarks).absoluteURL, model: model, runs: runs, in: URL(filePath: "/dev/shm"))
    defer { memory.tidy() }
    return try memory.throughput(jobs: jobs.isEmpty ? [5000] : jobs, place: " in memory")
  }

  func run() throws {
    let bench = try QueueBench(benchmarks: URL(filePath: benchmarks).absoluteURL, model: model, runs: runs)
    defer { bench.tidy() }
    var results: [BenchResult] = []
    for part in Part.allCases where only.isEmpty || only.contains(part) {
      say(part.rawValue)
      switch part {
      case .throughput: results += try bench.throughput(jobs: jobs.isEmpty ? [5000, 100_000] : jobs)
      case .memory: results += try inMemory()
      case .latency: results += try bench.latency()
      case .restart: results.append(try bench.restart())
      case .claim: results.append(try bench.claim(queued: queued))
      case .idle: results.append(try bench.idle())
      }
    }
    say("\nmedians of \(runs)\n")
    say(results.table(peer: "peer"))
    guard only.isEmpty, jobs.isEmpty else { return }
    let file = URL(filePath: benchmarks).appending(path: "results/queue.json")
    try results.write(to: file)
    say("\nwritten: \(file.relativePath)")
  }
}
