package import StrictYAML

/// Why a ticket can't be understood.
package enum TicketError: Error, Equatable, CustomStringConvertible {
  /// It has more than `Ticket.longest` bytes.
  case tooLarge(bytes: Int64, limit: Int)
  /// It isn't UTF-8.
  case notText
  /// There is nothing in it, or only comments.
  case empty
  /// Its text is wrong in one place.
  case wrong(YAMLError)

  init(_ error: YAMLError, bytes: Int) {
    self =
      switch error.problem {
      case .tooLarge(let limit): .tooLarge(bytes: Int64(bytes), limit: limit)
      case .notText: .notText
      default: .wrong(error)
      }
  }

  /// What happened, in which line, and what to do.
  package var description: String {
    switch self {
    case .tooLarge(let bytes, let limit):
      "The ticket has \(bytes) bytes; at most \(limit) are read. Put the data into a file and name it as `source`."
    case .notText:
      "The ticket is not UTF-8 text. Write it as YAML or JSON; a data file needs a ticket of its own that names it."
    case .empty:
      "The ticket is empty. Write `store:`, `entity:` and `source:`, one a line."
    case .wrong(let error): Self.sentence(of: error)
    }
  }

  private static func sentence(of error: YAMLError) -> String {
    let what = error.problem.description
    let place = error.place.map { "Line \($0.line), column \($0.column)" } ?? "The ticket"
    return "\(place): \(what)\(what.hasSuffix("?") ? "" : ".") Correct it and submit it again."
  }
}
