import ControlAPI

/// A job's speed, computed from its reports. Newer reports weigh more: the weight halves every `memory` seconds.
struct RateMeter: Sendable {
  struct Speed: Sendable, Hashable {
    var bytesPerSecond: Double
    var recordsPerSecond: Double
  }

  /// Nil until two reports are far enough apart.
  private(set) var speed: Speed?

  private let memory: Double
  private var last: (time: Double, bytes: Int64, records: Int64)?

  init(memory: Double = 2) {
    self.memory = memory
  }

  /// Adds a report.
  /// - Parameter time: seconds since any fixed moment.
  mutating func note(_ progress: JobProgress, at time: Double) {
    guard let last, progress.bytesDone >= last.bytes, progress.records >= last.records else {
      // The first report, or a new attempt that starts over.
      last = (time, progress.bytesDone, progress.records)
      speed = nil
      return
    }
    let elapsed = time - last.time
    guard elapsed >= 0.05 else { return }
    let now = Speed(
      bytesPerSecond: Double(progress.bytesDone - last.bytes) / elapsed,
      recordsPerSecond: Double(progress.records - last.records) / elapsed)
    self.last = (time, progress.bytesDone, progress.records)
    guard let before = speed else {
      speed = now
      return
    }
    // `memory` is the half-life of old reports.
    var kept = 1.0
    var rest = elapsed
    while rest >= memory {
      kept /= 2
      rest -= memory
    }
    kept *= 1 - rest / memory / 2
    speed = Speed(
      bytesPerSecond: before.bytesPerSecond * kept + now.bytesPerSecond * (1 - kept),
      recordsPerSecond: before.recordsPerSecond * kept + now.recordsPerSecond * (1 - kept))
  }

  /// Seconds until all bytes, or else all records, are done at this speed; nil if unknown.
  func remaining(_ progress: JobProgress) -> Double? {
    guard let speed else { return nil }
    let (left, rate) =
      progress.bytesTotal > 0
      ? (progress.bytesTotal - progress.bytesDone, speed.bytesPerSecond)
      : (progress.recordsTotal - progress.records, speed.recordsPerSecond)
    return left > 0 && rate > 0 ? Double(left) / rate : nil
  }
}
