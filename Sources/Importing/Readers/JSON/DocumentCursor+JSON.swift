extension DocumentCursor {
  /// The next byte that isn't white space, where the document can't end.
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
    return fault(mistake.description, after: distance)
  }
}
