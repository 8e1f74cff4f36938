package import Foundation

/// What somebody asks for in a `NAME.job` file in `incoming/`:
///
///     kind: import            # the default
///     store: shop
///     entity: Customer
///     source: customers.csv   # a file beside the ticket, or an absolute path under an allowed folder
///     mode: upsert            # or insert
///     lane: import
///     priority: 10            # higher goes first; 0 if not given
///     not_before: 2026-03-01T04:00:00+01:00
///     unique_key: customers-2026-03-01
///     max_attempts: 3
///     options: {delimiter: ";", header: true, skip: 2, null_values: ["", "NULL"]}
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
    case insert, upsert
  }

  package var kind = "import"
  package var store: String?
  package var entity: String?
  package var source: Source?
  package var mode: Mode?
  package var lane: String?
  /// Higher goes first.
  package var priority = 0
  package var notBefore: Date?
  package var uniqueKey: String?
  /// At least 1.
  package var maxAttempts: Int?
  package var options: [String: TicketValue] = [:]

  /// A ticket that asks for an import of nothing: to be filled in.
  package init() {}
}
