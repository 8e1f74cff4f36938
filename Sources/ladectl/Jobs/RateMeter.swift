import ControlAPI

/// How fast a job goes, from what it reported and when. Newer reports weigh more: after `memory` seconds, half is
/// forgotten.
struct RateMeter: Sendable {
  struct Speed: Sendable, Hashable {
    var bytesPerSecond: Double
    var recordsPerSecond: Double
  }

  /// Nil until two reports are far enough apart to tell.
  private(set) var speed: Speed?

  private let memory: Double
  private var last: (time: Double, bytes: Int64, records: Int64)?

  init(memory: Double = 2) {
    self.memory = memory
  }

  /// Takes in a report.
  /// - Parameter time: seconds from any fixed moment on.
  mutating func note(_ progress: JobProgress, at time: Double) {
    guard let last, progress.bytesDone >= last.bytes, progress.records >= last.records else {
      // The first report, or a new attempt that begins again.
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
    // The half-life: what `memory` seconds leave of the old is one half.
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

  /// Seconds until the input is read, at this speed; nil when that can't be said.
  func remaining(_ progress: JobProgress) -> Double? {
    guard let speed, speed.bytesPerSecond > 0, progress.bytesTotal > progress.bytesDone else { return nil }
    return Double(progress.bytesTotal - progress.bytesDone) / speed.bytesPerSecond
  }
}
