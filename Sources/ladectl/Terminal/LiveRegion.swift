/// The last lines of the terminal, redrawn in place, below lines that stay.
///
/// It only produces text: ECMA-48's cursor-up and erase-to-end, then lines. No line of the region may be wider than the
/// terminal, or the line count would be wrong; permanent lines may.
struct LiveRegion: Sendable {
  private var drawn = 0

  /// The text that erases the region, adds permanent lines, and redraws the region.
  mutating func redraw(staying: [String] = [], live: [String]) -> String {
    var text = drawn > 0 ? "\u{1B}[\(drawn)A\r\u{1B}[J" : ""
    for line in staying + live { text += line + "\n" }
    drawn = live.count
    return text
  }
}
