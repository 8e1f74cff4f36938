import ControlAPI
import ControlServer
import Jobs
import Dispatch
import Foundation

extension DaemonBackend {
  func stats() async throws -> Stats {
    let counts = try await queue.counts()
    let now = Date()
    return Stats(
      version: LadeVersion.current, startedAt: startedAt, uptime: now.timeIntervalSince(startedAt),
      counts: Dictionary(
        uniqueKeysWithValues: ControlAPI.JobState.allCases.map { ($0.rawValue, counts[$0.queued]) }),
      lanes: counts.lanes.mapValues { states in
        Dictionary(uniqueKeysWithValues: states.filter { $0.value != 0 }.map { ($0.rawValue, $1) })
      },
      rates: meters.ended.rates(at: now), durations: meters.ended.durations, mainQueue: meters.mainQueue.spread)
  }

  func log(_ query: LogQuery) -> [LogLine] { meters.log.lines(query) }

  func logLines() -> AsyncStream<LogLine> { meters.log.stream() }

  private static let checkQueue = DispatchQueue(label: "control.configuration", qos: .utility)

  /// As `laded --check-config` does: the file, the models that it names, and whether its recipes and schedules fit these.
  func checkConfiguration() async throws -> ConfigurationCheck {
    let (path, current, operations) = (configurationPath, configuration, plan.operations)
    return try await withCheckedThrowingContinuation {
      (answer: CheckedContinuation<ConfigurationCheck, any Error>) in
      Self.checkQueue.async { answer.resume(with: Result { try Self.check(path, current, operations) }) }
    }
  }

  private static func check(
    _ path: String, _ current: DaemonConfiguration, _ operations: OperationCatalogue
  ) throws -> ConfigurationCheck {
    do {
      let new = try DaemonConfiguration.load(path: path)
      let differs = new != current
      do {
        let plan = SubmissionPlan(
          configuration: new, stores: try DataStores(modelsOf: new.stores), operations: operations)
        try plan.checkRecipes()
        _ = try plan.schedules()
        return ConfigurationCheck(path: path, isGood: true, differs: differs)
      } catch let error as DaemonError {
        return ConfigurationCheck(
          path: path, isGood: false, differs: differs,
          mistakes: error.description.split(separator: "\n").map { .init(message: String($0)) })
      }
    } catch let problems as ConfigurationProblems {
      return ConfigurationCheck(
        path: path, isGood: false, differs: true,
        mistakes: problems.problems.map { problem in
          .init(line: problem.line, column: problem.column, key: problem.key, message: problem.reason)
        })
    }
  }
}
