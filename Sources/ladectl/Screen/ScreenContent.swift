/// The changing content of a screen.
protocol ScreenContent: Sendable {
  /// A change of the content.
  associatedtype Change: Sendable

  /// Applies a change, and returns when to redraw.
  /// - Parameter time: seconds since any fixed moment.
  mutating func take(_ change: Change, at time: Double) -> ScreenUrgency

  /// The lines from top to bottom, within the given columns and rows.
  func lines(columns: Int, rows: Int) -> [String]
}

/// When to redraw.
enum ScreenUrgency: Sendable {
  case now
  /// Within a tenth of a second, so that further changes are drawn together.
  case soon
  /// Never: the content has ended.
  case end
}
