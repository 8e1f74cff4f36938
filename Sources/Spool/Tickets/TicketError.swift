/// Why a ticket can't be understood. Lines and columns count from 1.
package enum TicketError: Error, Equatable, CustomStringConvertible {
  /// It has more than `Ticket.longest` bytes.
  case tooLarge(bytes: Int64, limit: Int)
  /// It isn't UTF-8.
  case notText
  /// There is nothing in it, or only comments.
  case empty
  /// Neither YAML nor JSON. The position is nil where the parser doesn't know it.
  case notYAML(line: Int?, column: Int?, problem: String)
  /// It is a list or a single value.
  case notAMapping(line: Int, column: Int)
  /// An anchor (`&name`), an alias (`*name`) or a tag (`!name`).
  case notAllowed(what: String, line: Int, column: Int)
  /// A key is there twice.
  case duplicateKey(String, line: Int)
  /// A key that no ticket has, and the one that was probably meant.
  case unknownKey(String, line: Int, nearest: String?, known: [String])
  /// A number where a text must be, and the like.
  case wrongType(key: String, expected: String, found: String, line: Int, column: Int)
  /// A value of the right type that can't be.
  case wrongValue(key: String, value: String, problem: String, line: Int, column: Int)

  /// What happened, in which line, and what to do.
  package var description: String {
    switch self {
    case .tooLarge(let bytes, let limit):
      "The ticket has \(bytes) bytes; at most \(limit) are read. Put the data into a file and name it as `source`."
    case .notText:
      "The ticket is not UTF-8 text. Write it as YAML or JSON; a data file needs a ticket of its own that names it."
    case .empty:
      "The ticket is empty. Write `store:`, `entity:` and `source:`, one a line."
    case .notYAML(let line, let column, let problem):
      "\(TicketError.position(line, column))The ticket is neither YAML nor JSON: \(problem). Correct it and submit it again."
    case .notAMapping(let line, let column):
      "\(TicketError.position(line, column))A ticket is a mapping of keys to values, such as `store: shop`, one a line."
    case .notAllowed(let what, let line, let column):
      "\(TicketError.position(line, column))A ticket has no \(what). Write the value out, or put it in quotes."
    case .duplicateKey(let key, let line):
      "\(TicketError.position(line, nil))`\(key)` is there twice. Remove one."
    case .unknownKey(let key, let line, let nearest, let known):
      "\(TicketError.position(line, nil))A ticket has no `\(key)`."
        + (nearest.map { " Did you mean `\($0)`?" } ?? " It may have: \(known.joined(separator: ", ")).")
    case .wrongType(let key, let expected, let found, let line, let column):
      "\(TicketError.position(line, column))`\(key)` must be \(expected), and is \(found)."
    case .wrongValue(let key, let value, let problem, let line, let column):
      "\(TicketError.position(line, column))`\(key)` can't be “\(value)”: \(problem)\(problem.hasSuffix("?") ? "" : ".")"
    }
  }

  private static func position(_ line: Int?, _ column: Int?) -> String {
    guard let line else { return "" }
    return column.map { "Line \(line), column \($0): " } ?? "Line \(line): "
  }
}
