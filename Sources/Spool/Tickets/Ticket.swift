package import Foundation

/// What somebody asks for in a `NAME.job` file in `incoming/`:
///
///     kind: import            # the default
///     store: shop
///     entity: Customer
///     source: customers.csv   # a file beside the ticket, or an absolute path under an allowed folder
///     mode: upsert            # or insert, update, replace, synchronise
///     lane: import
///     priority: 10            # higher goes first; 0 if not given
///     not_before: 2026-03-01T04:00:00+01:00
///     unique_key: customers-2026-03-01
///     max_attempts: 3
///     unique_period: 1d
///     unique_states: [available, running]
///     after: [12, {job: 13, condition: ended}]
///     timeout: 2h             # of an attempt
///     deadline: 2026-03-02T00:00:00Z
///     tags: [monthly, customers]
///     batch: 7
///     held: true
///     options: {delimiter: ";", skip_lines: 2, nulls: ["", "NULL"], properties: {born: {date_format: dd.MM.yyyy}}}
///
/// Nil means that the ticket doesn't say, and that whoever takes it decides.
package struct Ticket: Sendable, Equatable {
  /// A ticket longer than this many bytes is refused.
  package static let longest = 64 * 1024

  /// Where a ticket's file is.
  package enum Source: Sendable, Equatable {
    /// A name in the ticket's own directory, checked: no slash, no dot at the start.
    case beside(String)
    /// An absolute path without `.` and `..`. That it is under an allowed folder is found out by the intake.
    case absolute(String)

    /// The file's own name.
    package var fileName: String {
      switch self {
      case .beside(let name): name
      case .absolute(let path): path.split(separator: "/").last.map(String.init) ?? path
      }
    }
  }

  /// What to do with a row whose key is there already.
  package enum Mode: String, Sendable, Equatable, CaseIterable {
    case insert, upsert, update, replace, synchronise
  }

  /// The states of a job.
  package enum State: String, Sendable, CaseIterable {
    case scheduled, available, running, retryable, completed, cancelled, discarded
  }

  /// What kind of job it is.
  package var kind = "import"
  /// The store to work on.
  package var store: String?
  /// The entity whose objects the rows become.
  package var entity: String?
  /// Where the data file is; nil for jobs that need none.
  package var source: Source?
  /// What to do with rows that are there already.
  package var mode: Mode?
  /// The lane to queue in.
  package var lane: String?
  /// Higher goes first.
  package var priority = 0
  /// The job isn't run earlier.
  package var notBefore: Date?
  /// Jobs of the same key are one.
  package var uniqueKey: String?
  /// How often the job is tried before it is given up; at least 1.
  package var maxAttempts: Int?
  /// The jobs after which it runs.
  package var after: [TicketDependency] = []
  /// How long an attempt may take, in seconds.
  package var timeout: TimeInterval?
  /// By when it has to have ended.
  package var deadline: Date?
  /// Words to find it by, each once and without `|`.
  package var tags: [String] = []
  /// The batch that it is one of.
  package var batch: Int64?
  /// Whether it waits until somebody releases it.
  package var isHeld = false
  /// How long ago another job of the same key may have been submitted to count, in seconds; nil for any time.
  package var uniquePeriod: TimeInterval?
  /// In which states another job of the same key counts; nil for all in which it hasn't ended.
  package var uniqueStates: Set<State>?
  /// What the kind of job makes of it.
  package var options: [String: TicketValue] = [:]

  /// A ticket that asks for an import of nothing: to be filled in.
  package init() {}
}
