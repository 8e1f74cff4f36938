// The file is migrated in one transaction, while readers go on with the state before it. Then whoever asks for the store
// gets the new model with its coordinator, and the old one lets go of the file: who still reads by it is waited for, and
// reads of it fail afterwards.

import Foundation
import Jobs
import Logging
import ManagedObjects

extension DataStores {
  /// Migrates a store to the model that its configuration's path holds now. Nobody writes to it meanwhile.
  /// - Throws: ``MigrationError``, `ModelError`, ``MaintenanceStopped``, or the store's error: the store is as it was then.
  func migrate(_ name: String, _ watch: MaintenanceWatch, _ logger: Logger) throws -> MigrationReport {
    guard let old = self[name] else { throw DaemonError.store(name: name, reason: "the configuration hasn't got it") }
    let new = try Self.read(old.configuration)
    let (before, after) = (old.coordinator.model, new.coordinator.model)
    if try ModelDefinition(before).text() == ModelDefinition(after).text() { return MigrationReport(differences: []) }
    let differences = VersionDifference.between(
      before.entityVersionHashesByName, after.entityVersionHashesByName, from: before, to: after)
    watch.report(MaintenanceProgress(phase: "migrating"))
    try Self.open(new, logger, shouldStop: watch.shouldStop)
    replace(with: new)
    var report = MigrationReport(differences: differences)
    for store in old.coordinator.persistentStores {
      do {
        try old.coordinator.remove(store)
      } catch {
        report.remarks.append("somebody still reads by the model of before, and finds what fits it: \(error)")
      }
    }
    return report
  }
}
