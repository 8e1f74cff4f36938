package import Foundation
package import LadeTypes
import Logging
import Synchronization

/// What happened to an entry, as a log line names it under `event`. The words never change: programs that read the log use
/// them.
package enum SpoolLogEvent: String, Sendable, CaseIterable {
  case refused = "entry-refused"
  case failed = "entry-failed"
  case setOverdue = "set-overdue"
}

/// What the intake has done since it was created, for status displays and metrics.
package struct SpoolStatus: Sendable, Equatable {
  /// Entries that became jobs.
  package var taken = 0
  /// Entries that went to `corrupt/`.
  package var refused = 0
  /// Errors that weren't the submitter's fault. Each try counts.
  package var failures = 0
  /// The last of those, with its place.
  package var lastFailure: String?
  /// How often the kernel lost events. A scan makes up for each loss.
  package var overflows = 0
  /// How many entries the last scan left to wait for a writer, a source or time.
  package var waiting = 0
  /// When everything was last scanned.
  package var lastRescan: Date?

  /// How many sets are shown.
  static let shownSets = 100
  /// Sets of files that aren't complete, the first of them.
  package var sets: [WaitingSet] = []
  /// How many there are.
  package var waitingSets = 0
  /// How many of them have waited for longer than they may.
  package var overdueSets = 0
  /// ``sets``; nil if there is none.
  package var waitingSetsOrNone: [WaitingSet]? { sets.isEmpty ? nil : sets }

  /// Why no entry can be taken at present; nil while entries are taken.
  package var obstacle: String?
  /// Why the kernel delivers no events, so that only a scan finds new entries; nil while it does.
  package var eventTrouble: String?

  /// Nothing done yet.
  package init() {}
}

/// The intake's current status, readable from any thread.
final class SharedSpoolStatus: Sendable {
  private let status = Mutex(SpoolStatus())

  var current: SpoolStatus { status.withLock { $0 } }

  func update(_ body: (inout SpoolStatus) -> Void) { status.withLock { body(&$0) } }
}

/// The intake's log and counters. A failure is logged when it is new and when it ends, not at every retry.
///
/// Not `Sendable`: it is confined to the intake's queue. The status is shared.
final class IntakeReport {
  /// The place of failures that concern every entry.
  private static let everywhere = "*"

  private let logger: Logger
  private let schedule: ScanSchedule
  private let shared: SharedSpoolStatus
  private var retryDelay: Int64
  private var failures = FailureLog()

  /// - Parameter retryDelay: how long after a failure the intake scans again, in nanoseconds.
  init(logger: Logger, schedule: ScanSchedule, status: SharedSpoolStatus, retryDelay: Int64) {
    self.logger = logger
    self.schedule = schedule
    shared = status
    self.retryDelay = retryDelay
  }

  var status: SpoolStatus { shared.current }

  func update(_ body: (inout SpoolStatus) -> Void) { shared.update(body) }

  func retry(after nanoseconds: Int64) { retryDelay = nanoseconds }

  func info(_ message: String, entry: String, job: Int64? = nil) {
    var metadata: Logger.Metadata = ["entry": "\(entry)"]
    if let job { metadata["job"] = "\(job)" }
    logger.info("\(message)", metadata: metadata)
  }

  /// Counts and logs an entry that went to `corrupt/`.
  func refused(_ refusal: SpoolRefusal, entry: String, keptAs name: String) {
    shared.update { $0.refused += 1 }
    succeeded(entry, "corrupt/")
    logger.notice(
      "spool: refused: \(refusal)",
      metadata: [
        "entry": "\(entry)", "kept": "corrupt/\(name)", "code": "\(refusal.code)",
        "event": "\(SpoolLogEvent.refused.rawValue)",
      ])
  }

  /// Logs a set that has waited for longer than it may.
  func overdue(_ set: WaitingSet) {
    logger.warning(
      "spool: a set of recipe \(set.recipe) isn't complete: \(set.missing.joined(separator: ", ")) missing since \(set.since.formatted(.iso8601))",
      metadata: [
        "recipe": "\(set.recipe)", "entry": "\(set.key)", "event": "\(SpoolLogEvent.setOverdue.rawValue)",
      ])
  }

  /// Logs a file that has waited in `incoming/` itself for a ticket.
  func ticketless(_ entry: String, recipes: [String]) {
    let names = recipes.prefix(5).joined(separator: ", ") + (recipes.count > 5 ? ", …" : "")
    let folder = recipes.isEmpty ? "" : "move it into the folder of a recipe (\(names)), or "
    logger.notice(
      "spool: a file lies in incoming/ itself, and no ticket names it: \(folder)hand in a ticket",
      metadata: ["entry": "\(entry)"])
  }

  /// Logs that a job's file disappeared while the daemon was down.
  func sourceLost(_ source: String, job: Int64) {
    logger.error(
      "job \(job): the daemon stopped during the hand-over of its file, and the file is gone",
      metadata: ["job": "\(job)", "source": "\(source)"])
  }

