/// Rejects of a fixed-width source: its lines as they were, each after one with the reason, which begins with `#lade`.
/// A first line of that kind tells the reader that such lines are no records.
struct FixedWidthRejects: RejectForm {
  /// Lines that the options say are before the records.
  let skippedLines: Int

  var opening: [UInt8] {
    [UInt8](repeating: UInt8(ascii: "\n"), count: skippedLines) + Array("\(RejectReason.fixedWidthTitle)\n".utf8)
  }

  func record(_ rejection: Rejection) -> [UInt8] {
    var lines = Array("\(RejectReason.fixedWidthMark) \(RejectReason.attributes(rejection))\n".utf8)
    // Of a line that was too long there is only the beginning: it would pass for a record.
    if !rejection.isSelfContained { lines += Array("\(RejectReason.fixedWidthMark) ".utf8) }
    // A zero byte would make the whole file look like no text; a byte for a byte, so that columns stay where they are.
    return lines + rejection.raw.map { $0 == 0 ? UInt8(ascii: "?") : $0 } + [UInt8(ascii: "\n")]
  }
}
