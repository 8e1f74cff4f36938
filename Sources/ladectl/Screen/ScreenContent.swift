/// What fills the screen, and changes.
protocol ScreenContent: Sendable {
  /// Something that makes another picture.
  associatedtype Change: Sendable

  /// Takes a change in, and says when the picture is to be drawn again.
  /// - Parameter time: seconds from any fixed moment on.
  mutating func take(_ change: Change, at time: Double) -> ScreenUrgency

  /// The picture, the first line at the top: no line wider than the columns, no more of them than rows.
  func lines(columns: Int, rows: Int) -> [String]
}

/// When a picture is to be drawn again.
enum ScreenUrgency: Sendable {
  case now
  /// Within the tenth of a second in which others may follow.
  case soon
  /// Never: this was the end.
  case end
}
