import ControlServer
import ManagedObjects

/// Measures the files of the stores. A disk that hangs keeps those metrics old, and holds up none of the others. Safe from any
/// thread.
final class StoreSizesMeter: Sendable {
  typealias Sizes = [(store: String, sizes: StoreSizes)]

  private let measurement: BackgroundMeasurement<Sizes>

  /// - Parameters:
  ///   - patience: how long a measurement may take without being an error.
  ///   - measure: looks at the files. May block.
  init(patience: Duration = .seconds(10), measure: @escaping @Sendable () -> Sizes) {
    measurement = BackgroundMeasurement(of: "the sizes of stores", .init(patience: patience), measure: measure)
  }

  /// The sizes as metrics, as they are now or, if the disk doesn't answer within a time, as they were; and the error when that
  /// lasts.
  func families(
    within time: Duration = .milliseconds(200)
  ) async -> (families: [MetricFamily], error: (any Error)?) {
    let reading = await measurement.reading(within: time)
    var sizes = MetricFamily(
      .gauge, "lade_store_size_bytes", "The sizes of the stores' files; queue.sqlite is the queue.")
    var logs = MetricFamily(
      .gauge, "lade_store_wal_size_bytes", "The sizes of the stores' write-ahead logs; queue.sqlite is the queue.")
    for (store, size) in reading.latest?.value ?? [] {
      sizes.add(size.content, ["store": store])
      logs.add(size.log, ["store": store])
    }
    return ([sizes, logs], reading.error)
  }
}