  /// Counts a failure, logs it if it is new, and schedules a retry.
  /// - Returns: whether it makes sense to continue with other entries.
  @discardableResult
  func failed(_ error: any Error, at place: String) -> Bool {
    let failure = error as? SpoolError
    let concernsAll = failure?.concernsAll ?? false
    shared.update { status in
      status.failures += 1
      status.lastFailure = "\(place): \(error)"
      if concernsAll { status.obstacle = "\(error)" }
    }
    schedule.scan(after: max(retryDelay, 1_000_000))
    // What differs from try to try (a byte count, say) doesn't make a failure a new one.
    let (key, text) =
      switch failure {
      case .corruptIsFull: ("corrupt/", "full")
      case .noRoom: (place, "no room")
      case .system(_, _, let code) where concernsAll: (Self.everywhere, "\(code)")
      default: (place, "\(error)")
      }
    switch failures.note(text, at: key) {
    case .new:
      logger.error(
        "spool: \(error) The daemon tries again.",
        metadata: ["entry": "\(place)", "event": "\(SpoolLogEvent.failed.rawValue)"])
    case .tooMany: logger.error("spool: more than \(FailureLog.limit) entries fail; further ones aren't logged")
    case .old: logger.debug("spool: \(error)", metadata: ["entry": "\(place)"])
    }
    return !concernsAll
  }

  /// Records a failure that stops every entry, such as an unreadable spool.
  func scanFailed(_ error: any Error, at place: String) {
    failed(error, at: place)
    shared.update { $0.obstacle = "\(error)" }
  }

  /// Logs once that a folder of several hosts isn't there, and once that it is.
  func shared(_ folder: String, obstacle: String?) {
    // Beside failures to watch it, which are about the same folder.
    let place = "shared " + folder
    guard let obstacle else { return succeeded(place) }
    guard failures.note(obstacle, at: place) == .new else { return }
    logger.error(
      "spool: \(obstacle) No file is taken until it is.",
      metadata: ["entry": "\(folder)", "event": "\(SpoolLogEvent.failed.rawValue)"])
  }

  /// Logs the end of a failure, if something had failed at one of the places.
  func succeeded(_ places: String...) {
    guard let first = places.first else { return }
    var isOver = false
    for place in places where failures.succeeded(at: place) { isOver = true }
    if isOver { logger.notice("spool: recovered", metadata: ["entry": "\(first)"]) }
  }

  /// Logs the end of failures that concern `active/` or every entry.
  func handOverSucceeded(root: String) {
    let isOver = failures.succeeded(at: "active/")
    if failures.succeeded(at: Self.everywhere) || isOver {
      logger.notice("spool: recovered", metadata: ["entry": "\(root)"])
    }
  }

  /// The kernel delivers no events, of one directory or at all.
  func eventsUnavailable(_ error: any Error, at directory: String?, interval: Duration) {
    shared.update { $0.eventTrouble = "\(error)" }
    guard let directory else {
      logger.warning("spool: no events; entries are found by a scan every \(interval): \(error)")
      return
    }
    guard failures.note("\(error)", at: directory) != .old else { return }
    logger.warning(
      "spool: no events; entries are found by a scan every \(interval): \(error)",
      metadata: ["directory": "\(directory)"])
  }

  func eventsLost() {
    logger.notice("spool: the kernel lost events; scanning everything")
    shared.update { $0.overflows += 1 }
  }

  func beginScan() {
    shared.update { $0.waiting = 0 }
    failures.beginPass()
  }

  /// Ends a scan. If it saw everything, failures that it didn't meet again are over.
  func endScan(isComplete: Bool, obstacle: String?) {
    if isComplete { failures.endPass() }
    shared.update { status in
      status.lastRescan = Date.now
      status.obstacle = obstacle
    }
  }
}

/// The failures that persist, so that each is logged once and not at every retry, and so is its end. Bounded: of further
/// failures only their existence is known.
struct FailureLog {
  private struct Failure {
    var text: String
    var pass: Int
  }

  static let limit = 256
  private var failures: [String: Failure] = [:]
  private var pass = 0
  private var isFull = false

  enum News: Equatable {
    /// Not logged yet.
    case new
    /// The first for which there is no room. Neither it nor those that follow are logged.
    case tooMany
    case old
  }

  /// Notes a failure of something at a place.
  mutating func note(_ text: String, at place: String) -> News {
    if let known = failures[place] {
      failures[place]?.pass = pass
      failures[place]?.text = text
      return known.text == text ? .old : .new
    }
    guard failures.count < FailureLog.limit else {
      defer { isFull = true }
      return isFull ? .old : .tooMany
    }
    failures[place] = Failure(text: text, pass: pass)
    return .new
  }

  /// Whether something that had failed at a place has now succeeded.
  mutating func succeeded(at place: String) -> Bool {
    failures.isEmpty ? false : failures.removeValue(forKey: place) != nil
  }

  /// Begins a scan of everything.
  mutating func beginPass() { pass += 1 }

  /// Ends a scan that saw everything. What didn't fail in it no longer exists.
  mutating func endPass() {
    guard !failures.isEmpty else { return }
    failures = failures.filter { $0.value.pass == pass }
    if failures.count < FailureLog.limit { isFull = false }
  }
}
