/// Reads a JSON object a line. A line that is wrong is delivered as a record with a problem, and reading goes on at
/// the next; lines of nothing but white space are skipped; the last line needs no end.
final class NDJSONReader: RecordReader {
  private let window: SourceWindow
  private var parser: JSONObjectParser
  private let maximumRecordBytes: Int
  private var line: Int64 = 1
  private var record: Int64 = 0
  private var audit: TextAudit
  private var failure: ReaderError?

  /// Goes to the position. The window stands at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    self.window = window
    audit = TextAudit(encoding: window.encoding)
    parser = JSONObjectParser(columns: options.columns ?? [])
    maximumRecordBytes = options.maximumRecordBytes
    window.skipByteOrderMark()
    guard let position, position.byteOffset > window.offset else { return }
    try window.resume(at: position)
    line = position.line
    record = position.record
  }

  var columns: [String] { parser.keys.names }
  var bytesTotal: Int64 { window.bytesTotal }
  var bytesRead: Int64 { window.bytesRead }

  func read(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.removeAll()
    do throws(ReaderError) {
      if let failure { throw failure }
      while batch.count < max(1, limit), !batch.storage.pointee.isFull {
        guard try readLine(into: batch) else { break }
      }
    } catch {
      failure = error
    }
    record += Int64(batch.count)
    batch.columns = columns
    batch.end = ReaderPosition(byteOffset: window.offset, line: line, record: record)
    if batch.count == 0, let failure { throw failure }
    return batch.count > 0
  }

  /// Takes one line; false at the end of the file.
  private func readLine(into batch: RecordBatch) throws(ReaderError) -> Bool {
    var searched = 0
    while true {
      let start = BytePointer(window.base + window.head)
      let end = start + window.unread
      let found = Bytes.find(CSVDialect.lineFeed, from: start + searched, to: end)
      if found == nil, !window.atEnd {
        if end - start > maximumRecordBytes {
          try window.skipLine(endingWith: CSVDialect.lineFeed, into: batch, line: line, limit: maximumRecordBytes)
          line += 1
          return true
        }
        searched = end - start
        _ = try window.fill()
        continue
      }
      if start == end { return false }
      let lineEnd = found ?? end
      let consumed = lineEnd - start + (found == nil ? 0 : 1)
      if lineEnd - start > maximumRecordBytes {
        try window.skipLine(endingWith: CSVDialect.lineFeed, into: batch, line: line, limit: maximumRecordBytes)
      } else {
        try take(from: start, to: lineEnd, horizon: end, into: batch)
        window.consume(consumed)
      }
      line += 1
      return true
    }
  }

  private func take(from start: BytePointer, to lineEnd: BytePointer, horizon: BytePointer, into batch: RecordBatch)
    throws(ReaderError)
  {
    var end = lineEnd
    while end > start, JSONToken.isSpace(end[-1]) { end -= 1 }
    let first = JSONToken.skipSpace(start, end)
    guard first < end else { return }
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    let isObject = first.pointee == UInt8(ascii: "{")
    var scan: JSONScan
    if isObject {
      scan = parser.parse(from: first, to: end, final: true, depth: 0, into: storage)
    } else {
      var walker = JSONWalker(depth: 0)
      scan = walker.walk(from: first, to: end, final: true)
    }
    if case .end(let place) = scan, place < end {
      scan = .mistake(.textAfterEnd, at: JSONToken.skipSpace(place, end))
    }
    var problem: RecordProblem?
    switch scan {
    case .end:
      problem =
        audit.check(from: start, to: end, horizon: horizon, offset: window.offset)
        ?? (isObject ? nil : .notAnObject(found: JSONToken.kind(of: first.pointee)))
    case .more:
      problem = malformed(.unexpectedEnd, column: end - start + 1)
    case .mistake(.tooManyKeys, _):
      storage.pointee.cellCount = firstCell
      throw .tooManyColumns(limit: ReaderOptions.maximumColumns)
    case .mistake(let mistake, let place):
      problem = malformed(mistake, column: place - start + 1)
    }
    // Cells were placed by their distance from the object's first byte, so the record's bytes begin there.
    if case .end = scan {} else { storage.pointee.cellCount = firstCell }
    storage.pointee.finish(
      bytes: first, kept: end - first, line: line, byteOffset: window.offset + Int64(first - start),
      byteLength: end - first, firstCell: firstCell)
    if isObject, case .end = scan { parser.decodeTexts(in: storage) }
    if let problem { batch.setProblem(problem) }
  }

  private func malformed(_ mistake: JSONMistake, column: Int) -> RecordProblem {
    .malformedJSON(mistake.description, column: column)
  }
}
