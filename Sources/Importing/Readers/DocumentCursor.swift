/// A position in a JSON or XML document that is read through a window. It moves forward and counts lines.
final class DocumentCursor {
  let window: SourceWindow
  /// Line of the next byte, counted from 1.
  private(set) var line: Int64 = 1
  /// Offset of that line's first byte.
  private var lineStart: Int64 = 0
  let maximumTokenBytes: Int

  init(window: SourceWindow, maximumTokenBytes: Int) {
    self.window = window
    self.maximumTokenBytes = maximumTokenBytes
  }

  /// Column of the next byte, in bytes, counted from 1.
  var column: Int64 { window.offset - lineStart + 1 }

  /// Moves to a place whose line and column are known.
  func seek(to offset: Int64, line: Int64, column: Int64) throws(ReaderError) {
    try window.seek(to: offset)
    self.line = line
    lineStart = offset - column + 1
  }

  /// The bytes in memory that aren't consumed.
  var waiting: (start: BytePointer, end: BytePointer) {
    let start = BytePointer(window.base + window.head)
    return (start, start + window.unread)
  }

  func advance(_ count: Int) {
    let start = waiting.start
    let lines = Bytes.count(UInt8(ascii: "\n"), from: start, to: start + count)
    if let last = lines.last {
      line += Int64(lines.count)
      lineStart = window.offset + Int64(last - start) + 1
    }
    window.consume(count)
  }

  /// The next byte that isn't white space, not consumed; nil at the end of the file.
  func peek() throws(ReaderError) -> UInt8? {
    while true {
      let (start, end) = waiting
      let place = JSONToken.skipSpace(start, end)
      if place > start { advance(place - start) }
      if place < end { return place.pointee }
      if !(try window.fill()) { return nil }
    }
  }

  /// The error for a mistake at a distance in bytes.
  func fault(_ what: String, after distance: Int) -> ReaderError {
    let start = waiting.start
    let lines = Bytes.count(UInt8(ascii: "\n"), from: start, to: start + distance)
    let column = lines.last.map { Int64(distance - ($0 - start)) } ?? column + Int64(distance)
    return .malformed(line: line + Int64(lines.count), column: column, what: what)
  }
}
