// What is counted of jobs is what this daemon did. An attempt that goes on where an earlier one had come, perhaps before a
// kill, says so with its first report, and only what comes after that is counted. Records are counted as they are read, so
// that an import of hours is seen to move; rows when the attempt is over, for until then they may be taken back.

import ControlServer
import Jobs
import Synchronization

/// Counts what jobs do, by kind, since this daemon's start. Safe from any thread.
final class JobMeter: Sendable {
  /// The number of kinds that are counted separately. Programs add kinds of their own, and the memory is bounded.
  private static let mostKinds = 64
  private static let others = "other"

  fileprivate struct Counts {
    var ended: [JobState: UInt64] = [:]
    var retries: UInt64 = 0
    var durations = Histogram.ofWork
    var records: Int64 = 0
    var skipped: Int64 = 0
    var rejected: Int64 = 0
    var inserted: Int64 = 0
    var updated: Int64 = 0
    var unchanged: Int64 = 0
    var deleted: Int64 = 0
  }

  /// An attempt that has said how far it is.
  private struct Attempt {
    /// Where it went on.
    let begin: JobProgress
    var latest: JobProgress
  }

  private struct State {
    var kinds: [String: Counts] = [:]
    var attempts: [Int64: Attempt] = [:]
  }

  private let state: Mutex<State>

  /// - Parameter kinds: the kinds that are listed from the beginning, with zeros.
  init(kinds: [String]) {
    let known = Dictionary(kinds.prefix(Self.mostKinds).map { ($0, Counts()) }) { first, _ in first }
    state = Mutex(State(kinds: known))
  }

  /// An operation says how far it is.
  /// - Parameter job: as it was known before.
  func note(_ progress: JobProgress, of job: Job) {
    state.withLock { state in
      // Of a job that has been at work before, this may be where it goes on.
      let isFresh = job.isFirstAttempt && job.progress.records == 0
      let begin = isFresh ? JobProgress() : progress
      var attempt = state.attempts[job.id] ?? Attempt(begin: begin, latest: begin)
      state.kinds[Self.label(job.kind, in: state), default: Counts()].add(from: attempt.latest, to: progress)
      attempt.latest = progress
      state.attempts[job.id] = attempt
    }
  }

  /// A change of a job is durable.
  /// - Parameter from: where it stood before.
  func note(_ job: Job, from: JobState?) {
    guard job.state != .running, from != job.state else { return }
    state.withLock { state in
      let kind = Self.label(job.kind, in: state)
      var counts = state.kinds[kind] ?? Counts()
      defer { state.kinds[kind] = counts }
      if job.state.isEnded { counts.ended[job.state, default: 0] += 1 }
      if job.state == .retryable { counts.retries += 1 }
      let attempt = state.attempts.removeValue(forKey: job.id)
      // Of a short job claim and end are one change.
      guard from == .running || attempt != nil || job.state == .completed else { return }
      let begin = attempt?.begin ?? (job.isFirstAttempt ? JobProgress() : job.progress)
      counts.add(from: attempt?.latest ?? begin, to: job.progress)
      counts.addRows(from: begin, to: job.progress)
      if let start = job.startedAt, let end = job.endedAt {
        counts.durations.observe(max(0, end.timeIntervalSince(start)))
      }
    }
  }

  private static func label(_ kind: String, in state: State) -> String {
    state.kinds[kind] != nil || state.kinds.count < mostKinds ? kind : others
  }

  /// All records that were read; the jobs that a job changes are none.
  var records: Int64 {
    state.withLock { $0.kinds.reduce(0) { $0 + ($1.key == ChangeOperation.kind ? 0 : $1.value.records) } }
  }

  /// What was counted.
  var families: [MetricFamily] {
    var ended = MetricFamily(
      .counter, "lade_jobs_ended_total", "Jobs that have ended, by how, since this daemon's start.")
    var retries = MetricFamily(
      .counter, "lade_job_retries_total",
      "Attempts that failed and after which the job waits to be tried again, since this daemon's start.")
    var durations = MetricFamily(
      .histogram, "lade_job_duration_seconds",
      "How long the last attempts of jobs took that have ended, whichever way, since this daemon's start.")
    var records = MetricFamily(
      .counter, "lade_records_total", "Records that jobs have read, since this daemon's start.")
    var skipped = MetricFamily(
      .counter, "lade_records_skipped_total", "Of these, what a filter passed over, since this daemon's start.")
    var rejects = MetricFamily(
      .counter, "lade_rejects_total", "Of these, what couldn't be taken in, since this daemon's start.")
    var rows = MetricFamily(
      .counter, "lade_rows_total",
      "Objects that jobs inserted, updated, found unchanged and deleted, counted when an attempt is over, since this "
        + "daemon's start; dry runs are among them.")
    for (kind, counts) in state.withLock({ $0.kinds }).sorted(by: { $0.key < $1.key }) {
      for state in JobState.allCases where state.isEnded {
        ended.add(counts.ended[state] ?? 0, ["kind": kind, "state": state.rawValue])
      }
      retries.add(counts.retries, ["kind": kind])
      // A histogram is twenty lines, and most kinds are rare.
      if counts.durations.count > 0 { durations.add(counts.durations, ["kind": kind]) }
      records.add(counts.records, ["kind": kind])
      skipped.add(counts.skipped, ["kind": kind])
      rejects.add(counts.rejected, ["kind": kind])
      rows.add(counts.inserted, ["kind": kind, "change": "inserted"])
      rows.add(counts.updated, ["kind": kind, "change": "updated"])
      rows.add(counts.unchanged, ["kind": kind, "change": "unchanged"])
      rows.add(counts.deleted, ["kind": kind, "change": "deleted"])
    }
    return [ended, retries, durations, records, skipped, rejects, rows]
  }
}

extension JobMeter.Counts {
  /// What was read between two reports. What is taken back was read all the same.
  fileprivate mutating func add(from: JobProgress, to: JobProgress) {
    records += max(0, to.records - from.records)
    skipped += max(0, to.skipped - from.skipped)
    rejected += max(0, to.rejected - from.rejected)
  }

  /// What an attempt has made of it.
  fileprivate mutating func addRows(from: JobProgress, to: JobProgress) {
    inserted += max(0, to.inserted - from.inserted)
    updated += max(0, to.updated - from.updated)
    unchanged += max(0, to.unchanged - from.unchanged)
    deleted += max(0, to.deleted - from.deleted)
  }
}

extension Job {
  fileprivate var isFirstAttempt: Bool { attempt <= 1 && rescues == 0 }
}
