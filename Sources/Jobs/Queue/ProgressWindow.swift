import Foundation

/// The latest reports of a running job, from which its current rate follows. A value, kept by ``RunningJobs``.
struct ProgressWindow {
  /// Seconds that a rate is measured over, and how far apart the reports are that are kept.
  private static let (length, grain): (TimeInterval, TimeInterval) = (10, 0.5)
  /// A rate over less time says little.
  private static let shortest: TimeInterval = 1

  private struct Report {
    let time: Date
    let records, bytes: Int64
  }

  /// Oldest first, at most one of them older than ``length``.
  private var reports: [Report] = []
  private var latest: Report?

  /// An operation has reported how far it is. One that says less than before has begun again.
  mutating func note(_ progress: JobProgress, at time: Date) {
    let report = Report(time: time, records: progress.records, bytes: progress.bytesDone)
    if let latest, report.records < latest.records || report.bytes < latest.bytes || time < latest.time { reports = [] }
    latest = report
    if let last = reports.last, time.timeIntervalSince(last.time) < Self.grain { return }
    reports.append(report)
    while reports.count > 1, time.timeIntervalSince(reports[1].time) >= Self.length { reports.removeFirst() }
  }

  /// The rate, which falls while nothing is reported; nil until it can be told.
  func rate(of progress: JobProgress, at now: Date) -> CurrentRate? {
    guard let latest else { return nil }
    let first = reports.last { now.timeIntervalSince($0.time) >= Self.length } ?? reports.first
    guard let first, case let seconds = now.timeIntervalSince(first.time), seconds >= Self.shortest else { return nil }
    let records = Double(latest.records - first.records) / seconds
    let bytes = Double(latest.bytes - first.bytes) / seconds
    let (left, speed) =
      progress.bytesTotal > 0
      ? (progress.bytesTotal - progress.bytesDone, bytes) : (progress.recordsTotal - progress.records, records)
    return CurrentRate(
      seconds: seconds, records: records, bytes: bytes, secondsLeft: left > 0 && speed > 0 ? Double(left) / speed : nil)
  }
}
