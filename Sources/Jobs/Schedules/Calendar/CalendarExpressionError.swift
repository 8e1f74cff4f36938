/// Why a text is no calendar expression.
package struct CalendarExpressionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where, in characters from 1.
  package let column: Int
  /// What is wrong there, and what was expected.
  package let problem: String

  package var description: String { "column \(column): \(problem)" }
}
