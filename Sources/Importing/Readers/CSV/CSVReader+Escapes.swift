// The scan for files with escapes or comments, a byte at a time, by the same rules as `scan`. It is separate
// so that files without them pay nothing for them.

extension CSVReader {
  /// A field and its terminator.
  private struct Field {
    var kind = Cell.Kind.text
    var content: BytePointer
    var length = 0
    /// The delimiter or line end.
    var terminator: BytePointer
    var needsDecoding = false
    var isQuoted = false
    var problem: RecordProblem?
  }

  private enum FieldScan {
    case field(Field)
    case more, tooLong
  }

  /// Takes whole records from the window, as many as it has and the batch may hold.
  func scanCarefully(into batch: RecordBatch, limit: Int) -> Stop {
    let base = BytePointer(window.base)
    let final = window.atEnd
    let end = base + window.endLastLine(with: dialect.newline)
    let tail = base + window.tail
    let storage = batch.storage
    let offset = window.offset - Int64(window.head)
    let cellLimit = expectedFields.map { $0 + 1_000 } ?? ReaderOptions.maximumColumns + 1
    var decodings: [(cell: Int, isQuoted: Bool)] = []
    var place = base + window.head
    var stop = Stop.full

    records: while storage.pointee.count < limit, !storage.pointee.isFull {
      let start = place
      guard start < end else {
        stop = final ? .finished : .more
        break
      }
      switch window.begins(with: dialect.comment, at: start, tail: tail, final: final) {
      case false: break
      case nil:
        stop = .more
        break records
      default:
        guard let lineEnd = Bytes.find(dialect.newline, from: start, to: end) else {
          stop = end - start > maximumRecordBytes ? .tooLong : .more
          break records
        }
        place = lineEnd + 1
        line += 1
        continue records
      }
      let firstCell = storage.pointee.cellCount
      let arenaStart = storage.pointee.arenaCount
      var fields = 0
      var problem: RecordProblem?
      repeat {
        switch field(at: place, of: start, tail: tail, end: end, final: final) {
        case .more,
          .tooLong where end - start <= maximumRecordBytes && !final:
          stop = .more
        case .tooLong:
          stop = .tooLong
        case .field(let field):
          if fields < cellLimit {
            if field.needsDecoding { decodings.append((storage.pointee.cellCount, field.isQuoted)) }
            storage.pointee.append(
              Cell(
                kind: field.kind, offset: UInt32(truncatingIfNeeded: arenaStart + (field.content - start)),
                length: UInt32(truncatingIfNeeded: field.length)))
          }
          fields += 1
          problem = problem ?? field.problem
          place = field.terminator + 1
          continue
        }
        storage.pointee.cellCount = firstCell
        place = start
        break records
      } while place[-1] != dialect.newline
      let lineEnd = place - 1
      guard lineEnd - start <= maximumRecordBytes else {
        storage.pointee.cellCount = firstCell
        place = start
        stop = .tooLong
        break
      }
      if fields == 1, lineEnd - start <= 1, storage.pointee.cells[firstCell].kind == .empty {
        storage.pointee.cellCount = firstCell
        line += 1
        continue
      }
      finish(
        Row(start: start, end: lineEnd, fields: fields, firstCell: firstCell, problem: problem), horizon: tail,
        offset: offset + Int64(start - base), into: batch)
      for (cell, isQuoted) in decodings { storage.pointee.decode(cell: cell) { decode($0, to: $1, isQuoted) } }
      decodings.removeAll(keepingCapacity: true)
    }
    window.consume(min(place, tail) - (base + window.head))
    return stop
  }

  private struct Row {
    var start: BytePointer
    var end: BytePointer
    var fields: Int
    var firstCell: Int
    var problem: RecordProblem?
  }

  private func finish(_ row: Row, horizon: BytePointer, offset: Int64, into batch: RecordBatch) {
    var kept = row.end - row.start
    if dialect.newline == CSVDialect.lineFeed, kept > 0, row.end[-1] == CSVDialect.carriageReturn { kept -= 1 }
    var problem =
      row.problem ?? validator.check(from: row.start, to: row.start + kept, horizon: horizon, offset: offset)
    if problem == nil, let expected = expectedFields, row.fields != expected {
      problem =
        row.fields < expected
        ? .tooFewFields(expected: expected, found: row.fields)
        : .tooManyFields(expected: expected, found: row.fields)
    }
    batch.storage.pointee.finish(
      bytes: row.start, kept: kept, line: line, byteOffset: offset, byteLength: kept, firstCell: row.firstCell)
    if let problem { batch.setProblem(problem) }
    line += Int64(Bytes.count(dialect.newline, from: row.start, to: row.end).count + 1)
  }

