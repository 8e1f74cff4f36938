// A trial of one fault has two processes:
//   1. the first does the work with the fault. If the call fails once, it goes on afterwards, as a daemon does;
//   2. the second finds what the first has left, however it ended: whole stores, everything that was said to be done, and
//      after another try exactly what one run leaves.
// Each writes what it has found to a file, because neither shares memory with this one.

import Foundation
import Glibc

/// The trials of one work, in a folder of its own.
struct Trial {
  /// What a process has found.
  struct Findings: Codable {
    var problems: [String] = []
    /// Whether a call has failed.
    var wasHit = false
    /// What the work said when it was done; nil when it wasn't.
    var result: String?
    var contents: [String] = []
    /// How many calls there were, by their kinds' names.
    var counts: [String: Int] = [:]
  }

  /// What came of one fault.
  struct Verdict {
    var problems: [String] = []
    var wasHit = false
    /// The signal by which the process ended, and its last words.
    var end: String?
  }

  let work: any Work
  private let folder: URL
  /// What one run without a fault leaves.
  let expected: Findings

  private var base: URL { folder.appendingPathComponent("base") }

  /// Prepares the work, and does it once.
  init(_ work: any Work, in folder: URL) throws {
    self.work = work
    self.folder = folder
    let base = folder.appendingPathComponent("base")
    try FileManager.default.createDirectory(at: base, withIntermediateDirectories: true)
    _ = try Self.process("prepare", in: folder) { findings in try work.prepare(base) }
    let place = folder.appendingPathComponent("once")
    expected = try Self.process("once", in: folder) { findings in
      try Self.copy(base, to: place)
      Fault.count()
      let session = try work.begin(place)
      findings.result = try session.work()
      try session.close()
      Fault.disarm()
      for call in Fault.Call.all { findings.counts["\(call)"] = call.count }
      let contents = StoreContents(folder: place)
      findings.problems = try contents.damage()
      findings.contents = try work.contents(place)
      try FileManager.default.removeItem(at: place)
    }.findings
    guard expected.problems.isEmpty else { throw Unprepared(problems: expected.problems) }
  }

  struct Unprepared: Error { let problems: [String] }

  /// What comes of one fault.
  func run(_ fault: Fault) throws -> Verdict {
    let place = folder.appendingPathComponent("trial")
    var verdict = Verdict()
    let first = try Self.process("fault", in: folder) { findings in
      try Self.copy(base, to: place)
      Self.meet(fault, work, place, &findings)
    }
    verdict.problems = first.findings.problems
    verdict.wasHit = first.findings.wasHit
    if case .signal(let signal, let words) = first.end {
      verdict.wasHit = true
      verdict.end = "signal \(signal): \(words)"
      // Where GRDB or Swift can't go on without memory, the process ends, and the next one finds a whole store.
      if fault.call != Fault.Call.memory || signal == SIGALRM {
        verdict.problems.append("the process ended by signal \(signal): \(words)")
      }
    }
    let second = try Self.process("after", in: folder) { [expected] findings in
      try Self.lookAfter(first.findings.result, expected, work, place, &findings)
    }
    verdict.problems += second.findings.problems.map { "afterwards: " + $0 }
    if case .signal(let signal, let words) = second.end {
      verdict.problems.append("afterwards: the process ended by signal \(signal): \(words)")
    }
    try FileManager.default.removeItem(at: place)
    return verdict
  }

  // MARK: The processes

  private static func meet(_ fault: Fault, _ work: any Work, _ place: URL, _ findings: inout Findings) {
    var failures: [any Error] = []
    func attempt<T>(_ body: () throws -> T) -> T? {
      do {
        return try body()
      } catch {
        failures.append(error)
        return nil
      }
    }
    fault.arm()
    var session = attempt { try work.begin(place) }
    var result = session.flatMap { session in attempt { try session.work() } }
    findings.wasHit = Fault.wasHit
    if result != nil, Fault.wasHit || !failures.isEmpty { findings.result = result }
    if !fault.isLasting, Fault.wasHit {
      Fault.disarm()
      do {
        if session == nil { session = try work.begin(place) }
        if result == nil, let session { result = try session.work() }
        findings.result = result
      } catch {
        findings.problems.append("the same process couldn't go on: \(error)")
      }
    }
    if let session { _ = attempt { try session.close() } }
    session = nil
    findings.wasHit = findings.wasHit || Fault.wasHit
    Fault.disarm()
    findings.problems += openFiles(in: place).map { "it is still open: \($0)" }
    if !findings.wasHit {
      findings.problems += failures.map { "failed without a fault: \($0)" }
    } else {
      findings.problems += failures.compactMap { FailureJudge.problem($0, of: fault) }
    }
  }

  /// The files in a folder that this process has open.
  private static func openFiles(in place: URL) -> [String] {
    let folder = URL(fileURLWithPath: "/proc/self/fd")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { name in
      let path = try? FileManager.default.destinationOfSymbolicLink(atPath: folder.appendingPathComponent(name).path)
      return path.flatMap { $0.hasPrefix(place.path + "/") ? String($0.dropFirst(place.path.count + 1)) : nil }
    }
  }

  private static func lookAfter(
    _ result: String?, _ expected: Findings, _ work: any Work, _ place: URL, _ findings: inout Findings
  ) throws {
    let contents = StoreContents(folder: place)
    findings.problems += try contents.damage()
    if let result {
      findings.problems += differences(result, try work.contents(place), expected).map { "said to be done: " + $0 }
    }
    let session = try work.begin(place)
    let again = try session.work()
    try session.close()
    findings.problems += try contents.damage()
    findings.problems += differences(again, try work.contents(place), expected)
    let main = try contents.stores().filter { !$0.contains("/") }
    findings.problems += try contents.withoutLog(main).map { "\($0) isn't in the write-ahead mode" }
  }

  private static func differences(_ result: String, _ contents: [String], _ expected: Findings) -> [String] {
    var problems: [String] = []
    if result != expected.result { problems.append("\(result) in place of \(expected.result ?? "nothing")") }
    guard contents != expected.contents else { return problems }
    let changes = contents.difference(from: expected.contents)
    let texts = changes.map { change in
      switch change {
      case .insert(_, let line, _): "+ \(line)"
      case .remove(_, let line, _): "- \(line)"
      }
    }
    return problems + ["\(texts.count) differences: " + texts.prefix(4).joined(separator: "; ")]
  }

  /// Runs `body` in a process of its own. What it throws is a problem.
  private static func process(
    _ name: String, in folder: URL, _ body: @escaping (inout Findings) throws -> Void
  ) throws -> (findings: Findings, end: ChildEnd) {
    let file = folder.appendingPathComponent(name + ".json")
    if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    let end = try ChildProcess.run(log: folder.appendingPathComponent(name + ".log")) {
      var findings = Findings()
      do {
        try body(&findings)
      } catch {
        findings.problems.append("\(error)")
      }
      do {
        try JSONEncoder().encode(findings).write(to: file)
      } catch {
        abort()
      }
    }
    guard let data = FileManager.default.contents(atPath: file.path) else { return (Findings(), end) }
    return (try JSONDecoder().decode(Findings.self, from: data), end)
  }

  private static func copy(_ base: URL, to place: URL) throws {
    if FileManager.default.fileExists(atPath: place.path) { try FileManager.default.removeItem(at: place) }
    try FileManager.default.copyItem(at: base, to: place)
  }
}
