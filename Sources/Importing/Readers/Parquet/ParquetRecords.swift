/// The records of a file, assembled from its columns: one after another, row group by row group.
///
/// A column of plain values gives a cell of its kind. Lists, objects and maps become JSON, as they would stand in a record of
/// JSON. Source: the Parquet format, “Nested Encoding”, after the Dremel paper.
final class ParquetRecords {
  let file: ParquetFile
  private let memory: PageMemory
  /// The row group that is read, and the rows of it that were.
  private(set) var group = -1
  private(set) var row: Int64 = 0
  private var rows: Int64 = 0
  private var cursors: [ColumnCursor] = []
  /// Whether each column of the records is one plain value.
  private let isPlain: [Bool]

  /// The texts of the record that was read, and its cells, which have their places in it.
  let text = TextBuffer(capacity: 1 << 12)
  private(set) var cells: [Cell] = []
  /// The bytes of the record, more than the texts if it is too long.
  private(set) var bytes: Int64 = 0
  private(set) var isTooLong = false
  /// Whether a text isn't UTF-8, or has a zero byte.
  private(set) var hasFault = false
  private let limit: Int
  private let kept: Int
  private let value = TextBuffer(capacity: 1 << 10)

  /// - Parameters:
  ///   - limit: of a record's bytes. Of a longer one, the first `kept` are.
  ///   - memoryLimit: of the pages that are in memory.
  ///   - note: gets the bytes unpacked so far, and throws if they are too many.
  init(
    _ file: ParquetFile, limit: Int, kept: Int, memoryLimit: Int = 256 << 20,
    note: @escaping (Int64) throws(ParquetError) -> Void
  ) {
    self.file = file
    self.limit = limit
    self.kept = kept
    memory = PageMemory(limit: memoryLimit, note: note)
    let leaves = file.schema.leaves
    isPlain = file.schema.columns.map { column in
      guard case .value = column.shape else { return false }
      return leaves[column.leaves.lowerBound].repetition == 0
    }
  }

  /// The bytes of pages that were unpacked.
  var unpacked: Int64 { memory.unpacked }

  /// Goes to a row of a row group. The rows before it aren't read.
  /// - Parameter unpacked: the bytes that had been unpacked there.
  func seek(group: Int, row: Int64, unpacked: Int64) throws(ParquetError) {
    try memory.recount(unpacked) { () throws(ParquetError) in
      try begin(group)
      for cursor in cursors { try cursor.skipRows(row) }
    }
    self.row = row
  }

  private func begin(_ index: Int) throws(ParquetError) {
    // The pages of the group before are given back first.
    cursors = []
    (group, row, rows) = (index, 0, file.rows(ofGroup: index))
    // A group without rows needn't have its columns in any place.
    if rows > 0 { cursors = try file.cursors(ofGroup: index, memory) }
  }

