/// Reads CSV and its relatives, by RFC 4180, strictly but losing nothing: a row that breaks the rules is delivered
/// as a record with a problem, and reading continues.
///
/// Lines end with LF, CRLF, or CR if the file has nothing else; empty lines are skipped; the last line needs
/// no end. A quote inside a field that doesn't begin with one is text. The header of a reject file is always read,
/// whatever the options say about the header of its source.
final class CSVReader: RecordReader {
  private(set) var columns: [String] = []
  let window: SourceWindow
  let dialect: CSVDialect
  let maximumRecordBytes: Int
  // Not private: the two scans, `CSVReader+Scan` and `CSVReader+Escapes`, advance these, and no other code does. They are in
  // files of their own because together they would be more than 600 lines.

  /// Line of the window's first byte.
  var line: Int64 = 1
  var validator: TextValidator
  /// Lines skipped before the header.
  let skippedLines: Int
  /// Fields that a row must have; nil while the header is read.
  private(set) var expectedFields: Int?

  private(set) var findings = ReaderFindings()
  private var record: Int64 = 0
  private var failure: ReaderError?

  /// Reads the header, and moves to the position. The window must be at the beginning of the file.
  /// - Parameter usual: the delimiter of the format where the options don't name one; nil: it is guessed.
  init(
    window: SourceWindow, options: ReaderOptions, delimiter usual: UInt8?, from position: ReaderPosition?
  ) throws(ReaderError) {
    self.window = window
    validator = TextValidator(encoding: window.encoding)
    maximumRecordBytes = options.maximumRecordBytes
    skippedLines = options.skipLines
    let delimiter = try ReaderOptions.byte(options.delimiter, of: "delimiter")
    let newline = CSVDialect.newline(of: window.bytes)
    window.skipByteOrderMark()
    line += try window.skipLines(options.skipLines, endingWith: newline)
    if options.skipLines > 0 { _ = try window.fill(until: SourceSample.size) }
    var said: UInt8?
    if usual == nil, let separator = CSVDialect.separatorLine(window.bytes, newline: newline),
      ![options.quote, options.escape, options.comment].contains(where: { $0?.utf8.first == separator })
    {
      said = separator
      line += try window.skipLines(1, endingWith: newline)
      _ = try window.fill(until: SourceSample.size)
    }
    dialect = try CSVDialect(
      sample: window.bytes, newline: newline, delimiter: delimiter ?? said ?? usual, options: options)
    let rejectHeader = RejectReason.columns.joined(separator: String(UnicodeScalar(dialect.delimiter)))
    if window.bytes.starts(with: rejectHeader.utf8) {
      columns = try readHeader()
    } else if options.header {
      columns = try readHeader()
      if let given = options.columns {
        guard given.count == columns.count else {
          throw .columnCountDiffers(given: given.count, header: columns.count)
        }
        columns = given
      }
    } else if let given = options.columns, !given.isEmpty {
      columns = given
    } else {
      throw .noHeader
    }
    // Data frames are written with a column of row numbers that has no name.
    try ReaderOptions.check(names: columns, mayBeEmpty: true)
    expectedFields = columns.count
    findings = detect(options, usual: usual)
    if let position, position.byteOffset > window.offset {
      try window.resume(at: position)
      line = position.line
      record = position.record
      validator = TextValidator(encoding: window.encoding)
    }
  }

  var bytesTotal: Int64 { window.bytesTotal }
  var bytesRead: Int64 { window.bytesRead }

  func read(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.removeAll()
    batch.columns = columns
    do throws(ReaderError) {
      try fill(batch, limit: max(1, limit))
    } catch {
      failure = error
    }
    record += Int64(batch.count)
    batch.end = ReaderPosition(byteOffset: window.offset, line: line, record: record)
    if batch.count == 0, let failure { throw failure }
    return batch.count > 0
  }

  private func fill(_ batch: RecordBatch, limit: Int) throws(ReaderError) {
    if let failure { throw failure }
    while true {
      switch dialect.isPlain ? scan(into: batch, limit: limit) : scanCarefully(into: batch, limit: limit) {
      case .full, .finished: return
      case .more: _ = try window.fill()
      case .tooLong:
        try window.skipLine(endingWith: dialect.newline, into: batch, line: line, limit: maximumRecordBytes)
        line += 1
      }
    }
  }

  var rejectForm: any RejectForm {
    TabularRejects(dialect: .init(dialect, skippedLines: skippedLines), columns: columns)
  }

  private func detect(_ options: ReaderOptions, usual: UInt8?) -> ReaderFindings {
    let delimiter = String(UnicodeScalar(dialect.delimiter))
    var found = ReaderFindings(delimiter: delimiter)
    if options.header, options.columns == nil { found.looksLikeHeader = columns.allSatisfy(Self.looksLikeName) }
    if options.delimiter == nil, dialect.delimiter != usual ?? UInt8(ascii: ",") {
      found.notes.append("the fields are taken to be separated by \(delimiter == "\t" ? "tabs" : "“\(delimiter)”")")
    }
    let unnamed = columns.indices.filter { columns[$0].isEmpty }
    if !unnamed.isEmpty {
      let numbers = unnamed.prefix(12).map { "\($0 + 1)" }.joined(separator: ", ") + (unnamed.count > 12 ? ", …" : "")
      found.notes.append("column \(numbers) has no name in the header line and was ignored")
    }
    if found.looksLikeHeader == false {
      found.notes.append("the first line was taken for the column names, but looks like a record")
    }
    return found
  }

  /// Column names aren't numbers or dates.
  private static func looksLikeName(_ name: String) -> Bool {
    let text = name.utf8
    let digits = text.count { (0x30...0x39).contains($0) }
    let others = text.count { !(0x30...0x39).contains($0) && !"+-.,:/ TZ".utf8.contains($0) }
    return others > 0 || digits == 0
  }

  private func readHeader() throws(ReaderError) -> [String] {
    let batch = RecordBatch()
    try fill(batch, limit: 1)
    guard batch.count == 1 else { throw .emptyFile }
    switch batch.problem(0) {
    case nil: break
    case .invalidUTF8: throw .notUTF8(line: batch.line(0), looksLike: "an 8-bit encoding such as Latin-1")
    case .some(let problem): throw .malformed(line: batch.line(0), column: 1, what: "in the header, \(problem)")
    }
    guard batch.cellCount(0) <= ReaderOptions.maximumColumns else {
      throw .tooManyColumns(limit: ReaderOptions.maximumColumns)
    }
    guard batch.byteLength(0) <= ReaderOptions.maximumColumnText else {
      throw .tooManyColumns(limit: ReaderOptions.maximumColumns)
    }
    return (0..<batch.cellCount(0)).map { batch.string(batch.cell(0, $0)) }
  }
}

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
