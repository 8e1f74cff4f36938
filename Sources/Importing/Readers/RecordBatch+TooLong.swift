extension RecordBatch {
  /// Of a record that is too long, this much is kept, for the reject file. The rest is in the source, at its offset.
  static let keptBytes = 64 << 10

  /// Puts in a record that is longer than the limit, without cells.
  func finishTooLong(beginning: [UInt8], line: Int64, byteOffset: Int64, byteLength: Int, limit: Int) {
    beginning.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      storage.pointee.finish(
        bytes: base, kept: min(bytes.count, byteLength), line: line, byteOffset: byteOffset, byteLength: byteLength,
        firstCell: storage.pointee.cellCount)
    }
    setProblem(.recordTooLong(limit: limit))
  }
}

extension SourceWindow {
  /// Puts the line that begins here into the batch as a record that is too long, and passes over it.
  func skipLine(endingWith newline: UInt8, into batch: RecordBatch, line: Int64, limit: Int) throws(ReaderError) {
    let start = offset
    _ = try fill(until: RecordBatch.keptBytes)
    let beginning = Array(bytes.prefix(RecordBatch.keptBytes))
    var length = 0
    while true {
      let place = BytePointer(base + head)
      if let found = Bytes.find(newline, from: place, to: place + unread) {
        length += found - place
        consume(found - place + 1)
        break
      }
      length += unread
      consume(unread)
      if try !fill() { break }
    }
    batch.finishTooLong(beginning: beginning, line: line, byteOffset: start, byteLength: length, limit: limit)
  }
}