  /// Reads the next record; false at the end.
  func next() throws(ParquetError) -> Bool {
    while row == rows {
      for cursor in cursors where try cursor.isAtValue() { throw cursor.malformed("it has more values than rows") }
      guard group + 1 < file.groupCount else { return false }
      try begin(group + 1)
    }
    text.removeAll()
    cells.removeAll(keepingCapacity: true)
    (bytes, isTooLong, hasFault) = (0, false, false)
    let columns = file.schema.columns
    for index in columns.indices {
      let start = text.count
      let kind =
        isPlain[index] ? try readPlain(cursors[columns[index].leaves.lowerBound]) : try readNested(columns[index])
      cells.append(
        Cell(
          kind: kind, offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: text.count - start))
      )
      checkLength()
    }
    bytes += Int64(text.count)
    row += 1
    return true
  }

  @inline(__always)
  private func readPlain(_ cursor: ColumnCursor) throws(ParquetError) -> Cell.Kind {
    guard try cursor.isAtValue() else { throw cursor.malformed("it has fewer values than rows") }
    if cursor.definition < cursor.leaf.definition {
      cursor.pass()
      return .null
    }
    let kind = try cursor.append(to: text)
    guard kind == .fault else { return kind }
    hasFault = true
    return .text
  }

  @inline(__always)
  private func checkLength() {
    if text.count > limit { cut() }
  }

  @inline(never)
  private func cut() {
    isTooLong = true
    bytes += Int64(text.count - min(kept, text.count))
    text.truncate(to: min(kept, text.count))
  }

  // MARK: Nested values

  private func readNested(_ column: ParquetSchema.Member) throws(ParquetError) -> Cell.Kind {
    for leaf in column.leaves {
      guard try cursors[leaf].isAtValue() else { throw cursors[leaf].malformed("it has fewer values than rows") }
      guard cursors[leaf].repetition == 0 else { throw cursors[leaf].malformed("a record begins inside a list") }
    }
    let isNull = try isNull(column)
    if !isNull { try appendJSON(column) }
    // The next page is looked at in any case, as it is to skip a record: the bytes unpacked so far are then the same.
    for leaf in column.leaves where cursors[leaf].leaf.repetition > 0 { _ = try cursors[leaf].isAtValue() }
    return isNull ? .null : .nested
  }

  /// Whether a part of the record is null, whose place is then passed.
  private func isNull(_ member: ParquetSchema.Member) throws(ParquetError) -> Bool {
    guard member.definition > 0 else { return false }
    return try isAbsent(member, below: member.definition)
  }

  /// Whether a part isn't there, by the level of its first column; it is then passed in all of them.
  private func isAbsent(_ member: ParquetSchema.Member, below definition: UInt32) throws(ParquetError) -> Bool {
    guard cursors[member.leaves.lowerBound].definition < definition else { return false }
    for leaf in member.leaves {
      let cursor = cursors[leaf]
      guard try cursor.isAtValue(), cursor.definition < definition else {
        throw cursor.malformed("its levels contradict")
      }
      cursor.pass()
    }
    return true
  }

  /// Appends a part that isn't null. All of its columns are at a value.
  private func appendJSON(_ member: ParquetSchema.Member) throws(ParquetError) {
    switch member.shape {
    case .value: try appendValue(cursors[member.leaves.lowerBound])
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for index in members.indices {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        members[index].key.withUnsafeBufferPointer { text.append($0) }
        try appendOptional(members[index])
      }
      text.append(UInt8(ascii: "}"))
    case .list(let element, let repetition, let definition):
      if try isAbsent(member, below: definition) { return text.append("[]") }
      text.append(UInt8(ascii: "["))
      var isFirst = true
      repeat {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        try appendOptional(element)
        checkLength()
      } while try isRepeated(member, at: repetition)
      text.append(UInt8(ascii: "]"))
    case .map(let key, let value, let repetition, let definition):
      if try isAbsent(member, below: definition) { return text.append("{}") }
      text.append(UInt8(ascii: "{"))
      var isFirst = true
      repeat {
        if !isFirst { text.append(UInt8(ascii: ",")) }
        isFirst = false
        if try isNull(key) {
          text.append("\"null\"")
        } else {
          try appendValue(cursors[key.leaves.lowerBound], isKey: true)
        }
        text.append(UInt8(ascii: ":"))
        try appendOptional(value)
        checkLength()
      } while try isRepeated(member, at: repetition)
      text.append(UInt8(ascii: "}"))
    }
  }

  private func appendOptional(_ member: ParquetSchema.Member) throws(ParquetError) {
    if try isNull(member) { text.append("null") } else { try appendJSON(member) }
  }

  /// Whether there is a further value at a level of repetition. All columns of a part agree on that.
  private func isRepeated(_ member: ParquetSchema.Member, at repetition: UInt32) throws(ParquetError) -> Bool {
    let first = cursors[member.leaves.lowerBound]
    let isRepeated = try first.isAtValue() && first.repetition == repetition
    for leaf in member.leaves {
      let cursor = cursors[leaf]
      let level = try cursor.isAtValue() ? cursor.repetition : 0
      guard (level == repetition) == isRepeated, level <= repetition else {
        throw cursor.malformed("its levels contradict")
      }
    }
    return isRepeated
  }

  private func appendValue(_ cursor: ColumnCursor, isKey: Bool = false) throws(ParquetError) {
    guard cursor.definition == cursor.leaf.definition else { throw cursor.malformed("its levels contradict") }
    value.removeAll()
    let kind = try cursor.append(to: value)
    let bytes = UnsafeBufferPointer(start: BytePointer(value.start), count: value.count)
    switch kind {
    case .number where !isKey: text.append(bytes)
    case .yes: text.append(isKey ? "\"true\"" : "true")
    case .no: text.append(isKey ? "\"false\"" : "false")
    case .fault:
      hasFault = true
      text.append(quoted: bytes)
    default: text.append(quoted: bytes)
    }
  }
}
