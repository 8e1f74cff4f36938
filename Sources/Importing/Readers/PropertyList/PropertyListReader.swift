/// Reads the dictionaries of a property list in XML: the elements of an array, which is the list or stands under keys, or
/// one dictionary in its place. Memory is that of one dictionary. Integers and reals keep their digits as written, data is
/// its Base64 without white space, a date its text; a nested dictionary or array is JSON. Of two equal keys the last wins.
///
/// A mistake ends the reading, since nothing after it can be trusted; the records before it are delivered.
/// Source: `PropertyList-1.0.dtd`, which isn't read. A binary list arrives as the XML that it stands for.
final class PropertyListReader: SequentialReader {
  private let cursor: XMLCursor
  private var tree = XMLTree()
  private var mapping: PropertyListColumns
  private let maximumRecordBytes: Int
  private var validator: TextValidator
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private let rootPath: [String]
  private var delivered: Int64
  /// How many elements are open around a record; 0 once all have been read.
  private var depth = 0
  /// Whether the record is a dictionary that stands in the place of an array.
  private var isAlone = false
  private var hasEnded = false
  /// The place after the last record, where a reader resumes.
  private var mark: (offset: Int64, line: Int64, column: Int64, open: [String], depth: Int) = (0, 1, 1, [], 0)

  private(set) var findings = ReaderFindings()

  /// Moves to the records, or to the position. The window must be at the beginning of the file.
  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    validator = TextValidator(encoding: window.encoding)
    cursor = XMLCursor(document: DocumentCursor(window: window, maximumTokenBytes: options.maximumRecordBytes))
    mapping = PropertyListColumns(names: options.columns ?? [])
    maximumRecordBytes = options.maximumRecordBytes
    rootPath = options.rootPath ?? []
    delivered = position?.record ?? 0
    window.skipByteOrderMark()
    if let position, !position.state.isEmpty {
      try resume(at: position)
    } else {
      try enter(options.rootPath)
    }
    setMark()
  }

  var columns: [String] { mapping.columns.names }
  var bytesTotal: Int64 { cursor.document.window.bytesTotal }
  var bytesRead: Int64 { cursor.document.window.bytesRead }

  var rejectForm: any RejectForm { PropertyListRejects(path: rootPath) }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    guard let name = try nextRecord() else { return false }
    try readElement(name, into: batch)
    delivered += 1
    if isAlone { depth = 0 }
    setMark()
    return true
  }

  /// Moves to the next element of the array; nil if the document has ended.
  private func nextRecord() throws(ReaderError) -> String? {
    while !hasEnded {
      switch try cursor.next() {
      case .element(let name):
        if depth > 0 { return name }
        cursor.enter(name)
      case .end: if cursor.open.count < depth { depth = 0 }
      case .finished: hasEnded = true
      }
    }
    return nil
  }

  private func readElement(_ name: String, into batch: RecordBatch) throws(ReaderError) {
    let storage = batch.storage
    let document = cursor.document
    guard let length = try cursor.read(into: &tree, limit: maximumRecordBytes) else {
      return try cursor.skip(name, into: batch, limit: maximumRecordBytes)
    }
    let (start, end) = document.waiting
    let firstCell = storage.pointee.cellCount
    guard let kind = PropertyListColumns.kind(of: name) else { throw cursor.fault(.notPropertyList) }
    if name == "dict" {
      do throws(PropertyListColumns.Fault) {
        try mapping.appendCells(of: tree, at: start, into: storage)
      } catch {
        storage.pointee.cellCount = firstCell
        throw cursor.fault(error.mistake, after: error.place)
      }
    }
    storage.pointee.finish(
      bytes: start, kept: length, line: document.line, byteOffset: document.window.offset, byteLength: length,
      firstCell: firstCell)
    if name == "dict" {
      mapping.composeTexts(in: storage)
    } else {
      batch.setProblem(.notAnObject(found: kind))
    }
    if let problem = validator.check(from: start, to: start + length, horizon: end, offset: document.window.offset) {
      batch.setProblem(problem)
    }
    document.advance(length)
    cursor.passed()
  }

  private func setMark() {
    let document = cursor.document
    mark = (document.window.offset, document.line, document.column, cursor.open, depth)
  }

  /// The mark in storable form: `9 3 plist/dict/array` is column 9, inside the third of these elements. With `alone` after
  /// it, there is one record.
  var position: ReaderPosition {
    ReaderPosition(
      byteOffset: mark.offset, line: mark.line, record: delivered,
      state: "\(mark.column) \(mark.depth) \(mark.open.joined(separator: "/"))" + (isAlone ? " alone" : ""))
  }

  private func resume(at position: ReaderPosition) throws(ReaderError) {
    let parts = position.state.parts(between: " ")
    let open = parts.count > 2 ? parts[2].parts(between: "/") : []
    guard parts.count == 3 || (parts.count == 4 && parts[3] == "alone"), let column = Int64(parts[0]), column > 0,
      let depth = Int(parts[1]),
      (0...open.count).contains(depth), open.count <= XMLMistake.maximumDepth
    else { throw .positionInvalid(position, fileSize: bytesTotal) }
    self.depth = depth
    isAlone = parts.count == 4
    try cursor.document.window.resume(at: position)
    try cursor.seek(to: position.byteOffset, line: position.line, column: column, open: open, hasBegun: true)
  }
}

