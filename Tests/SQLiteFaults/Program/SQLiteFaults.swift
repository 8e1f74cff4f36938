import ArgumentParser
import CSQLiteFaults
import Foundation
import Glibc

/// Lets calls of SQLite fail, one after the other, and looks at what becomes of the store and of what was to be done.
///
/// It is a program because some failures end the process: each trial is a copy of it. Until it makes copies, it has one thread and
/// has used neither SQLite nor a queue.
@main
struct SQLiteFaults: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sqlitefaults", abstract: "Lets every Nth call of SQLite fail, once and for good.")

  @Argument(help: "The works, such as import-upsert; all if none is given.")
  var works: [String] = []
  @Flag(help: "List the works.")
  var list = false
  @Option(help: "How many calls of each kind fail, spread evenly; all if it isn't given.")
  var sample: Int?
  @Option(help: "How many allocations fail, spread evenly; by default as many as of other calls.")
  var memory: Int?
  @Option(help: "Only calls of the kinds whose names begin so, such as write.")
  var call: String?
  @Option(help: "Only the call of this number.")
  var number: Int?
  @Flag(help: "Print what each call's failure came to.")
  var verbose = false

  func run() throws {
    if list { return print(Works.all.map(\.name).joined(separator: "\n")) }
    try withoutBacktraces()
    guard lade_faults_install() == 0 else { throw ValidationError("SQLite's calls can't be replaced") }
    let chosen = try works.isEmpty ? Works.all : works.map(named)
    var hasFailed = false
    for work in chosen {
      if try !run(work) { hasFailed = true }
    }
    if hasFailed { throw ExitCode.failure }
  }

  private func named(_ name: String) throws -> any Work {
    guard let work = Works.all.first(where: { $0.name == name }) else {
      throw ValidationError("there is no work \(name)")
    }
    return work
  }

  /// Swift writes a backtrace for each process that ends by a precondition, which takes seconds.
  private func withoutBacktraces() throws {
    guard getenv("SWIFT_BACKTRACE") == nil else { return }
    setenv("SWIFT_BACKTRACE", "enable=no", 1)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    throw POSIXError(.init(rawValue: errno) ?? .ENOEXEC)
  }

  /// - Returns: whether everything was as it has to be.
  private func run(_ work: any Work) throws -> Bool {
    let begin = Date()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lade-faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { removeFolder(folder) }
    let trial = try Trial(work, in: folder)
    var (runs, hits, ended, failed) = (0, 0, 0, 0)
    for fault in faults(trial.expected.counts) {
      let verdict = try trial.run(fault)
      runs += 1
      if verdict.wasHit { hits += 1 }
      if verdict.end != nil { ended += 1 }
      if !verdict.problems.isEmpty { failed += 1 }
      for problem in verdict.problems { print("\(work.name): \(fault): \(problem)") }
      // A time limit may end the run, and what was found is not to be lost.
      if !verdict.problems.isEmpty { fflush(nil) }
      if verbose { print("\(work.name): \(fault): \(verdict.wasHit ? "hit" : "not hit") \(verdict.end ?? "")") }
    }
    let calls = trial.expected.counts.values.reduce(0, +)
    let seconds = String(format: "%.1f", Date().timeIntervalSince(begin))
    print(
      "\(work.name): \(calls) calls of \(trial.expected.counts.values.filter { $0 > 0 }.count) kinds; \(runs) trials, "
        + "\(hits) calls failed, \(ended) processes ended, \(failed) were wrong; \(seconds) s")
    // Who waits for it reads along.
    fflush(nil)
    return failed == 0
  }

  private func removeFolder(_ folder: URL) {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      print("\(folder.path) is left: \(error)")
    }
  }

  private func faults(_ counts: [String: Int]) -> [Fault] {
    let faults = Fault.Call.all.filter { call in self.call.map { call.description.hasPrefix($0) } ?? true }.flatMap {
      call in
      let limit = call == Fault.Call.memory ? memory ?? sample : sample
      return numbers(upTo: counts["\(call)"] ?? 0, limit).flatMap { number in
        [false, true].map { Fault(call: call, number: number, isLasting: $0) }
      }
    }
    // In random order, so that a run cut short by a time limit is a sample.
    return sample == nil ? faults.shuffled() : faults
  }

  /// The numbers from 1, or some of them, with the first and the last.
  private func numbers(upTo count: Int, _ limit: Int?) -> [Int] {
    if let number { return number <= count ? [number] : [] }
    guard let limit, limit < count else { return count > 0 ? Array(1...count) : [] }
    guard limit > 1 else { return [count] }
    return (0..<limit).map { 1 + $0 * (count - 1) / (limit - 1) }
  }
}
