import ControlAPI
import ControlServer
import Jobs
import Dispatch
import Foundation
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
      mainQueueBusy: MainQueueTurn.total / .seconds(1), mainContexts: try await meters.mainContexts.status())
  }

  func log(_ query: LogQuery) -> [LogLine] { meters.log.lines(query) }

  func logLines() -> AsyncStream<LogLine> { meters.log.stream() }

  private static let checkQueue = DispatchQueue(label: "control.configuration", qos: .utility)

  /// As `laded --check-config` does: all layers, the models that they name, and whether recipes and schedules fit these.
  func checkConfiguration() async throws -> ConfigurationCheck {
    let (path, current, operations) = (loaded.path, configuration, plan.operations)
    return try await Self.checkQueue.result { try Self.check(path, current, operations) }
  }

  func reload(by peer: Peer) async throws -> Reload {
    try permissions.checkOperator(peer, to: "have the configuration read again")
    return try await reloader.reload()
  }

  private static func check(
    _ path: String, _ current: DaemonConfiguration, _ operations: OperationCatalogue
  ) throws -> ConfigurationCheck {
    do {
      let new = try LoadedConfiguration(path: path, environment: ProcessInfo.processInfo.environment)
      let problems = try new.problems(operations)
      return ConfigurationCheck(
        path: path, isGood: problems.isEmpty, differs: new.configuration != current,
        mistakes: problems.map(ConfigurationCheck.Mistake.init))
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
