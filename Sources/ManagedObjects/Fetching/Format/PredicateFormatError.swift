/// A syntax error in a predicate format, with its position.
public struct PredicateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Sendable, Hashable {
    /// Something else was expected there.
    case expected(String, found: String)
    /// A construct of Core Data's language that isn't supported.
    case unsupported(String)
    /// A token that is malformed.
    case malformed(String)
    /// A missing or extra argument, or one of a type that its placeholder doesn't take.
    case argument(String)
  }

  /// What is wrong.
  public let problem: Problem
  /// The format string.
  public let format: String
  /// The offset of the error in characters.
  public let offset: Int

  /// An error at `offset` characters into `format`.
  public init(_ problem: Problem, format: String, offset: Int) {
    self.problem = problem
    self.format = format
    self.offset = offset
  }

  init(_ problem: Problem, format: String, scalarOffset: Int) {
    let before = String(String.UnicodeScalarView(format.unicodeScalars.prefix(scalarOffset)))
    self.init(problem, format: format, offset: before.count)
  }

  /// The column of the error in characters, from 1.
  public var column: Int { offset + 1 }

  /// The error in one line, without its position.
  public var reason: String {
    switch problem {
    case .expected(let what, let found): return "expected \(what), found \(found)"
    case .unsupported(let part): return "\(part) isn't supported"
    case .malformed(let what), .argument(let what): return what
    }
  }

  /// How many characters are shown before and after the error's place.
  private static let shown = (before: 100, after: 60)

  /// Three lines: the reason with its column, the format, and a caret below the column. Of a long format, what is around the
  /// column.
  public var description: String {
    let rest = format.dropFirst(max(0, offset - Self.shown.before))
    let part = rest.prefix(min(offset, Self.shown.before) + Self.shown.after)
    let (start, end) = (part.startIndex == format.startIndex ? "" : "…", part.endIndex == format.endIndex ? "" : "…")
    let line = start + part.map { $0.isNewline || $0 == "\t" ? " " : String($0) }.joined() + end
    let indent = String(repeating: " ", count: min(offset, Self.shown.before) + start.count)
    return "predicate, column \(column): \(reason)\n  \(line)\n  \(indent)^"
  }
}
