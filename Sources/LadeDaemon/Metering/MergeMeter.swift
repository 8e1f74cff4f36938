import ControlServer
import Synchronization

/// Measures how far contexts that follow what others save lag behind, since this daemon's start. Safe from any thread.
final class MergeMeter: Sendable {
  /// Whose contexts.
  enum Place: String, CaseIterable {
    /// The queue's main context, which answers questions about jobs.
    case queue
    /// Those of standing queries.
    case watch
  }

  private let lags = Mutex(
    Dictionary(uniqueKeysWithValues: Place.allCases.map { ($0, Histogram.ofWaits) }))

  /// What was saved that long ago is merged now.
  func note(_ lag: Duration, in place: Place) { lags.withLock { $0[place]?.observe(lag) } }

  var family: MetricFamily {
    var family = MetricFamily(
      .histogram, "lade_merge_lag_seconds",
      "How long it took from a save until a context that follows had merged it, since this daemon's start: the queue's on the "
        + "main queue (queue), those of standing queries (watch).")
    let lags = lags.withLock { $0 }
    for place in Place.allCases { if let lag = lags[place] { family.add(lag, ["context": place.rawValue]) } }
    return family
  }
}
