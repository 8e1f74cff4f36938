import ManagedObjects

/// One half of what a check looks at. A part says what is wrong by ``CheckReport/add(_:)``, and looks at the watch.
protocol CheckPart {
  /// Whether the options ask for it.
  static func isWanted(_ options: CheckOperation.Options) -> Bool
  /// Looks. What it throws ends the check: an error of the store is the job's failure.
  static func run(
    _ operation: CheckOperation, _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport,
    _ watch: MaintenanceWatch
  ) throws
}

/// The file's half: SQLite's own checks, references between rows, and what the store notes about itself.
enum FileCheckPart: CheckPart {
  static func isWanted(_ options: CheckOperation.Options) -> Bool { true }

  static func run(
    _ operation: CheckOperation, _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport,
    _ watch: MaintenanceWatch
  ) throws {
    try store.maintenance.checkIntegrity(options.depth, watch) { try report.add($0) }
  }
}
