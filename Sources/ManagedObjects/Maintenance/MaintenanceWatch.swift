/// Who watches over a long piece of upkeep. Its closures are called on the thread that works, often: they are to be quick.
package struct MaintenanceWatch: Sendable {
  /// Whether to give up.
  package let shouldStop: @Sendable () -> Bool
  /// Hears how far the work is.
  package let report: @Sendable (MaintenanceProgress) -> Void

  /// A watch; one that lets everything go on when nothing is given.
  package init(
    shouldStop: @escaping @Sendable () -> Bool = { false },
    report: @escaping @Sendable (MaintenanceProgress) -> Void = { _ in }
  ) {
    self.shouldStop = shouldStop
    self.report = report
  }

  /// - Throws: ``MaintenanceStopped`` when the work is to be given up.
  package func check() throws { if shouldStop() { throw MaintenanceStopped() } }

  /// The same, whose progress is a part of a longer piece of work.
  /// - Parameter change: makes the whole's progress of the part's.
  package func part(_ change: @escaping @Sendable (inout MaintenanceProgress) -> Void) -> MaintenanceWatch {
    let report = report
    return MaintenanceWatch(shouldStop: shouldStop) { progress in
      var progress = progress
      change(&progress)
      report(progress)
    }
  }
}

/// How far upkeep is.
package struct MaintenanceProgress: Sendable, Hashable {
  /// Bytes that were worked off, of how many; 0 of 0 where bytes say nothing.
  package var bytesDone: Int64
  package var bytesTotal: Int64
  /// Tables, indexes or pages that are done.
  package var items: Int64
  /// What is being done, for people: `verifying`.
  package var phase: String?

  package init(bytesDone: Int64 = 0, bytesTotal: Int64 = 0, items: Int64 = 0, phase: String? = nil) {
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.items = items
    self.phase = phase
  }
}

/// Upkeep was given up, as its watch wanted. What it had begun is taken back, or is as good as if it hadn't been begun.
package struct MaintenanceStopped: Error, Sendable, Hashable {
  package init() {}
}
