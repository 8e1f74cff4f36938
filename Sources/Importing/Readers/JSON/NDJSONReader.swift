/// Reads one JSON object per line. A malformed line is delivered as a record with a problem, and reading continues at
/// the next line; blank lines are skipped; the last line needs no end.
final class NDJSONReader: SequentialReader {
  private let window: SourceWindow
  private var parser: JSONObjectParser
  private let maximumRecordBytes: Int
  private var line: Int64 = 1
  private var record: Int64 = 0
  private var validator: TextValidator
  /// Set by `readSequentially` alone.
  var failure: ReaderError?

  /// Moves to the position. The window must be at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    self.window = window
    validator = TextValidator(encoding: window.encoding)
    parser = JSONObjectParser(columns: options.columns ?? [])
    maximumRecordBytes = options.maximumRecordBytes
    window.skipByteOrderMark()
    guard let position, position.byteOffset > window.offset else {
      try checkLines()
      return
    }
    try window.resume(at: position)
    line = position.line
    record = position.record
  }

  /// Refuses objects that go over several lines, of which every line would be rejected.
  private func checkLines() throws(ReaderError) {
    let text = UnsafeBufferPointer(rebasing: window.bytes.drop(while: JSONToken.isSpace))
    guard text.first == UInt8(ascii: "{"), NDJSONFormat.firstObject(in: text).isAcrossLines else { return }
    let blank = window.bytes.prefix(window.bytes.count - text.count)
    throw .malformed(
      line: Int64(1 + blank.count { $0 == CSVDialect.lineFeed }),
      column: Int64(1 + blank.reversed().prefix { $0 != CSVDialect.lineFeed }.count),
      what: "the object goes over several lines, and NDJSON has one on each; say format: json, which reads several "
        + "objects wherever they end")
  }

  var columns: [String] { parser.keys.names }
  var bytesTotal: Int64 { window.bytesTotal }
  var bytesRead: Int64 { window.bytesRead }

  var position: ReaderPosition { ReaderPosition(byteOffset: window.offset, line: line, record: record) }
  var rejectForm: any RejectForm { JSONLineRejects() }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    let before = batch.count
    let found = try window.takeLine(
      endingWith: CSVDialect.lineFeed, limit: maximumRecordBytes, into: batch, line: line
    ) { (start, lineEnd, horizon) throws(ReaderError) in
      try take(from: start, to: lineEnd, horizon: horizon, into: batch)
    }
    guard found else { return false }
    line += 1
    record += Int64(batch.count - before)
    return true
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
      scan = parser.parse(from: first, of: first, to: end, final: true, depth: 0, into: storage)
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
        validator.check(from: start, to: end, horizon: horizon, offset: window.offset)
        ?? (isObject ? nil : .notAnObject(found: JSONToken.kind(of: first.pointee)))
    case .more:
      problem = malformed(.unexpectedEnd, column: end - start + 1)
    case .mistake(.tooManyKeys, _):
      storage.pointee.cellCount = firstCell
      throw .tooManyColumns(limit: ReaderOptions.maximumColumns)
    case .mistake(let mistake, let place):
      problem = malformed(mistake, column: place - start + 1)
    }
    // Cells hold distances from the object's first byte, so the record's bytes begin there.
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
