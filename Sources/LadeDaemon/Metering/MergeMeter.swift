import ControlAPI
import ControlServer
import ManagedObjects
import Synchronization

/// Measures the merges of a context that follows saves: how many saves it has merged since the daemon's start, how far it
/// lags behind, and how many objects it has registered. Safe from any thread: who asks doesn't wait for the context's queue.
final class MergeMeter: Sendable {
  private struct State {
    var saves: UInt64 = 0
    var lags = Histogram.ofWaits
    var latest = LatestSamples(capacity: 1200)
    var registeredObjects = 0
  }

  private let state = Mutex(State())

  func note(_ merge: SaveMerge) {
    state.withLock { state in
      state.saves += UInt64(merge.saveCount)
      state.lags.observe(merge.lag)
      state.latest.add(merge.lag / .seconds(1))
      state.registeredObjects = merge.registeredObjectCount
    }
  }

  /// The context has forgotten its objects.
  func noteReset() { state.withLock { $0.registeredObjects = 0 } }

  /// How many saves were merged.
  var saves: UInt64 { state.withLock(\.saves) }
  /// The lags of all merges.
  var lags: Histogram { state.withLock(\.lags) }
  /// The lags of the latest merges; nil while there were none.
  var lag: Stats.Spread? { state.withLock { $0.latest.spread } }
  /// How many objects the context had registered after its latest merge.
  var registeredObjects: Int { state.withLock(\.registeredObjects) }
}

/// The main contexts of all stores of a daemon, the queue's among them.
struct MainContexts: Sendable {
  /// The queue's name among the stores: no store of the configuration can have a dot in its name.
  static let queueStoreName = "queue.sqlite"

  let stores: DataStores
  let queue: StoreMainContext

  private var all: [(name: String, main: StoreMainContext)] {
    stores.all.map { ($0.configuration.name, $0.main) } + [(Self.queueStoreName, queue)]
  }

  /// How far each is, by the names of the stores.
  var status: [String: MainContextStatus] { Dictionary(all.map { ($0.name, $0.main.status) }) { first, _ in first } }

  /// The same for Prometheus.
  var families: [MetricFamily] {
    var saves = MetricFamily(
      .counter, "lade_saves_merged_total",
      "Saves that the main context of a store has merged, since this daemon's start; queue.sqlite is the queue.")
    var lags = MetricFamily(
      .histogram, "lade_merge_lag_seconds",
      "How long a save waited until a context had merged it, since this daemon's start: the main context of the store (main), "
        + "and, counted from there, that of its standing queries (watch).")
    var objects = MetricFamily(
      .gauge, "lade_main_context_objects",
      "Objects that the main context of a store had registered after its latest merge.")
    for (name, main) in all {
      let status = main.status
      saves.add(status.savesMerged, ["store": name])
      objects.add(status.registeredObjects, ["store": name])
      lags.add(main.merges.lags, ["store": name, "context": "main"])
      // The queue has no standing queries.
      if name != Self.queueStoreName { lags.add(main.feedMerges.lags, ["store": name, "context": "watch"]) }
    }
    var busy = MetricFamily(
      .counter, "lade_main_queue_busy_seconds_total",
      "How long contexts of the main queue have worked there, since this daemon's start.")
    busy.add(MainQueueTurn.total / .seconds(1))
    return [saves, lags, objects, busy]
  }
}
