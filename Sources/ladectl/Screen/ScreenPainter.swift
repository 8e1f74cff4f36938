/// Turns one picture of the whole screen after the other into what the terminal has to be told (ECMA-48): the lines that
/// changed, each at its place. Makes text only.
struct ScreenPainter: Sendable {
  private var shown: [String] = []

  /// The text that shows these lines, the first one at the top, in place of what was shown before.
  /// - Parameter lines: none wider than the screen, and no more than it has rows.
  mutating func paint(_ lines: [String]) -> String {
    var text = ""
    for row in 0..<max(lines.count, shown.count) {
      let line = lines.indices.contains(row) ? lines[row] : ""
      guard !shown.indices.contains(row) || shown[row] != line else { continue }
      // Erased first: after a line that is as wide as the screen, erasing to its end would take its last character.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line
    }
    shown = lines
    return text
  }

  /// Forgets what was shown, for the screen may show something else.
  mutating func startAnew() -> String {
    shown = []
    return "\u{1B}[2J"
  }
}
