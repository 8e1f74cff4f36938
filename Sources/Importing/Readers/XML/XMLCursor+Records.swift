// An element as a record: held in memory as a whole, up to a limit, and passed over when it is longer.

extension XMLCursor {
  /// Reads the element that `next` came to into the tree, and consumes nothing; returns its length, or nil if that is more
  /// than the limit. No further is looked than a record may go, so that it makes no difference how much is in memory.
  func read(into tree: inout XMLTree, limit: Int) throws(ReaderError) -> Int? {
    while true {
      let (start, end) = document.waiting
      switch tree.parse(start, min(end, start + limit + 1), depth: open.count) {
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      case .token(_, let place) where place - start <= limit: return place - start
      case .more where end - start <= limit:
        let final = document.window.atEnd
        if try !document.window.fill(), final {
          throw document.fault(XMLMistake.unexpectedEnd.description, after: document.window.unread)
        }
      case .token, .more: return nil
      }
    }
  }

  /// Keeps the beginning of the element that `next` came to as a record that is too long, and passes over it.
  func skip(_ name: String, into batch: RecordBatch, limit: Int) throws(ReaderError) {
    _ = try document.window.fill(until: RecordBatch.keptBytes)
    let beginning = Array(document.window.bytes.prefix(RecordBatch.keptBytes))
    let (line, offset) = (document.line, document.window.offset)
    try skip(name)
    batch.finishTooLong(
      beginning: beginning, line: line, byteOffset: offset, byteLength: Int(document.window.offset - offset),
      limit: limit)
  }
}
