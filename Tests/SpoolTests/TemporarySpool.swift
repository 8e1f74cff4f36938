import Foundation
import Glibc
import LadeTypes
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Spool

/// A spool in a directory of its own, which goes with it.
final class TemporarySpool: Sendable {
  let path: String
  let directories: SpoolDirectories

  init() throws {
    var template = Array((NSTemporaryDirectory() + "/lade-spool-XXXXXX").utf8CString)
    path = try #require(mkdtemp(&template).map { String(cString: $0) })
    directories = try SpoolDirectories(path: path + "/spool")
  }

  deinit {
    // A test that made a directory read-only has only itself to blame for what it leaves in the temp directory.
    do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path): \(error)") }
  }

  func url(_ relative: String) -> String { path + "/spool/" + relative }

  /// Writes a file in `tmp/` and renames it to its place, as a writer should.
  func drop(_ relative: String, _ text: String = "id\n1\n") throws {
    let tmp = url("tmp/" + UUID().uuidString)
    try Data(text.utf8).write(to: URL(fileURLWithPath: tmp))
    try waitForWritersToGo(of: tmp)
    try #require(rename(tmp, url(relative)) == 0, "rename to \(relative): errno \(errno)")
  }

  func text(_ relative: String) throws -> String {
    try String(contentsOfFile: url(relative), encoding: .utf8)
  }

  func exists(_ relative: String) -> Bool {
    var status = stat()
    return lstat(url(relative), &status) == 0
  }

  func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url(folder)).sorted()
  }

  func intake(
    _ directories: SpoolDirectories? = nil, recipes: Set<String> = ["gtfs", "people"], sets: [String: FileSet] = [:],
    allowedFolders: [String] = [],
    settle: Duration = .zero,
    grace: Duration = .zero, quiet: Duration = .zero, rules: SpoolRules = SpoolRules(),
    log: LogCollector = LogCollector(), ledger: JobLedger
  ) throws -> SpoolIntake {
    var timing = SpoolTiming()
    timing.quiet = quiet
    timing.rescanInterval = .seconds(3600)
    timing.settle = settle
    timing.sourceGrace = grace
    let settings = try SpoolSettings(
      recipes: recipes, sets: sets, allowedFolders: allowedFolders, timing: timing, rules: rules)
    return SpoolIntake(
      directories: directories ?? self.directories, settings: settings, delegate: ledger, logger: log.logger)
  }
}

/// A job queue that is as durable as a test needs: one job per identity.
final class JobLedger: SpoolDelegate {
  struct State {
    var jobs: [String: Int64] = [:]
    var entries: [SpoolEntry] = []
    var asked = 0
    var changed: [Int64] = []
    var calls: [String] = []
    var completedScans = 0
    var failingConfirmations = 0
    var beforeAnswering: (@Sendable (SpoolEntry, Int64) throws -> Void)?
  }

  private let state = Mutex(State())
  let taken: AsyncStream<Int64>
  private let takenContinuation: AsyncStream<Int64>.Continuation

  init() {
    (taken, takenContinuation) = AsyncStream.makeStream()
  }

  /// Called when the job is noted and before `accept` returns: what it throws is a crash after the commit.
  func beforeAnswering(_ body: (@Sendable (SpoolEntry, Int64) throws -> Void)?) {
    state.withLock { $0.beforeAnswering = body }
  }

  nonisolated(nonsending) func accept(_ entries: [SpoolEntry]) async -> [Result<Int64, any Error>] {
    entries.map { entry in Result { try accept(entry) } }
  }

  private func accept(_ entry: SpoolEntry) throws -> Int64 {
    let (job, body) = state.withLock { state in
      state.asked += 1
      if let job = state.jobs[entry.identity] { return (job, state.beforeAnswering) }
      let job = Int64(state.entries.count + 1)
      state.jobs[entry.identity] = job
      state.entries.append(entry)
      return (job, state.beforeAnswering)
    }
    try body?(entry, job)
    return job
  }

  func filesArrived(of jobs: [Int64]) { state.withLock { $0.calls += jobs.map { "\($0) arrived" } } }

  /// The next calls of `handOverCompleted` fail.
  func failConfirmations(_ count: Int) { state.withLock { $0.failingConfirmations = count } }

  func handOverCompleted(of jobs: [Int64]) throws {
    let fails = state.withLock { state in
      defer { state.failingConfirmations = max(0, state.failingConfirmations - 1) }
      return state.failingConfirmations > 0
    }
    if fails { throw SimulatedCrash() }
    for job in jobs {
      state.withLock {
        $0.jobs = $0.jobs.filter { $0.value != job }
        $0.calls.append("\(job) completed")
      }
      takenContinuation.yield(job)
    }
  }

  func sourceChanged(of job: Int64) { state.withLock { $0.changed.append(job) } }
  func scanCompleted() { state.withLock { $0.completedScans += 1 } }

  var entries: [SpoolEntry] { state.withLock { $0.entries } }
  var changed: [Int64] { state.withLock { $0.changed } }
  /// The calls about jobs' files, in order.
  var calls: [String] { state.withLock { $0.calls } }
  var completedScans: Int { state.withLock { $0.completedScans } }
  /// How many entries were asked for.
  var asked: Int { state.withLock { $0.asked } }
}

struct SimulatedCrash: Error {}

/// What was logged, from notices up.
final class LogCollector: Sendable {
  private let collected = Mutex<[String]>([])

  var lines: [String] { collected.withLock { $0 } }

  var logger: Logger {
    var logger = Logger(label: "spool") { _ in Handler(collector: self) }
    logger.logLevel = .notice
    return logger
  }

  private struct Handler: LogHandler {
    let collector: LogCollector
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let entry = event.metadata?["entry"].map { " (\($0))" } ?? ""
      collector.collected.withLock { $0.append("\(event.level): \(event.message)\(entry)") }
    }
  }
}
