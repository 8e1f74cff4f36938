/// The last lines of the terminal, drawn over again and again, with lines above them that stay.
///
/// It only makes the text: ECMA-48's cursor-up and erase-to-the-end, then lines. No line of the region may be wider
/// than the terminal, or the counting would be wrong; those that stay may.
struct LiveRegion: Sendable {
  private var drawn = 0

  /// The text that takes away what was drawn, adds lines that stay, and draws the region anew.
  mutating func redraw(staying: [String] = [], live: [String]) -> String {
    var text = drawn > 0 ? "\u{1B}[\(drawn)A\r\u{1B}[J" : ""
    for line in staying + live { text += line + "\n" }
    drawn = live.count
    return text
  }
}
