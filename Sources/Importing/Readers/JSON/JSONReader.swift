/// Reads the records of a JSON document, strictly by RFC 8259: the elements of an array, the members of an object, or an
/// object that is one record. It is the document or stands under a key; the rest of the document is skipped. Several
/// objects in a row are documents of one record each. Memory is that of one record, whatever the document's length.
///
/// A mistake ends the reading, since nothing after it can be trusted; the records before it are delivered. Only half of a
/// surrogate pair leaves no doubt where its record ends: that record has a problem, and the next one is read.
final class JSONReader: SequentialReader {
  private enum Place {
    /// Behind the opening bracket, or before the object that is the record.
    case beforeFirst
    /// Behind a record, before its comma.
    case afterElement
    /// Behind the whole document.
    case end
  }

  private let cursor: DocumentCursor
  private var parser: JSONObjectParser
  private let maximumRecordBytes: Int
  /// Objects around the records' array or object.
  private var depth = 0
  private var shape = JSONRecordPlace.Shape.elements
  /// The column for the keys of members.
  private var keyColumn = 0
  private var place = Place.beforeFirst
  private var validator: TextValidator
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private let rootPath: [String]
  /// Records delivered so far.
  private var record: Int64
  /// The place after the last of them, where a reader resumes.
  private var mark: (place: Place, offset: Int64, line: Int64, column: Int64) = (.beforeFirst, 0, 1, 1)

  private(set) var findings = ReaderFindings()

