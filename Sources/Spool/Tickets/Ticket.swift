package import LadeTypes

/// The content of a `NAME.job` file in `incoming/`:
///
///     kind: import            # the default
///     store: shop
///     entity: Customer
///     source: customers.csv   # a file beside the ticket, or an absolute path under an allowed folder
///     files: [a.csv, b.csv]   # or several files beside it, which are a set
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
/// The recipe or the configuration decides what a ticket leaves out.
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

  /// The job, without its source.
  package var submission = JobSubmission()
  /// Where the data file is; nil for jobs that need none.
  package var source: Source?
  /// The names of files beside it, which are imported as a set; none for a ticket with a source.
  package var files: [String] = []

  /// A ticket that asks for an import of nothing: to be filled in.
  package init() {}
}