extension PropertyListReader {
  /// From the beginning of the document, moves to the records under a key path, or to where they are if none is given.
  private func enter(_ path: [String]?) throws(ReaderError) {
    if let path { return try enterRecords(at: path) }
    let start = cursor.document.window.offset
    let place = try findRecords()
    findings.notes = place.note.map { [$0] } ?? []
    try cursor.seek(to: start, line: 1, column: 1, open: [], hasBegun: false)
    try enterRecords(at: place.path)
  }

  /// From the beginning of the document, moves to its value.
  private func enterList() throws(ReaderError) -> String {
    guard case .element("plist") = try cursor.next(), !cursor.isEmpty else { throw cursor.fault(.notPropertyList) }
    cursor.enter("plist")
    return try element()
  }

  /// Where the records are, if no `root` is given, as in JSON: see ``DocumentCursor/findRecords()``. Members of a dictionary
  /// are no records.
  private func findRecords() throws(ReaderError) -> JSONRecordPlace {
    let value = try enterList()
    guard value == "dict" else { return JSONRecordPlace(path: [], shape: .elements) }
    var survey = JSONSurvey()
    let isEmpty = cursor.isEmpty
    cursor.enter(value)
    do throws(ReaderError) {
      while !isEmpty, let key = try key() {
        survey.add(key)
        let name = try element()
        guard name == "array" else {
          try cursor.skip(name)
          continue
        }
        let isEmpty = cursor.isEmpty
        cursor.enter(name)
        guard !isEmpty, case .element(let first) = try cursor.next() else {
          survey.noteArray(key, isEmpty: true)
          continue
        }
        if first == "dict" { survey.noteArray(key, isEmpty: false) }
        try cursor.skip(first)
        while case .element(let next) = try cursor.next() { try cursor.skip(next) }
      }
    } catch {
      guard case .malformed = error, survey.isSettledBeforeMistake() else { throw error }
    }
    return try survey.place(hasKeys: false)
  }

  private func enterRecords(at path: [String]) throws(ReaderError) {
    var value = try enterList()
    for (index, wanted) in path.enumerated() {
      guard value == "dict" else { throw notAnArray(value, at: path[..<index]) }
      var found: [String] = []
      let isEmpty = cursor.isEmpty
      cursor.enter(value)
      value = ""
      while !isEmpty, let key = try key() {
        let name = try element()
        if key == wanted {
          value = name
          break
        }
        if found.count < 20 { found.append(key) }
        try cursor.skip(name)
      }
      guard !value.isEmpty else {
        throw .rootNotFound(path: path[...index].joined(separator: "."), found: found)
      }
    }
    if value == "dict" {
      isAlone = true
      depth = cursor.open.count
      return
    }
    guard value == "array" else { throw notAnArray(value, at: path[...]) }
    let isEmpty = cursor.isEmpty
    cursor.enter(value)
    depth = isEmpty ? 0 : cursor.open.count
  }

  private func notAnArray(_ name: String, at path: ArraySlice<String>) -> ReaderError {
    guard let kind = PropertyListColumns.kind(of: name) else { return cursor.fault(.notPropertyList) }
    return .notAnArray(path: path.joined(separator: "."), found: kind)
  }

  /// The element that must come next.
  private func element() throws(ReaderError) -> String {
    guard case .element(let name) = try cursor.next() else { throw cursor.fault(.notPropertyList) }
    return name
  }

  /// Consumes a key; nil if the dictionary has ended.
  private func key() throws(ReaderError) -> String? {
    switch try cursor.next() {
    case .end: return nil
    case .element("key"):
      guard let length = try cursor.read(into: &tree, limit: maximumRecordBytes) else { throw cursor.fault(.tooLong) }
      var text: [UInt8] = []
      tree.appendText(of: 0, at: cursor.document.waiting.start, keepsBlanks: true, to: &text)
      cursor.document.advance(length)
      return String(decoding: text, as: UTF8.self)
    case .element, .finished: throw cursor.fault(.notPropertyList)
    }
  }
}