  /// Moves to the records, or to the position. The window must be at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    validator = TextValidator(encoding: window.encoding)
    cursor = DocumentCursor(window: window, maximumTokenBytes: options.maximumRecordBytes)
    parser = JSONObjectParser(columns: options.columns ?? [])
    maximumRecordBytes = options.maximumRecordBytes
    rootPath = options.rootPath ?? []
    record = position?.record ?? 0
    window.skipByteOrderMark()
    if let position, !position.state.isEmpty {
      try resume(at: position)
    } else {
      try enter(options)
    }
    if shape == .members {
      keyColumn = try parser.addColumn(options.keyColumn ?? JSONRecordPlace.keyColumn)
    }
    setMark()
  }

  /// From the beginning of the document, moves to the records.
  private func enter(_ options: ReaderOptions) throws(ReaderError) {
    let start = cursor.window.offset
    var place = JSONRecordPlace(path: rootPath, shape: options.keyColumn == nil ? .document : .members)
    if options.rootPath == nil, options.keyColumn == nil { place = try cursor.findRecords() }
    findings.notes = place.note.map { [$0] } ?? []
    try cursor.seek(to: start, line: 1, column: 1)
    shape = try cursor.enterRecords(at: place.path, areMembers: place.shape == .members)
    if place.shape == .documents { shape = .documents }
    depth = place.path.count
  }

  var columns: [String] { parser.keys.names }
  var bytesTotal: Int64 { cursor.window.bytesTotal }
  var bytesRead: Int64 { cursor.window.bytesRead }

  var rejectForm: any RejectForm { JSONRejects(path: rootPath, areMembers: shape == .members, keyColumn: keyColumn) }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    guard try nextElement() else { return false }
    try readElement(into: batch)
    place = .afterElement
    record += 1
    setMark()
    return true
  }

  private func setMark() {
    mark = (place, cursor.window.offset, cursor.line, cursor.column)
  }

  /// The mark in storable form: `after 1 18` is after an element of an array that is in one object, at column 18. What isn't
  /// an array has its shape added.
  var position: ReaderPosition {
    let name =
      switch mark.place {
      case .beforeFirst: "first"
      case .afterElement: "after"
      case .end: "end"
      }
    return ReaderPosition(
      byteOffset: mark.offset, line: mark.line, record: record,
      state: "\(name) \(depth) \(mark.column)" + (shape == .elements ? "" : " \(shape.rawValue)"))
  }

  private func resume(at position: ReaderPosition) throws(ReaderError) {
    let parts = position.state.split(separator: " ")
    guard parts.count == 3 || parts.count == 4, let depth = Int(parts[1]), (0...100).contains(depth),
      let column = Int64(parts[2]), column > 0,
      let shape = parts.count == 3 ? .elements : JSONRecordPlace.Shape(rawValue: String(parts[3]))
    else { throw .positionInvalid(position, fileSize: bytesTotal) }
    switch parts[0] {
    case "first": place = .beforeFirst
    case "after": place = .afterElement
    case "end": place = .end
    default: throw .positionInvalid(position, fileSize: bytesTotal)
    }
    self.depth = depth
    self.shape = shape
    try cursor.window.resume(at: position)
    try cursor.seek(to: position.byteOffset, line: position.line, column: column)
  }

  /// Moves to the next record; false if there is none, in which case the rest of the document was skipped.
  private func nextElement() throws(ReaderError) -> Bool {
    guard place != .end else { return false }
    if shape == .document {
      if place == .afterElement { try end() }
      return place == .beforeFirst
    }
    if shape == .documents {
      if try cursor.peek() != nil { return true }
      place = .end
      setMark()
      return false
    }
    let closing = shape == .members ? UInt8(ascii: "}") : UInt8(ascii: "]")
    let byte = try cursor.next()
    if byte == closing {
      cursor.advance(1)
      try end()
      return false
    }
    if place == .beforeFirst { return true }
    guard byte == UInt8(ascii: ",") else { throw cursor.fault(.expectedComma, after: 0) }
    cursor.advance(1)
    if try cursor.next() == closing { throw cursor.fault(.trailingComma, after: 0) }
    return true
  }

  /// From behind the records, skips the rest of the document.
  private func end() throws(ReaderError) {
    if depth > 0 { try cursor.skip(JSONWalker(restOfObjects: depth)) }
    if try cursor.peek() != nil { throw cursor.fault(.textAfterEnd, after: 0) }
    place = .end
    setMark()
  }

  /// The objects and arrays around a record.
  private var recordDepth: Int {
    switch shape {
    case .document, .documents: depth
    case .elements, .members: depth + 1
    }
  }

  private func readElement(into batch: RecordBatch) throws(ReaderError) {
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    _ = try cursor.next()
    /// How many bytes into the record half of a surrogate pair stands.
    var surrogate: Int?
    while true {
      let (start, end) = cursor.waiting
      // A member's value follows its key.
      var value = start
      var scan = JSONScan.end(start)
      if shape == .members { scan = JSONToken.key(start, end, passesSurrogates: surrogate != nil) }
      if case .end(let place) = scan {
        value = place
        if value.pointee == UInt8(ascii: "{"), surrogate == nil {
          scan = parser.parse(from: value, of: start, to: end, final: false, depth: recordDepth, into: storage)
        } else {
          var walker = JSONWalker(depth: recordDepth)
          walker.passesSurrogates = surrogate != nil
          scan = walker.walk(from: value, to: end, final: false)
        }
      }
      if surrogate == nil, case .mistake(.loneSurrogate, let half) = scan {
        surrogate = half - start
        storage.pointee.cellCount = firstCell
        continue
      }
      if case .end(let place) = scan, place - start <= maximumRecordBytes {
        storage.pointee.finish(
          bytes: start, kept: place - start, line: cursor.line, byteOffset: cursor.window.offset,
          byteLength: place - start, firstCell: firstCell)
        if let surrogate {
          batch.setProblem(.malformedJSON(JSONMistake.loneSurrogate.description, column: surrogate + 1))
        } else if value.pointee == UInt8(ascii: "{") {
          parser.decodeTexts(in: storage)
          if shape == .members, let problem = takeKey(from: start, to: value, in: storage) { batch.setProblem(problem) }
        } else {
          batch.setProblem(.notAnObject(found: JSONToken.kind(of: value.pointee)))
        }
        if let problem = validator.check(from: start, to: place, horizon: end, offset: cursor.window.offset) {
          batch.setProblem(problem)
        }
        cursor.advance(place - start)
        return
      }
      storage.pointee.cellCount = firstCell
      if case .mistake(let mistake, let place) = scan { throw cursor.fault(mistake, after: place - start) }
      if end - start > maximumRecordBytes { return try skipElement(into: batch) }
      try cursor.more(after: end - start)
    }
  }

  /// Puts a member's key into its column.
  private func takeKey(
    from start: BytePointer, to value: BytePointer, in storage: UnsafeMutablePointer<BatchStorage>
  ) -> RecordProblem? {
    var escaped = false
    guard case .end(let end) = JSONToken.string(start + 1, value, escaped: &escaped),
      !parser.take(keyOf: end - start - 2, into: keyColumn, in: storage)
    else { return nil }
    return .keyDiffers(column: parser.keys.names[keyColumn])
  }

  /// Keeps the beginning of a record that is too long, and skips it.
  private func skipElement(into batch: RecordBatch) throws(ReaderError) {
    let beginning = Array(cursor.window.bytes.prefix(RecordBatch.keptBytes))
    let (line, offset) = (cursor.line, cursor.window.offset)
    if shape == .members { _ = try cursor.key() }
    var walker = JSONWalker(depth: recordDepth)
    walker.passesSurrogates = true
    try cursor.skip(walker)
    let length = Int(cursor.window.offset - offset)
    batch.finishTooLong(
      beginning: beginning, line: line, byteOffset: offset, byteLength: length, limit: maximumRecordBytes)
  }
}
