import ControlServer
import Spool

/// Measures what `done/` and `corrupt/` hold. Every file is looked at, which can take minutes. Safe from any thread.
final class KeptFilesMeter: Sendable {
  private let measurement: BackgroundMeasurement<[String: SpoolUse]>

  /// - Parameters:
  ///   - pause: the shortest time between two measurements.
  ///   - patience: how long the first measurement may take without being an error.
  ///   - measure: looks at all files. Blocks.
  init(
    pause: Duration = .seconds(60), patience: Duration = .seconds(300),
    measure: @escaping @Sendable () throws -> [String: SpoolUse]
  ) {
    measurement = BackgroundMeasurement(
      of: "the files in done/ and corrupt/", .init(pause: pause, share: 100, patience: patience, takesTime: true),
      measure: measure)
  }

  convenience init(_ directories: SpoolDirectories) { self.init { try directories.keptUse() } }

  /// The latest measurement as metrics, without samples before the first, and the error if the latest try failed or the first
  /// takes too long. Begins another in the background if it is time for one; never waits.
  func families() -> (families: [MetricFamily], error: (any Error)?) {
    let reading = measurement.reading()
    var bytes = MetricFamily(
      .gauge, "lade_spool_kept_bytes", "The space that the files in done/ and corrupt/ take on disk.")
    var files = MetricFamily(.gauge, "lade_spool_kept_files", "The files in done/ and corrupt/.")
    var time = MetricFamily(
      .gauge, "lade_spool_kept_measured_timestamp_seconds",
      "When the files in done/ and corrupt/ were last counted, in seconds since 1970.")
    if let latest = reading.latest {
      time.add(latest.time.timeIntervalSince1970)
      for (directory, use) in latest.value.sorted(by: { $0.key < $1.key }) {
        bytes.add(use.bytes, ["directory": directory])
        files.add(use.files, ["directory": directory])
      }
    }
    return ([bytes, files, time], reading.error)
  }
}
