/// Reads lines whose columns stand at fixed places. Lines of no bytes are skipped; text behind the last column is no
/// part of any; the last line needs no end. Lines end as those of CSV do. In a reject file, lines with reasons are passed
/// over as comments are.
final class FixedWidthReader: RecordReader {
  let columns: [String]
  private let window: SourceWindow
  private let layout: FixedWidthLayout
  private let places: [Range<Int>]
  /// Where the last column ends.
  private let width: Int
  private let comment: [UInt8]
  /// What lines with reasons begin with in a reject file; empty in any other.
  private let reason: [UInt8]
  private let newline: UInt8
  private let maximumRecordBytes: Int
  private var line: Int64 = 1
  private var record: Int64 = 0
  private var audit: TextAudit
  private var failure: ReaderError?
  /// Of a line that isn't ASCII: where each character begins, and its end.
  private var characters: [Int] = []

  /// Goes to the position. The window stands at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    guard let layout = options.fixedWidth else {
      throw .invalidOption(name: "fixedWidth", reason: "the format needs the columns, with their names and widths")
    }
    self.window = window
    audit = TextAudit(encoding: window.encoding)
    self.layout = layout
    places = try layout.places()
    width = places.map(\.upperBound).max() ?? 0
    columns = layout.columns.map(\.name)
    comment = options.comment.map { Array($0.utf8) } ?? []
    newline = CSVDialect.newline(of: window.bytes)
    maximumRecordBytes = options.maximumRecordBytes
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

  func read(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.removeAll()
    batch.columns = columns
    do throws(ReaderError) {
      if let failure { throw failure }
      while batch.count < max(1, limit), !batch.storage.pointee.isFull {
        guard try readLine(into: batch) else { break }
      }
    } catch {
      failure = error
    }
    record += Int64(batch.count)
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
      let found = Bytes.find(newline, from: start + searched, to: end)
      guard let lineEnd = found ?? (window.atEnd ? end : nil) else {
        if end - start > maximumRecordBytes { return try skipLine(into: batch) }
        searched = end - start
        _ = try window.fill()
        continue
      }
      if found == nil, start == end { return false }
      if lineEnd - start > maximumRecordBytes { return try skipLine(into: batch) }
      let consumed = lineEnd - start + (found == nil ? 0 : 1)
      if window.begins(with: comment, at: start, tail: lineEnd, final: true) != true,
        window.begins(with: reason, at: start, tail: lineEnd, final: true) != true
      {
        take(from: start, to: lineEnd, horizon: end, into: batch)
      }
      window.consume(consumed)
      line += 1
      return true
    }
  }

  private func skipLine(into batch: RecordBatch) throws(ReaderError) -> Bool {
    try window.skipLine(endingWith: newline, into: batch, line: line, limit: maximumRecordBytes)
    line += 1
    return true
  }

  private func take(from start: BytePointer, to lineEnd: BytePointer, horizon: BytePointer, into batch: RecordBatch) {
    var end = lineEnd
    if newline == CSVDialect.lineFeed, end > start, end[-1] == CSVDialect.carriageReturn { end -= 1 }
    guard end > start else { return }
    var problem = audit.check(from: start, to: end, horizon: horizon, offset: window.offset)
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
