import ControlAPI
import Foundation
import TestSupport
import Testing

/// Each system call of a daemon on its files, connections and events fails: once, several times, after half of its work; or the
/// process is killed before it, in it or after it. Whatever happens, what is left in the end is what one undisturbed run
/// leaves: rules 3 to 7 and 10 (ARCHITECTURE.md).
///
/// A sample of the calls and ways fails, the same each time. ``FaultSample`` has its size and its seed.
@Suite("A daemon of which one system call fails", .startsDaemons)
struct EveryCallTests {
  private static let parts = 3
  /// What a daemon may end with that can't go on, or can't start: an error while it works, and one that may pass.
  private static let statuses: Set<Int32> = [70, 74]

  @Test(
    "leaves the rows, rejects, exports and backups of one run, once it has been started again", arguments: 0..<parts)
  func everyCall(_ part: Int) async throws {
    let scenario = try FaultScenario()
    let shim = try FaultShim(in: scenario.folder, watch: scenario.watch)
    let (jobs, _) = try await run(scenario, shim.environment)
    let expected = try await scenario.result(#require(jobs))
    let faults = Self.faults(try shim.calls(), in: scenario.folder.path)
    var (hits, tally) = (0, FaultSample.Tally("calls failed"))
    for (number, fault) in faults.enumerated() where number % Self.parts == part {
      guard try await check(fault, expected) else { continue }
      hits += 1
      tally.add()
    }
    tally.tell()
    print("every call: LADE_FAULT_SEED=\(FaultSample.seed), part \(part): \(hits) of \(faults.count / Self.parts) met")
    #expect(hits > 0)
  }

  /// - Parameter calls: how often there is each; the folder in their paths is left out of the faults' names.
  private static func faults(_ calls: [String: Int64], in folder: String) -> [FaultShim.Fault] {
    // The numbers of sockets differ from run to run.
    var counts: [String: Int64] = [:]
    // What SQLite reads fails in its own tests (`make faults-sqlite`). Nothing else calls it so.
    for (call, count) in calls where !call.hasPrefix("pread64 ") {
      let name = call.replacingOccurrences(of: folder, with: "").replacing(/socket:\[[0-9]*\]/, with: "socket:")
      counts[name, default: 0] += count
    }
    var all: [FaultShim.Fault] = []
    for (call, count) in counts.sorted(by: { $0.key < $1.key }) {
      let isWrite = call.contains("write") || call.hasPrefix("send")
      var random = generator(for: call)
      for number in FaultSample.isLarge ? Array(1...count) : [Int64.random(in: 1...count, using: &random)] {
        for verb in FaultShim.Verb.allCases where isWrite || verb != .short && verb != .torn {
          all.append(FaultShim.Fault(call: call, number: number, verb: verb))
        }
        all.append(FaultShim.Fault(call: call, number: number, verb: .error, more: 5))
      }
    }
    // By its name, each has its place among the others, however many calls there are in a run.
    let places = all.map { fault in
      let number = FaultSample.isLarge ? " \(fault.number)" : ""
      var random = generator(for: "\(fault.call) \(fault.verb) \(fault.more)\(number)")
      return (place: random.next(), fault: fault)
    }
    return places.sorted { $0.place < $1.place }.prefix(FaultSample.size(60) ?? places.count).map(\.fault)
  }

  /// The same numbers for the same name and seed.
  private static func generator(for name: String) -> SeededGenerator {
    SeededGenerator(seed: name.utf8.reduce(FaultSample.seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 })
  }

  /// - Returns: whether the call was met.
  private func check(_ fault: FaultShim.Fault, _ expected: [String: String]) async throws -> Bool {
    let scenario = try FaultScenario()
    let words = fault.call.split(separator: " ")
    let path = words[1].hasPrefix("/") ? scenario.folder.path + words[1] : String(words[1])
    let shim = try FaultShim(in: scenario.folder, watch: [words[0] + " " + path + (path.hasPrefix("/") ? "$" : "")])
    try shim.arm(fault)
    let (done, ending) = try await run(scenario, shim.environment)
    let isHit = try shim.hits() > 0
    switch ending {
    case .exit(0): #expect(done != nil && (!isHit || [.error, .short].contains(fault.verb)), "\(fault)")
    case .exit(let status): #expect(Self.statuses.contains(status), "\(fault)")
    case .signal(let signal):
      #expect(signal == SIGKILL && ![.error, .short].contains(fault.verb), "\(fault)")
    }
    // What it reports is what there is, also after it has gone on: that is what the next one begins with.
    let (jobs, second) = try await run(scenario, [:])
    guard let jobs, second == .exit(0) else {
      Issue.record("the next daemon ended with \(second) after \(fault)")
      return isHit
    }
    FaultScenario.compare(try await scenario.result(jobs), with: expected, "\(fault)")
    return isHit
  }

  /// Runs a daemon until all is done, or it has ended.
  private func run(
    _ scenario: FaultScenario, _ environment: [String: String]
  ) async throws -> ([Job]?, ChildProcess.Ending) {
    let daemon = try scenario.folder.launch(environment)
    var jobs: [Job]?
    if try await daemon.started.value() == .ready {
      jobs = try await scenario.finish(daemon)
      daemon.terminate()
    }
    let ending = try await daemon.ended()
    return (jobs, ending)
  }
}
