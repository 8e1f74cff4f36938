import Foundation
public import Jobs
import Logging
import ManagedObjects

extension StoreUpkeep {
  /// How the configuration wants its stores maintained, by their names.
  static func of(
    _ current: CurrentConfiguration, _ stores: DataStores, _ logger: Logger
  ) -> [String: StoreUpkeep] {
    let configuration = current.now.configuration
    return Dictionary(
      uniqueKeysWithValues: configuration.stores.map { store in
        let upkeep = StoreUpkeep(
          backupFolder: URL(fileURLWithPath: configuration.backupFolder(of: store)), keptBackups: store.backups.keep,
          compression: store.backups.compress, migration: store.migration.options,
          migrate: { watch in
            // As at the start: what recipes say has to be so afterwards.
            let now = current.now.configuration
            try SubmissionPlan(configuration: now, stores: DataStores(modelsOf: now.stores)).checkRecipes()
            return try stores.migrate(store.name, watch, logger)
          })
        return (store.name, upkeep)
      })
  }
}

extension DaemonError: JobFailing {
  /// What the configuration says, or the files that it names, have to change first.
  public var jobFailure: JobFailure { JobFailure(code: "configuration", message: description, isRetryable: false) }
}
