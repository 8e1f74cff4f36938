/// Computes the terminal output (ECMA-48) that turns one screen into the next: only the lines that changed. Only produces text.
struct ScreenPainter: Sendable {
  private var shown: [String] = []

  /// The text that replaces the current screen with these lines.
  /// - Parameter lines: no wider and no more than the screen.
  mutating func paint(_ lines: [String]) -> String {
    var text = ""
    for row in 0..<max(lines.count, shown.count) {
      let line = lines.indices.contains(row) ? lines[row] : ""
      guard !shown.indices.contains(row) || shown[row] != line else { continue }
      // Erase first: after a line as wide as the screen, erasing to its end would remove its last character.
      text += "\u{1B}[\(row + 1);1H\u{1B}[2K" + line
    }
    shown = lines
    return text
  }

  /// Forgets the current screen, which may have been overwritten.
  mutating func startAnew() -> String {
    shown = []
    return "\u{1B}[2J"
  }
}
