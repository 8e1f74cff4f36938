/// Watches a long piece of maintenance. Its closures are called often, on the thread that works, and must be quick.
public struct MaintenanceWatch: Sendable {
  /// Whether the work must stop.
  public let shouldStop: @Sendable () -> Bool
  /// Receives the progress.
  public let report: @Sendable (MaintenanceProgress) -> Void

  /// A watch. By default it stops nothing and ignores the progress.
  public init(
    shouldStop: @escaping @Sendable () -> Bool = { false },
    report: @escaping @Sendable (MaintenanceProgress) -> Void = { _ in }
  ) {
    self.shouldStop = shouldStop
    self.report = report
  }

  /// - Throws: ``MaintenanceStopped`` when the work must stop.
  public func check() throws { if shouldStop() { throw MaintenanceStopped() } }

  /// The same watch for a part of a longer piece of work.
  /// - Parameter change: turns the part's progress into the whole's.
  public func part(_ change: @escaping @Sendable (inout MaintenanceProgress) -> Void) -> MaintenanceWatch {
    let report = report
    return MaintenanceWatch(shouldStop: shouldStop) { progress in
      var progress = progress
      change(&progress)
      report(progress)
    }
  }
}

/// The progress of maintenance.
public struct MaintenanceProgress: Sendable, Hashable {
  /// Bytes processed; 0 where the work isn't measured in bytes.
  public var bytesDone: Int64
  /// Bytes to process in all; 0 where the work isn't measured in bytes.
  public var bytesTotal: Int64
  /// Finished tables, indexes or blocks.
  public var items: Int64
  /// The current step, for people: `verifying`.
  public var phase: String?

  /// A progress.
  public init(bytesDone: Int64 = 0, bytesTotal: Int64 = 0, items: Int64 = 0, phase: String? = nil) {
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.items = items
    self.phase = phase
  }
}

/// Maintenance was stopped by its watch. It has rolled back what it had begun, or left a valid intermediate state.
public struct MaintenanceStopped: Error, Sendable, Hashable {
  /// The error.
  public init() {}
}

/// Why maintenance is impossible.
public enum MaintenanceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Stores of this kind have no maintenance.
  case unsupported(store: String)
  /// The store can only be compacted as a whole.
  case notIncremental(path: String)
  /// The store's database does this by itself, or has nothing of the kind.
  case needless(store: String, reason: String)
  /// A program that the work needs isn't installed.
  case missingProgram(name: String, remedy: String)
  /// A program that does the work has failed.
  case programFailed(name: String, reason: String)

  /// What is impossible, and what to do.
  public var description: String {
    switch self {
    case .unsupported(let store): return "\(store) has no upkeep of this kind: only stores in files do"
    case .notIncremental(let path):
      return
        "\(path) can't be compacted in steps yet: compact it once as a whole, and prepare it for steps then"
    case .needless(let store, let reason): return "\(store) needs no such work: \(reason)"
    case .missingProgram(let name, let remedy): return "the program \(name) isn't installed: \(remedy)"
    case .programFailed(let name, let reason): return "\(name) has failed: \(reason)"
    }
  }
}
