/// Reads elements of an XML 1.0 document as records: those with a name, wherever they stand, or with a
/// path. Memory is that of one record, whatever the document's length. Nothing is fetched, no entity is expanded, and
/// a document type with declarations of its own is refused.
///
/// A mistake ends the reading, since nothing after it can be trusted; the records before it are delivered.
final class XMLReader: SequentialReader {
  /// Which elements are records.
  private enum Wanted {
    case named(String)
    case path([String])
    /// None: the document's element is empty.
    case nothing
  }

  private let cursor: XMLCursor
  private var mapping: XMLColumns
  private let maximumRecordBytes: Int
  private var wanted: Wanted
  /// The name or path of the records, as in the options.
  private var recordPath: String
  private var validator: TextValidator
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private var delivered: Int64
  private var hasEnded = false
  /// The place after the last record, where a reader resumes.
  private var mark: (offset: Int64, line: Int64, column: Int64, open: [String], hasBegun: Bool) = (0, 1, 1, [], false)

  /// Moves to the position. The window must be at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    validator = TextValidator(encoding: window.encoding)
    cursor = XMLCursor(document: DocumentCursor(window: window, maximumTokenBytes: options.maximumRecordBytes))
    mapping = XMLColumns(names: options.columns ?? [])
    maximumRecordBytes = options.maximumRecordBytes
    delivered = position?.record ?? 0
    recordPath = options.record ?? ""
    wanted = .nothing
    window.skipByteOrderMark()
    if let position, !position.state.isEmpty {
      try resume(at: position, isGiven: options.record != nil)
    } else {
      if options.record == nil {
        let start = window.offset
        recordPath = try Self.findRecord(cursor)
        try cursor.seek(to: start, line: 1, column: 1, open: [], hasBegun: false)
      }
    }
    setMark()
    wanted = Self.wanted(recordPath)
  }

  var columns: [String] { mapping.columns.names }
  var bytesTotal: Int64 { cursor.document.window.bytesTotal }
  var bytesRead: Int64 { cursor.document.window.bytesRead }

  var rejectForm: any RejectForm { XMLRejects(record: recordPath) }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    guard let name = try nextRecord() else { return false }
    try readElement(name, into: batch)
    delivered += 1
    setMark()
    return true
  }

  private static func wanted(_ record: String) -> Wanted {
    guard !record.isEmpty else { return .nothing }
    guard record.utf8.contains(UInt8(ascii: "/")) else { return .named(record) }
    return .path(record.parts(between: "/"))
  }

  private func isWanted(_ name: String) -> Bool {
    switch wanted {
    case .named(let wanted): name == wanted
    case .path(let path): path.count == cursor.open.count + 1 && path.last == name && path.starts(with: cursor.open)
    case .nothing: false
    }
  }

  /// Moves to the next record; nil if the document has ended.
  private func nextRecord() throws(ReaderError) -> String? {
    while !hasEnded {
      switch try cursor.next() {
      case .element(let name):
        if isWanted(name) { return name }
        cursor.enter(name)
      case .end: break
      case .finished: hasEnded = true
      }
    }
    return nil
  }

  private func readElement(_ name: String, into batch: RecordBatch) throws(ReaderError) {
    let storage = batch.storage
    let document = cursor.document
    guard let length = try cursor.read(into: &mapping.tree, limit: maximumRecordBytes) else {
      return try cursor.skip(name, into: batch, limit: maximumRecordBytes)
    }
    let (start, end) = document.waiting
    let firstCell = storage.pointee.cellCount
    guard mapping.appendCells(at: start, into: storage) else {
      storage.pointee.cellCount = firstCell
      throw cursor.fault(.tooManyColumns)
    }
    storage.pointee.finish(
      bytes: start, kept: length, line: document.line, byteOffset: document.window.offset, byteLength: length,
      firstCell: firstCell)
    mapping.composeTexts(at: start, in: storage)
    if let problem = validator.check(from: start, to: start + length, horizon: end, offset: document.window.offset) {
      batch.setProblem(problem)
    }
    document.advance(length)
    cursor.passed()
  }
}

extension XMLReader {
  /// The name that the elements in the document's element have, if it is clear which of them are the records. Reads
  /// the whole document; a mistake after such an element is left for the reading to report.
  private static func findRecord(_ cursor: XMLCursor) throws(ReaderError) -> String {
    var counts: [(name: String, count: Int)] = []
    var root = ""
    do throws(ReaderError) {
      search: while true {
        switch try cursor.next() {
        case .finished: break search
        case .end: break
        case .element(let name):
          if cursor.open.isEmpty { root = name }
          if cursor.open.count == 1 {
            if let index = counts.firstIndex(where: { $0.name == name }) {
              counts[index].count += 1
            } else if counts.count < 20 {
              counts.append((name, 1))
            }
          }
          cursor.enter(name)
        }
      }
    } catch {
      guard case .malformed = error, counts.count == 1 else { throw error }
    }
    guard !counts.isEmpty else { return "" }
    let several = counts.filter { $0.count > 1 }
    guard let only = several.isEmpty ? counts.first : several.first, several.count == 1 || counts.count == 1 else {
      throw .severalRecords(found: counts.map(\.name))
    }
    return "\(root)/\(only.name)"
  }

  private func setMark() {
    let document = cursor.document
    mark = (document.window.offset, document.line, document.column, cursor.open, cursor.hasBegun)
  }

  /// The mark in storable form: `12 1 feed/entry feed` is column 12, the document's element has begun,
  /// the records are at that path, and `feed` is open. `-` stands for nothing.
  var position: ReaderPosition {
    let open = mark.open.isEmpty ? "-" : mark.open.joined(separator: "/")
    return ReaderPosition(
      byteOffset: mark.offset, line: mark.line, record: delivered,
      state: "\(mark.column) \(mark.hasBegun ? 1 : 0) \(recordPath.isEmpty ? "-" : recordPath) \(open)")
  }

  private func resume(at position: ReaderPosition, isGiven: Bool) throws(ReaderError) {
    let parts = position.state.parts(between: " ")
    guard parts.count == 4, let column = Int64(parts[0]), column > 0
    else { throw .positionInvalid(position, fileSize: bytesTotal) }
    if !isGiven { recordPath = parts[2] == "-" ? "" : parts[2] }
    let open = parts[3] == "-" ? [] : parts[3].parts(between: "/")
    guard open.count <= XMLMistake.maximumDepth else { throw .positionInvalid(position, fileSize: bytesTotal) }
    try cursor.document.window.resume(at: position)
    try cursor.seek(to: position.byteOffset, line: position.line, column: column, open: open, hasBegun: parts[1] == "1")
  }
}
