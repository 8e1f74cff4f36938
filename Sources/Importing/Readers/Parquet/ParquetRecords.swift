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
  /// The cursors of the columns that are one plain value, in the order of the columns. Not counted: ``cursors`` has them, too.
  private var plain: [Unmanaged<ColumnCursor>?]

  /// The texts of the record that was read, and its cells, which have their places in it.
  let text = TextBuffer(capacity: 1 << 12)
  let cells: UnsafeMutableBufferPointer<Cell>
  /// The bytes of the record, more than the texts if it is too long.
  private(set) var bytes: Int64 = 0
  private(set) var isTooLong = false
  /// Whether a text isn't UTF-8, or has a zero byte.
  private(set) var hasFault = false
  private let limit: Int
  private let kept: Int
  private let note: (Int64) throws(ParquetError) -> Void
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
    self.note = note
    memory = PageMemory(limit: memoryLimit, longestValue: limit, kept: kept, note: note)
    plain = []
    cells = .allocate(capacity: file.schema.columns.count)
    cells.initialize(repeating: Cell(kind: .missing, offset: 0, length: 0))
  }

  deinit { cells.deallocate() }

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
    (plain, cursors) = ([], [])
    (group, row, rows) = (index, 0, file.rows(ofGroup: index))
    // A group without rows needn't have its columns in any place.
    guard rows > 0 else { return }
    cursors = try file.cursors(ofGroup: index, memory)
    plain = file.schema.columns.map { column in
      let cursor = cursors[column.leaves.lowerBound]
      guard case .value = column.shape, cursor.leaf.repetition == 0 else { return nil }
      return .passUnretained(cursor)
    }
  }

  /// Reads the next record; false at the end.
  func next() throws(ParquetError) -> Bool {
    while row == rows {
      for cursor in cursors where try cursor.isAtValue() { throw cursor.malformed("it has more values than rows") }
      guard group + 1 < file.groupCount else { return false }
      try begin(group + 1)
    }
    text.removeAll()
    (bytes, isTooLong, hasFault) = (0, false, false)
    let plain = plain
    for index in cells.indices {
      let start = text.count
      let kind =
        if let cursor = plain[index] {
          try cursor._withUnsafeGuaranteedRef { readPlain($0) }.get()
        } else {
          try readNested(file.schema.columns[index])
        }
      cells[index] = Cell(
        kind: kind, offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: text.count - start))
      try checkLength()
    }
    let omitted = memory.takeOmitted()
    if omitted > 0 { isTooLong = true }
    bytes += Int64(text.count) + omitted
    row += 1
    return true
  }

  @inline(__always)
  private func readPlain(_ cursor: ColumnCursor) -> Result<Cell.Kind, ParquetError> {
    do throws(ParquetError) {
      guard try cursor.isAtValue() else { throw cursor.malformed("it has fewer values than rows") }
      if cursor.definition < cursor.leaf.definition {
        cursor.pass()
        return .success(.null)
      }
      let kind = try cursor.append(to: text)
      guard kind == .fault else { return .success(kind) }
      hasFault = true
      return .success(.text)
    } catch {
      return .failure(error)
    }
  }

  @inline(__always)
  private func checkLength() throws(ParquetError) {
    if text.count > limit { try cut() }
  }

  /// Of a record that is too long, only the beginning is kept. It may be of any length: a short page may say that a value is
  /// there a billion times.
  @inline(never)
  private func cut() throws(ParquetError) {
    isTooLong = true
    bytes += Int64(text.count - min(kept, text.count))
    text.truncate(to: min(kept, text.count))
    try note(bytes)
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
    guard cursors[member.leaves.lowerBound].definition < definition else {
      for leaf in member.leaves.dropFirst() {
        guard try cursors[leaf].isAtValue(), cursors[leaf].definition >= definition else {
          throw cursors[leaf].malformed("its levels contradict")
        }
      }
      return false
    }
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
        try checkLength()
      } while try isRepeated(member, at: repetition, definition)
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
        try checkLength()
      } while try isRepeated(member, at: repetition, definition)
      text.append(UInt8(ascii: "}"))
    }
  }

  private func appendOptional(_ member: ParquetSchema.Member) throws(ParquetError) {
    if try isNull(member) { text.append("null") } else { try appendJSON(member) }
  }

  /// Whether there is a further value at a level of repetition, which then is there. All columns of a part agree on that.
  private func isRepeated(
    _ member: ParquetSchema.Member, at repetition: UInt32, _ definition: UInt32
  ) throws(ParquetError) -> Bool {
    let first = cursors[member.leaves.lowerBound]
    let isRepeated = try first.isAtValue() && first.repetition == repetition
    for leaf in member.leaves {
      let cursor = cursors[leaf]
      let level = try cursor.isAtValue() ? cursor.repetition : 0
      guard (level == repetition) == isRepeated, level <= repetition, !isRepeated || cursor.definition >= definition
      else {
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
