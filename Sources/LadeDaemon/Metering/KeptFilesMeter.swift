import ControlServer
import Dispatch
import Foundation
import Spool
import Synchronization

/// The first count of the kept files takes so long that their metrics are missing.
struct KeptFilesUncounted: Error, CustomStringConvertible {
  let time: Duration

  var description: String {
    "the files in done/ and corrupt/ are counted for the first time, and that takes longer than \(time.components.seconds) s"
  }
}

/// Measures what `done/` and `corrupt/` hold. Every file is looked at, which can take minutes, so this is done in the background
/// when somebody asks, at most once in a while, and who asks gets the latest measurement. Safe from any thread.
final class KeptFilesMeter: Sendable {
  private struct State {
    var latest: (uses: [String: SpoolUse], time: Date)?
    /// The error of the latest measurement.
    var error: (any Error)?
    /// When the measurement under way began.
    var begin: ContinuousClock.Instant?
    /// When the next measurement may begin.
    var next = ContinuousClock.now
  }

  /// A measurement is followed by a pause of a hundred times its duration, at least.
  private static let shareOfTime = 100

  private let measure: @Sendable () throws -> [String: SpoolUse]
  private let pause: Duration
  private let patience: Duration
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "laded.kept", qos: .utility)

  /// - Parameters:
  ///   - pause: the shortest time between two measurements.
  ///   - patience: how long the first measurement may take without being an error.
  ///   - measure: looks at all files. Blocks.
  init(
    pause: Duration = .seconds(60), patience: Duration = .seconds(300),
    measure: @escaping @Sendable () throws -> [String: SpoolUse]
  ) {
    self.pause = pause
    self.patience = patience
    self.measure = measure
  }

  convenience init(_ directories: SpoolDirectories) { self.init { try directories.keptUse() } }

  /// The latest measurement as metrics, without samples before the first, and the error if the latest try failed or the first
  /// takes too long. Begins another in the background if it is time for one; never waits.
  func families() -> (families: [MetricFamily], error: (any Error)?) {
    let (latest, error, begins) = state.withLock { state in
      let now = ContinuousClock.now
      var error = state.error
      if let begin = state.begin, state.latest == nil, error == nil, begin + patience <= now {
        error = KeptFilesUncounted(time: patience)
      }
      let begins = state.begin == nil && state.next <= now
      if begins { state.begin = now }
      return (state.latest, error, begins)
    }
    if begins { queue.async { self.renew() } }
    var bytes = MetricFamily(
      .gauge, "lade_spool_kept_bytes", "The space that the files in done/ and corrupt/ take on disk.")
    var files = MetricFamily(.gauge, "lade_spool_kept_files", "The files in done/ and corrupt/.")
    var time = MetricFamily(
      .gauge, "lade_spool_kept_measured_timestamp_seconds",
      "When the files in done/ and corrupt/ were last counted, in seconds since 1970.")
    if let latest {
      time.add(latest.time.timeIntervalSince1970)
      for (directory, use) in latest.uses.sorted(by: { $0.key < $1.key }) {
        bytes.add(use.bytes, ["directory": directory])
        files.add(use.files, ["directory": directory])
      }
    }
    return ([bytes, files, time], error)
  }

  private func renew() {
    let begin = ContinuousClock.now
    let result = Result { try measure() }
    let end = ContinuousClock.now
    state.withLock { state in
      switch result {
      case .success(let uses):
        state.latest = (uses, Date())
        state.error = nil
      case .failure(let error): state.error = error
      }
      state.next = end + max(pause, begin.duration(to: end) * Self.shareOfTime)
      state.begin = nil
    }
  }
}
