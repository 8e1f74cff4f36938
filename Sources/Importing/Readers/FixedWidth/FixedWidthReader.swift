/// Reads lines whose columns stand at fixed places. Empty lines are skipped; text after the last column is
/// ignored; the last line needs no end. Lines end as in CSV. In a reject file, lines with reasons are skipped
/// like comments.
final class FixedWidthReader: SequentialReader {
  let columns: [String]
  private let window: SourceWindow
  private let layout: FixedWidthLayout
  private let places: [Range<Int>]
  /// Where the last column ends.
  private let width: Int
  private let comment: [UInt8]
  /// The beginning of lines with reasons in a reject file; empty in any other file.
  private let reason: [UInt8]
  private let newline: UInt8
  private let maximumRecordBytes: Int
  private var line: Int64 = 1
  private var record: Int64 = 0
  private var validator: TextValidator
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private let skippedLines: Int
  /// Of a line that isn't ASCII: where each character begins, and its end.
  private var characters: [Int] = []

  /// Moves to the position. The window must be at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    guard let layout = options.fixedWidth else {
      throw .invalidOption(name: "fields", reason: "the format needs the columns, with their names and widths")
    }
    self.window = window
    validator = TextValidator(encoding: window.encoding)
    self.layout = layout
    places = try layout.places()
    width = places.map(\.upperBound).max() ?? 0
    columns = layout.columns.map(\.name)
    comment = options.comment.map { Array($0.utf8) } ?? []
    newline = CSVDialect.newline(of: window.bytes)
    maximumRecordBytes = options.maximumRecordBytes
    skippedLines = options.skipLines
    window.skipByteOrderMark()
    line += try window.skipLines(options.skipLines, endingWith: newline)
    _ = try window.fill(until: RejectReason.fixedWidthTitle.utf8.count)
    let isRejectFile = window.bytes.starts(with: RejectReason.fixedWidthTitle.utf8)
    reason = isRejectFile ? Array(RejectReason.fixedWidthMark.utf8) : []
    guard let position, position.byteOffset > window.offset else { return }
    try window.resume(at: position)
    line = position.line
    record = position.record
  }

  var bytesTotal: Int64 { window.bytesTotal }
  var bytesRead: Int64 { window.bytesRead }

  var position: ReaderPosition { ReaderPosition(byteOffset: window.offset, line: line, record: record) }
  var rejectForm: any RejectForm { FixedWidthRejects(skippedLines: skippedLines, layout: layout, places: places) }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    let before = batch.count
    let found = try window.takeLine(
      endingWith: newline, limit: maximumRecordBytes, into: batch, line: line
    ) { start, lineEnd, horizon in
      guard window.begins(with: comment, at: start, tail: lineEnd, final: true) != true,
        window.begins(with: reason, at: start, tail: lineEnd, final: true) != true
      else { return }
      take(from: start, to: lineEnd, horizon: horizon, into: batch)
    }
    guard found else { return false }
    line += 1
    record += Int64(batch.count - before)
    return true
  }

  private func take(from start: BytePointer, to lineEnd: BytePointer, horizon: BytePointer, into batch: RecordBatch) {
    var end = lineEnd
    if newline == CSVDialect.lineFeed, end > start, end[-1] == CSVDialect.carriageReturn { end -= 1 }
    guard end > start else { return }
    var problem = validator.check(from: start, to: end, horizon: horizon, offset: window.offset)
    let count = end - start
    let isASCII = layout.unit == .bytes || Bytes.firstSpecial(from: start, to: end) == end || problem != nil
    if !isASCII {
      characters.removeAll(keepingCapacity: true)
      for index in 0..<count where !Self.isContinuation(start[index]) { characters.append(index) }
      characters.append(count)
    }
    let found = isASCII ? count : characters.count - 1
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    let arena = storage.pointee.arenaCount
    for (column, place) in places.enumerated() {
      let from = min(place.lowerBound, found)
      let to = min(place.upperBound, found)
      var first = isASCII ? from : characters[from]
      var last = isASCII ? to : characters[to]
      if problem == nil, layout.unit == .bytes {
        let splits = { (index: Int) in index < count && Self.isContinuation(start[index]) }
        if splits(first) || splits(last) { problem = .splitCharacter(column: columns[column]) }
      }
      let bounds = (first, last)
      while last > first, Self.isSpace(start[last - 1]) { last -= 1 }
      while first < last, Self.isSpace(start[first]) { first += 1 }
      let isEmpty = first == last
      if !layout.trims { (first, last) = bounds }
      storage.pointee.append(
        Cell(
          kind: isEmpty ? .empty : .text, offset: UInt32(truncatingIfNeeded: arena + first),
          length: UInt32(truncatingIfNeeded: isEmpty ? 0 : last - first)))
    }
    if problem == nil, found < width, !layout.allowsShortLines {
      problem = .lineTooShort(expected: width, found: found)
    }
    storage.pointee.finish(
      bytes: start, kept: count, line: line, byteOffset: window.offset, byteLength: count, firstCell: firstCell)
    if let problem { batch.setProblem(problem) }
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
