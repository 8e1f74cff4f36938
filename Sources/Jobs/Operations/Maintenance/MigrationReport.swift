package import ManagedObjects

/// The result of a migration.
package struct MigrationReport: Sendable, Equatable {
  /// Every entity in which the models differ; none if the store has the present model already.
  package var differences: [VersionDifference]
  /// Other remarks.
  package var remarks: [String]

  package init(differences: [VersionDifference], remarks: [String] = []) {
    self.differences = differences
    self.remarks = remarks
  }
}