  /// Finds the end of the field that begins at a place, in the record that begins at `start`.
  private func field(
    at place: BytePointer, of start: BytePointer, tail: BytePointer, end: BytePointer, final: Bool
  ) -> FieldScan {
    guard place < end else { return .tooLong }
    var field = Field(content: place, terminator: place)
    var at = place
    if UInt16(place.pointee) == dialect.quote, place < tail {
      switch closeEscapedQuote(from: start, field: place, tail: tail, end: end, final: final) {
      case .closed(let terminator, let close, let needsDecoding):
        return .field(
          Field(
            content: place + 1, length: close - place - 1, terminator: terminator, needsDecoding: needsDecoding,
            isQuoted: true))
      case .textAfter(let rest):
        field.problem = .textAfterQuote
        at = rest
      case .unterminated(let lineEnd):
        field.problem = .unterminatedQuote
        at = lineEnd
      case .more: return .more
      case .tooLong: return .tooLong
      }
    }
    while at < end, at.pointee != dialect.delimiter, at.pointee != dialect.newline {
      guard at.pointee == dialect.escape, field.problem == nil else {
        at += 1
        continue
      }
      switch escaped(at, tail: tail, final: final) {
      case .some(0):
        field.problem = .danglingEscape
        at += 1
      case .some(let length):
        field.needsDecoding = true
        at += length
      case nil: return .more
      }
    }
    guard at < end else { return .tooLong }
    field.terminator = at
    field.length = at - place
    if at.pointee == dialect.newline, dialect.newline == CSVDialect.lineFeed, field.length > 0,
      at[-1] == CSVDialect.carriageReturn
    {
      field.length -= 1
    }
    if field.problem != nil { field.needsDecoding = false }
    if field.length == 0 { field.kind = .empty }
    if dialect.hasLetterEscapes, field.length == 2, place.pointee == dialect.escape, place[1] == UInt8(ascii: "N") {
      field.kind = .null
      field.needsDecoding = false
    }
    return .field(field)
  }

  /// The bytes of an escape with the text that it escapes: a CRLF counts as one line end. 0: the file ends after it.
  /// Nil: the end isn't in the window yet.
  private func escaped(_ place: BytePointer, tail: BytePointer, final: Bool) -> Int? {
    guard place + 1 < tail else { return final ? 0 : nil }
    guard place[1] == CSVDialect.carriageReturn, dialect.newline == CSVDialect.lineFeed else { return 2 }
    guard place + 2 < tail else { return final ? 2 : nil }
    return place[2] == CSVDialect.lineFeed ? 3 : 2
  }

  /// `closeQuote`, skipping escaped bytes.
  private func closeEscapedQuote(
    from start: BytePointer, field: BytePointer, tail: BytePointer, end: BytePointer, final: Bool
  ) -> QuoteEnd {
    guard let escape = dialect.escape else {
      return closeQuote(from: start, field: field, tail: tail, end: end, final: final)
    }
    let quote = UInt8(truncatingIfNeeded: dialect.quote)
    let horizon = tail - start > maximumRecordBytes ? start + maximumRecordBytes + 1 : tail
    var needsDecoding = false
    var place = field + 1
    while place < horizon {
      if place.pointee == escape {
        needsDecoding = true
        place += 2
        continue
      }
      guard place.pointee == quote else {
        place += 1
        continue
      }
      let next = place + 1
      guard next < end else { return .more }
      if next.pointee == quote, next < tail {
        needsDecoding = true
        place += 2
        continue
      }
      if next.pointee == dialect.delimiter || next.pointee == dialect.newline {
        return .closed(terminator: next, close: place, doubled: needsDecoding)
      }
      if next.pointee == CSVDialect.carriageReturn, dialect.newline == CSVDialect.lineFeed {
        guard next + 1 < end else { return .more }
        if next[1] == dialect.newline { return .closed(terminator: next + 1, close: place, doubled: needsDecoding) }
      }
      if let lineEnd = Bytes.find(dialect.newline, from: field, to: place) { return .unterminated(lineEnd: lineEnd) }
      return .textAfter(next)
    }
    if horizon == tail, !final { return .more }
    if let lineEnd = Bytes.find(dialect.newline, from: field, to: min(end, horizon + 1)) {
      return .unterminated(lineEnd: lineEnd)
    }
    return .tooLong
  }

  /// Copies a text without its escapes, and each pair of quotes in a quoted one as one.
  private func decode(
    _ text: UnsafeBufferPointer<UInt8>, to target: UnsafeMutablePointer<UInt8>, _ isQuoted: Bool
  ) -> Int {
    var written = 0
    var index = 0
    while index < text.count {
      var byte = text[index]
      if byte == dialect.escape, index + 1 < text.count {
        index += 1
        byte = dialect.hasLetterEscapes ? Self.control(text[index]) : text[index]
      } else if isQuoted, UInt16(byte) == dialect.quote {
        index += 1
      }
      target[written] = byte
      written += 1
      index += 1
    }
    return written
  }

  /// The meaning of a byte after a backslash.
  private static func control(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "v"): 0x0B
    default: byte
    }
  }
}
