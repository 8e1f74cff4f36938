import Foundation
public import Jobs
import Logging
import ManagedObjects
import Synchronization

/// The current configuration. Code that uses several parts of it takes one snapshot, because the next may differ.
final class CurrentConfiguration: Sendable {
  /// A configuration with what follows from it.
  struct Snapshot: Sendable {
    /// Which has the configuration.
    let plan: SubmissionPlan
    let permissions: Permissions

    var configuration: DaemonConfiguration { plan.configuration }

    /// Looks users up, which may ask whatever knows users here.
    init(_ plan: SubmissionPlan) {
      self.plan = plan
      permissions = Permissions(operators: Set(plan.configuration.operators.compactMap(SystemUser.number)))
    }
  }

  private let value: Mutex<Snapshot>

  init(_ snapshot: Snapshot) { value = Mutex(snapshot) }

  var now: Snapshot { value.withLock { $0 } }

  func put(_ snapshot: Snapshot) { value.withLock { $0 = snapshot } }
}

// What the configuration says, as the queue takes it.

extension Backoff {
  init(_ retry: RetryConfiguration) {
    self.init(
      first: retry.first / .seconds(1), longest: retry.longest / .seconds(1), spread: Double(retry.spread) / 100)
  }
}

extension JobRetention {
  init(_ keep: KeepConfiguration) {
    self.init(
      age: [
        .completed: keep.completed / .seconds(1), .cancelled: keep.cancelled / .seconds(1),
        .discarded: keep.discarded / .seconds(1),
      ], count: keep.jobs)
  }
}

extension JobQueueConfiguration {
  init(_ configuration: DaemonConfiguration, _ schedules: [JobSchedule]) {
    self.init(
      lanes: configuration.lanes, schedules: schedules,
      retention: JobRetention(configuration.keep), backoff: Backoff(configuration.retry),
      watchedRecipes: configuration.watchedRecipes)
  }
}

extension StoreUpkeep {
  /// How the configuration wants its stores maintained, by their names.
  static func of(
    _ current: CurrentConfiguration, _ stores: DataStores, _ logger: Logger
  ) -> [String: StoreUpkeep] {
    let configuration = current.now.configuration
    return Dictionary(
      uniqueKeysWithValues: configuration.stores.map { store in
        var upkeep = StoreUpkeep(
          backupFolder: URL(fileURLWithPath: configuration.backupFolder(of: store)), keptBackups: store.backups.keep,
          compression: store.backups.compress, migration: store.migration.options,
          migrate: { watch in
            // As at the start: what recipes say has to be so afterwards.
            let now = current.now.configuration
            try SubmissionPlan(configuration: now, stores: DataStores(modelsOf: now.stores)).checkRecipes()
            return try stores.migrate(store.name, watch, logger)
          })
        if store.evolves {
          upkeep.evolve = { try stores.evolve(store.name, $0, for: $1, $2, logger) }
          upkeep.evolved = { try stores.evolved(store.name, by: $0) }
          upkeep.revert = { force, watch in
            try stores.revert(store.name, force: force, watch, logger) { former in
              let now = current.now.configuration
              let models = try DataStores(modelsOf: now.stores)
              models.replace(with: former)
              try SubmissionPlan(configuration: now, stores: models).checkRecipes()
            }
          }
        }
        return (store.name, upkeep)
      })
  }
}

extension DaemonError: JobFailing {
  /// What the configuration says, or the files that it names, have to change first.
  public var jobFailure: JobFailure { JobFailure(code: "configuration", message: description, isRetryable: false) }
}
