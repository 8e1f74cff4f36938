// The hot loop. It walks the window eight bytes at a time for the next delimiter or line end; a field that begins
// with a quote is left to `closeQuote`. Whatever the block boundaries are, the records come out the same:
//
// 1. A record is taken only when its line end is in the window; otherwise the scan stops before it and asks for more.
// 2. At the end of the file the window ends the last line itself, so that 1 holds there too.
// 3. No decision looks further than `maximumRecordBytes` after the record's start, or past its line end.

extension CSVReader {
  enum Stop {
    case full, more, finished, tooLong
  }

  /// Takes whole records from the window, as many as it has and the batch may hold.
  func scan(into batch: RecordBatch, limit: Int) -> Stop {
    let base = BytePointer(window.base)
    let newline = dialect.newline
    let quote = dialect.quote
    let delimiters = Bytes.repeated(dialect.delimiter)
    let newlines = Bytes.repeated(newline)
    let final = window.atEnd
    let end = base + window.endLastLine(with: newline)
    let tail = base + window.tail
    let storage = batch.storage
    let offset = window.offset - Int64(window.head)
    let expected = expectedFields ?? -1
    let cellLimit = expected < 0 ? ReaderOptions.maximumColumns + 1 : expected + 1_000
    let trimsReturn = newline == CSVDialect.lineFeed

    var line = self.line
    var validator = self.validator
    var decodings: [Int] = []
    var place = base + window.head
    var chunk = place
    var mask = Bytes.mask(Bytes.load(chunk), of: delimiters, or: newlines)
    var stop = Stop.full

    records: while storage.pointee.count < limit, !storage.pointee.isFull {
      let start = place
      guard start < end else {
        stop = final ? .finished : .more
        break
      }
      let firstCell = storage.pointee.cellCount
      let arenaStart = storage.pointee.arenaCount
      var field = start
      var fields = 0
      var linesInside = 0
      var problem: RecordProblem?
      while true {
        var at = field
        var content = field
        var length = 0
        var kind = Cell.Kind.text
        var isRaw = true
        if UInt16(field.pointee) == quote, field < tail {
          switch closeQuote(from: start, field: field, tail: tail, end: end, final: final) {
          case .closed(let terminator, let close, let doubled):
            (at, content, length, isRaw) = (terminator, field + 1, close - field - 1, false)
            linesInside += Bytes.count(newline, from: content, to: close).count
            if doubled { decodings.append(storage.pointee.cellCount) }
          case .textAfter(let rest):
            problem = .textAfterQuote
            at = rest
          case .unterminated(let lineEnd):
            problem = .unterminatedQuote
            at = lineEnd
          case .more:
            stop = .more
            storage.pointee.cellCount = firstCell
            break records
          case .tooLong:
            stop = .tooLong
            storage.pointee.cellCount = firstCell
            break records
          }
          chunk = at
          mask = Bytes.mask(Bytes.load(chunk), of: delimiters, or: newlines)
          if !isRaw { mask &= mask &- 1 }
        }
        if isRaw {
          while mask == 0 {
            chunk += 8
            if chunk >= end { break }
            mask = Bytes.mask(Bytes.load(chunk), of: delimiters, or: newlines)
          }
          at = chunk + Bytes.first(mask | 1 &<< 63)
          mask &= mask &- 1
          if at >= end || chunk >= end {
            // Only before the end of the file: there, the window has ended the last line.
            stop = end - start > maximumRecordBytes ? .tooLong : .more
            storage.pointee.cellCount = firstCell
            break records
          }
          length = at - field
          if at.pointee == newline, trimsReturn, length > 0, at[-1] == CSVDialect.carriageReturn { length -= 1 }
          if length == 0 { kind = .empty }
        }
        if fields < cellLimit {
          storage.pointee.append(
            Cell(
              kind: kind, offset: UInt32(truncatingIfNeeded: arenaStart &+ (content - start)),
              length: UInt32(truncatingIfNeeded: length)))
        }
        fields &+= 1
        field = at + 1
        if at.pointee == newline { break }
      }
      let lineEnd = field - 1
      place = field
      if fields == 1, lineEnd - start <= 1, storage.pointee.cells[firstCell].kind == .empty {
        // A line of no bytes.
        storage.pointee.cellCount = firstCell
        line &+= 1
        continue
      }
      guard lineEnd - start <= maximumRecordBytes else {
        place = start
        stop = .tooLong
        storage.pointee.cellCount = firstCell
        break
      }
      var kept = lineEnd - start
      if trimsReturn, kept > 0, start[kept - 1] == CSVDialect.carriageReturn { kept &-= 1 }
      if problem == nil {
        problem = validator.check(
          from: start, to: start + kept, horizon: tail, offset: offset &+ Int64(start - base))
      }
      if problem == nil, fields != expected, expected >= 0 {
        problem =
          fields < expected
          ? .tooFewFields(expected: expected, found: fields) : .tooManyFields(expected: expected, found: fields)
      }
      storage.pointee.finish(
        bytes: start, kept: kept, line: line, byteOffset: offset &+ Int64(start - base), byteLength: kept,
        firstCell: firstCell)
      if let problem { batch.setProblem(problem) }
      if !decodings.isEmpty {
        for index in decodings where index < storage.pointee.cellCount {
          storage.pointee.decode(cell: index, undouble)
        }
        decodings.removeAll(keepingCapacity: true)
      }
      line &+= Int64(linesInside + 1)
    }
    window.consume(min(place, tail) - (base + window.head))
    self.line = line
    self.validator = validator
    return stop
  }

  /// Copies a text, each pair of quotes as one.
  private func undouble(_ text: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int {
    var written = 0
    var index = 0
    while index < text.count {
      target[written] = text[index]
      written += 1
      index += UInt16(text[index]) == dialect.quote ? 2 : 1
    }
    return written
  }
}
