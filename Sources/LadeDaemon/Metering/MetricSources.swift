import ControlServer
import Logging
import Synchronization

/// What metrics are read from and may not be readable: one that isn't leaves out its own families, not the whole page. The
/// failure is logged when it begins, and is a metric itself. Safe from any thread.
final class MetricSources: Sendable {
  /// The raw values are the label `source`.
  enum Source: String, Sendable, CaseIterable {
    case jobs, lanes
    case keptFiles = "kept_files"
    case storeSizes = "store_sizes"
  }

  private let logger: Logger
  private let failing = Mutex<Set<Source>>([])

  init(logger: Logger) { self.logger = logger }

  /// The families of a source; none if they can't be read.
  func families(of source: Source, _ read: () async throws -> [MetricFamily]) async -> [MetricFamily] {
    do {
      let families = try await read()
      note(source, nil)
      return families
    } catch is CancellationError {
      // The client has gone.
      return []
    } catch {
      note(source, error)
      return []
    }
  }

  /// Takes note of whether a source could be read.
  func note(_ source: Source, _ error: (any Error)?) {
    let isNews = failing.withLock { failing in
      if error == nil { failing.remove(source) != nil } else { failing.insert(source).inserted }
    }
    guard isNews else { return }
    if let error {
      logger.warning(
        "metrics: \(source.rawValue) can't be read, and its metrics are missing or old until it can: \(error)")
    } else {
      logger.notice("metrics: \(source.rawValue) can be read again")
    }
  }

  /// Whether each source could be read.
  var family: MetricFamily {
    var family = MetricFamily(
      .gauge, "lade_metrics_readable",
      "Whether what the metrics of a source are read from could be read: 1, or 0, and they are missing or old.")
    let failing = failing.withLock { $0 }
    for source in Source.allCases { family.add(failing.contains(source) ? 0 : 1, ["source": source.rawValue]) }
    return family
  }
}
