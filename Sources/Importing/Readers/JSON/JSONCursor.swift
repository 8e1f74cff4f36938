/// A place in a JSON document that is read through a window: it moves forward only, and counts lines as it goes.
final class JSONCursor {
  let window: SourceWindow
  /// Line of the next byte, counted from 1.
  private(set) var line: Int64 = 1
  /// Offset in the file at which that line begins.
  private var lineStart: Int64 = 0
  private let maximumTokenBytes: Int

  init(window: SourceWindow, maximumTokenBytes: Int) {
    self.window = window
    self.maximumTokenBytes = maximumTokenBytes
  }

  /// Column of the next byte, in bytes, counted from 1.
  var column: Int64 { window.offset - lineStart + 1 }

  /// Goes to a place of which line and column are known.
  func seek(to offset: Int64, line: Int64, column: Int64) {
    window.seek(to: offset)
    self.line = line
    lineStart = offset - column + 1
  }

  /// The bytes that wait in memory.
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

  /// The same, where the document can't end.
  func next() throws(ReaderError) -> UInt8 {
    guard let byte = try peek() else { throw fault(.unexpectedEnd, after: 0) }
    return byte
  }

  /// Consumes a key and its colon; the next byte is where the key should be.
  func key() throws(ReaderError) -> String {
    guard try next() == JSONToken.quote else { throw fault(.expectedKey, after: 0) }
    while true {
      let (start, end) = waiting
      var escaped = false
      switch JSONToken.string(start + 1, end, escaped: &escaped) {
      case .end(let next):
        let text = UnsafeBufferPointer(start: start + 1, count: next - start - 2)
        let key = String(unsafeUninitializedCapacity: text.count) { buffer in
          buffer.baseAddress.map { JSONToken.unescape(text, to: $0) } ?? 0
        }
        advance(next - start)
        guard try self.next() == UInt8(ascii: ":") else { throw fault(.expectedColon, after: 0) }
        advance(1)
        return key
      case .more(let place): try more(after: place - start)
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      }
    }
  }

  /// Passes over what the walker was made for, however long it is.
  func skip(_ walker: JSONWalker) throws(ReaderError) {
    var walker = walker
    while true {
      let (start, end) = waiting
      switch walker.walk(from: start, to: end, final: window.atEnd) {
      case .end(let place):
        advance(place - start)
        return
      case .more(let place):
        advance(place - start)
        try more(after: 0)
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      }
    }
  }

  /// Reads more of the file, where it can't end.
  func more(after distance: Int) throws(ReaderError) {
    guard window.unread <= maximumTokenBytes else { throw fault(.tooLong, after: 0) }
    let final = window.atEnd
    if try !window.fill(), final { throw fault(.unexpectedEnd, after: window.unread) }
  }

  /// The error for a mistake so many bytes on.
  func fault(_ mistake: JSONMistake, after distance: Int) -> ReaderError {
    if mistake == .tooManyKeys { return .tooManyColumns(limit: ReaderOptions.maximumColumns) }
    let start = waiting.start
    let lines = Bytes.count(UInt8(ascii: "\n"), from: start, to: start + distance)
    let column = lines.last.map { Int64(distance - ($0 - start)) } ?? column + Int64(distance)
    return .malformed(line: line + Int64(lines.count), column: column, what: mistake.description)
  }
}
