extension CSVReader {
  /// How a quoted field ends.
  enum QuoteEnd {
    /// At a quote, before a delimiter or line end; whether there are doubled quotes inside.
    case closed(terminator: BytePointer, close: BytePointer, doubled: Bool)
    /// At a quote followed by other text, which begins here.
    case textAfter(BytePointer)
    /// Not at all, or at a quote in another line that other text follows. This is the end of the line that the field
    /// began in: the record is taken to end there, so that a stray quote costs one line and not the rest of the file.
    case unterminated(lineEnd: BytePointer)
    /// The end isn't in the window yet.
    case more
    /// The record is longer than the limit, and so is its line.
    case tooLong
  }

  /// Finds the end of the field that begins with the quote at `field`, in the record that begins at `start`.
  func closeQuote(
    from start: BytePointer, field: BytePointer, tail: BytePointer, end: BytePointer, final: Bool
  ) -> QuoteEnd {
    let quote = UInt8(truncatingIfNeeded: dialect.quote)
    let horizon = tail - start > maximumRecordBytes ? start + maximumRecordBytes + 1 : tail
    var doubled = false
    var place = field + 1
    while let close = Bytes.find(quote, from: place, to: horizon) {
      let next = close + 1
      guard next < end else { return .more }
      if next.pointee == quote, next < tail {
        doubled = true
        place = next + 1
        continue
      }
      if next.pointee == dialect.delimiter || next.pointee == dialect.newline {
        return .closed(terminator: next, close: close, doubled: doubled)
      }
      if next.pointee == CSVDialect.carriageReturn, dialect.newline == CSVDialect.lineFeed {
        guard next + 1 < end else { return .more }
        if next[1] == dialect.newline { return .closed(terminator: next + 1, close: close, doubled: doubled) }
      }
      if let lineEnd = Bytes.find(dialect.newline, from: field, to: close) {
        return .unterminated(lineEnd: lineEnd)
      }
      return .textAfter(next)
    }
    if horizon == tail, !final { return .more }
    if let lineEnd = Bytes.find(dialect.newline, from: field, to: min(end, horizon + 1)) {
      return .unterminated(lineEnd: lineEnd)
    }
    return .tooLong
  }
}
