import ManagedObjects

/// The object graph's half of a check. It passes over what can't be read; the file's half reports why.
enum ObjectsCheckPart: CheckPart {
  static func isWanted(_ options: CheckOperation.Options) -> Bool { options.objects || options.repair }

  static func run(
    _ operation: CheckOperation, _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport,
    _ watch: MaintenanceWatch
  ) throws {
    guard try isReadable(store, options, report, watch) else { return }
    let check = ObjectGraphCheck(
      store.coordinator, repairs: options.repair, tellsReferences: options.repair, author: "job \(operation.job.id)")
    let isWhole = try check.run(
      .init(
        shouldStop: watch.shouldStop,
        report: { done, _ in watch.report(MaintenanceProgress(items: done, phase: "objects")) },
        found: { try report.add($0) }))
    guard isWhole else { throw MaintenanceStopped() }
  }

  private static func isReadable(
    _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport, _ watch: MaintenanceWatch
  ) throws -> Bool {
    // Without repair the file's half has been there before.
    guard options.repair else { return report.kinds.isSubset(of: [.reference]) }
    var isReadable = true
    try store.maintenance.checkIntegrity(.quick, watch) { problem in
      if problem.kind != .reference { isReadable = false }
    }
    return isReadable
  }
}
