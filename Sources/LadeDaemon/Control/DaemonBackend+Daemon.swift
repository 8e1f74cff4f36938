import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Jobs
import Logging
import ManagedObjects

extension DaemonBackend {
  func stats() async throws -> Stats {
    let counts = try await queue.counts()
    let now = Date()
    return Stats(
      version: LadeVersion.current, startedAt: startedAt, uptime: now.timeIntervalSince(startedAt),
      counts: Dictionary(
        uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, counts[$0]) }),
      lanes: counts.lanes.mapValues { states in
        Dictionary(uniqueKeysWithValues: states.filter { $0.value != 0 }.map { ($0.rawValue, $1) })
      },
      rates: meters.ended.rates(at: now), durations: meters.ended.durations, mainQueue: meters.mainQueue.spread,
      mainQueueBusy: MainQueueTurn.total / .seconds(1), mainContexts: meters.mainContexts.status)
  }

  func log(_ query: LogQuery) -> [LogLine] { meters.log.lines(query) }

  func logLines() -> AsyncStream<LogLine> { meters.log.stream() }

  private static let checkQueue = DispatchQueue(label: "control.configuration")

  func configurationSettings() async throws -> ConfigurationSettings {
    let (path, current, saved) = (loaded.path, plan, loaded.configuration.savedRecipes)
    return try await Self.checkQueue.result {
      do {
        var new = try LoadedConfiguration(
          path: path, environment: ProcessInfo.processInfo.environment, saved: saved)
        // Saved recipes that don't fit are left out, as they are of the configuration in force.
        _ = try new.problems(current.operations)
        return ConfigurationSettings(
          layers: new.layers, settings: new.settings, differs: new.configuration != current.configuration)
      } catch let problems as ConfigurationProblems {
        throw ControlError.badConfiguration(problems.problems.map(\.description))
      }
    }
  }

  /// As `laded --check-config` does: all layers, the models that they name, whether recipes and schedules fit these, and
  /// whether stores can be migrated to them.
  func checkConfiguration() async throws -> ConfigurationCheck {
    let (path, current, started) = (loaded.path, plan, loaded.configuration)
    return try await Self.checkQueue.result { try Self.check(path, current, started) }
  }

  func reload(by peer: Peer) async throws -> Reload {
    try permissions.checkOperator(peer, to: "have the configuration read again")
    return try await reloader.reload()
  }

  private static func check(
    _ path: String, _ current: SubmissionPlan, _ started: DaemonConfiguration
  ) throws -> ConfigurationCheck {
    do {
      var new = try LoadedConfiguration(
        path: path, environment: ProcessInfo.processInfo.environment, saved: started.savedRecipes)
      let problems = try new.problems(current.operations) + new.migrationProblems()
      let reload =
        try problems.isEmpty ? ReloadPlan(new.configuration, over: current, since: started).reload : Reload()
      var check = ConfigurationCheck(
        path: path, isGood: problems.isEmpty,
        differs: new.configuration != current.configuration || !reload.needsMigration.isEmpty, reload: reload,
        mistakes: problems.map(ConfigurationCheck.Mistake.init))
      check.warnings = try new.warnings(current.operations).map(ConfigurationCheck.Mistake.init)
      return check
    } catch let problems as ConfigurationProblems {
      return ConfigurationCheck(
        path: path, isGood: false, differs: true, mistakes: problems.problems.map(ConfigurationCheck.Mistake.init))
    }
  }
}

extension ConfigurationCheck.Mistake {
  init(_ problem: ConfigurationProblem) {
    self.init(
      file: problem.file, line: problem.line, column: problem.column, key: problem.key, message: problem.reason)
  }
}

extension DaemonBackend {
  /// Writes the daemon's state to the log.
  func dump(to logger: Logger) async {
    do {
      for line in try await stateLines() { logger.notice("\(line)") }
    } catch {
      logger.error("state: it can't be read: \(error)")
    }
  }

  /// The daemon's state for people, as lines: what runs, what waits, the stores, the process itself.
  func stateLines() async throws -> [String] {
    let stats = try await stats()
    var lines = ["state: up for \(Int(stats.uptime)) s; jobs: " + Self.listed(stats.counts)]
    for lane in try await lanes() {
      let paused = lane.isPaused ? ", paused by \(lane.pausedBy ?? "somebody")" : ""
      lines.append(
        "state: lane \(lane.name): \(lane.running.count) of \(lane.concurrency) running\(paused); "
          + Self.listed(Dictionary(uniqueKeysWithValues: lane.counts.map { ($0.key.rawValue, $0.value) })))
    }
    for job in queue.runningJobs {
      let progress = job.progress
      let share = progress.percent.map { ", \($0) %" } ?? ""
      let seconds = job.startedAt.map { Int(-$0.timeIntervalSinceNow) } ?? 0
      lines.append(
        "state: job \(job.id): \(job.kind) \(job.source ?? job.entity ?? "") in \(job.lane), attempt \(job.attempt), "
          + "for \(seconds) s\(share), \(progress.records) records")
    }
    for store in try await stores(StoreCountQuery(counts: false)) {
      lines.append("state: store \(store.name): \(store.path), \(store.size) bytes, log \(store.walSize) bytes")
    }
    if let main = stats.mainQueue {
      lines.append("state: the main queue let others wait \(main.median) s in the median, \(main.longest) s at most")
    }
    for (name, main) in stats.mainContexts.sorted(by: { $0.key < $1.key }) {
      let lag = main.lag.map { ", merge lag \($0.median) s in the median, \($0.p99) s at the 99th percentile" } ?? ""
      lines.append(
        "state: main context of \(name): \(main.savesMerged) saves merged\(lag), \(main.registeredObjects) objects")
    }
    let process = ProcessUse.now()
    lines.append("state: memory \(process.residentBytes >> 20) MiB, \(process.descriptors) open files")
    return lines
  }

  private static func listed(_ counts: [String: Int]) -> String {
    let shown = JobState.allCases.compactMap { state in
      counts[state.rawValue].flatMap { $0 == 0 ? nil : "\($0) \(state.rawValue)" }
    }
    return shown.isEmpty ? "no jobs" : shown.joined(separator: ", ")
  }
}

extension DaemonBackend {
  func lanes() async throws -> [Lane] { try await queue.laneSnapshots() }

  func pause(lane: String, by peer: Peer) async throws -> Lane {
    try await change(lane, "pause lanes", by: peer) { try await queue.pause(lane: lane, by: peer.who) }
  }

  func resume(lane: String, by peer: Peer) async throws -> Lane {
    try await change(lane, "resume lanes", by: peer) { try await queue.resume(lane: lane, by: peer.who) }
  }

  func setConcurrency(of lane: String, to number: Int?, by peer: Peer) async throws -> Lane {
    try await change(lane, "change the concurrency of lanes", by: peer) {
      try await queue.setConcurrency(of: lane, to: number, by: peer.who)
    }
  }

  private func change(
    _ lane: String, _ what: String, by peer: Peer, _ body: () async throws -> Lane
  ) async throws -> Lane {
    try permissions.checkOperator(peer, to: what)
    do {
      let changed = try await body()
      await service.lanesChanged()
      return changed
    } catch JobQueueError.unknownLane(let name, let known) {
      throw ControlError.noSuchLane(name, known: known)
    }
  }
}
