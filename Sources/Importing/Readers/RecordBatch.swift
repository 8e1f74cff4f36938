/// Records in flat memory: a reader fills it, mapping reads it. Created once and reused for every batch, since
/// refilling costs no allocation.
///
/// A row `7,"a ""b""",` under the columns `id,name,note` is one record of three cells. Its source bytes lie in the
/// arena, and `7` is a cell into them; `a "b"` had to be decoded, so that cell points behind them; the third is
/// `.empty`. Cells hold until the batch is filled again.
///
/// `@unchecked Sendable` without a lock: a batch has one owner at a time. The thread that reads hands it to
/// the thread that maps, and doesn't touch it until it is returned.
package final class RecordBatch: @unchecked Sendable {
  // Not private: the reader that fills the batch sets these three.

  /// Column names. For JSON there are more as new keys are met; an index never changes in a reader's life.
  package internal(set) var columns: [String] = []
  /// Where the reader stands after this batch.
  package internal(set) var end = ReaderPosition.start
  /// Whether the source isn't text; a record's source bytes are then its values, concatenated.
  var isMadeOfCells = false
  /// The sheet that the records are rows of; empty if the source has none. Messages name the cell.
  var sheet = ""

  /// How rejected records are written where some of their values are masked; nil: as they stand in the source.
  var cover: RejectCover?

  /// The flat memory.
  @usableFromInline let storage: UnsafeMutablePointer<BatchStorage>
  private var problems: [Int: RecordProblem] = [:]

  /// An empty batch.
  package init() {
    storage = .allocate(capacity: 1)
    storage.initialize(to: BatchStorage())
  }

  deinit {
    storage.pointee.deallocate()
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// Number of records.
  @inlinable package var count: Int { storage.pointee.count }

  /// The cell of a record in a column; `.missing` where the record has none.
  @inlinable
  package func cell(_ record: Int, _ column: Int) -> Cell {
    let place = entry(record)
    guard column >= 0, column < Int(place.cellCount) else { return .missing }
    return storage.pointee.cells[Int(place.firstCell) &+ column]
  }

  /// The number of cells of a record. It differs from `columns.count` in a row that is too short or too long; of a far too
  /// long one, the first thousand cells beyond the columns are kept.
  @inlinable package func cellCount(_ record: Int) -> Int { Int(entry(record).cellCount) }

  /// Line of a record's first byte in the source, counted from 1.
  @inlinable package func line(_ record: Int) -> Int64 { entry(record).line }

  /// Offset in the source, in bytes, of a record's first byte.
  @inlinable package func byteOffset(_ record: Int) -> Int64 { entry(record).byteOffset }

  /// Length of a record in the source, in bytes, without its line end.
  @inlinable package func byteLength(_ record: Int) -> Int64 { entry(record).byteLength }

  /// Why a record can't be used; nil if it can.
  package func problem(_ record: Int) -> RecordProblem? { problems.isEmpty ? nil : problems[record] }

  /// Whether any record of the batch has a problem.
  package var hasProblems: Bool { !problems.isEmpty }

  /// Lends the bytes of a cell, UTF-8 unless the record's problem says otherwise. They are gone after `body`.
  @inlinable
  package func withBytes<R>(of cell: Cell, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(
      UnsafeRawBufferPointer(start: storage.pointee.arena + Int(cell.offset), count: Int(cell.length)))
  }

  /// The bytes of a cell, as above; until the batch is filled again.
  @inlinable
  package func bytes(of cell: Cell) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: storage.pointee.arena + Int(cell.offset), count: Int(cell.length))
  }

  /// How many bytes the records have in all.
  var byteCount: Int { storage.pointee.arenaCount }

  /// The text of a cell; bytes that aren't UTF-8 are replaced.
  package func string(_ cell: Cell) -> String {
    withBytes(of: cell) { String(decoding: $0, as: UTF8.self) }
  }

  /// A copy of the source bytes of a record, without its line end, to be written to a reject file. Of a record that
  /// is too long, its first 64 KiB. Of a source that isn't text, the record as a JSON object.
  package func rawBytes(_ record: Int) -> [UInt8] {
    isMadeOfCells && cellCount(record) > 0 ? json(record) : withRawBytes(of: record) { Array($0) }
  }

  /// Lends the same bytes without a copy. They are gone after `body`.
  @inlinable
  package func withRawBytes<R>(of record: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    let place = entry(record)
    return try body(
      UnsafeRawBufferPointer(
        start: storage.pointee.arena + Int(place.arenaOffset), count: Int(place.arenaLength)))
  }

  @inlinable
  func entry(_ record: Int) -> BatchStorage.Record {
    precondition(record >= 0 && record < storage.pointee.count, "The batch has no such record")
    return storage.pointee.records[record]
  }

  /// Forgets all records; keeps the memory.
  func removeAll() {
    storage.pointee.removeAll()
    problems.removeAll(keepingCapacity: true)
    cover = nil
  }

  /// Notes what is wrong with the last record.
  func setProblem(_ problem: RecordProblem) {
    problems[storage.pointee.count - 1] = problem
  }

  /// Notes what is wrong with a record.
  func setProblem(_ problem: RecordProblem, of record: Int) { problems[record] = problem }

  /// Puts another value in place of a cell that the record has.
  func replace(_ column: Int, of record: Int, by text: [UInt8], _ kind: Cell.Kind) {
    let place = entry(record)
    guard column < Int(place.cellCount) else { return }
    let index = Int(place.firstCell) + column
    storage.pointee.cells[index].kind = kind
    storage.pointee.replace(cell: index, by: text)
  }
}

extension RecordBatch {
  /// A record as a JSON object, `{"id":7,"name":"Ann"}`.
  func json(_ record: Int) -> [UInt8] {
    var json: [UInt8] = []
    var separator = UInt8(ascii: "{")
    for (column, name) in columns.enumerated() {
      let cell = cell(record, column)
      if cell.kind == .missing { continue }
      json.append(separator)
      separator = UInt8(ascii: ",")
      JSONString.quote(name.utf8, to: &json)
      json.append(UInt8(ascii: ":"))
      let bytes = withBytes(of: cell) { Array($0) }
      switch cell.kind {
      case .text, .date, .fault: JSONString.quote(bytes, to: &json)
      case .number, .nested, .quantity: json += bytes
      case .yes: json += Array("true".utf8)
      case .no: json += Array("false".utf8)
      case .null, .empty, .missing: json += Array("null".utf8)
      }
    }
    return json + Array(separator == UInt8(ascii: "{") ? "{}".utf8 : "}".utf8)
  }
}

extension RecordBatch {
  /// The bytes kept of a record that is too long, for the reject file. The rest is in the source, at its offset.
  static let keptBytes = 64 << 10

  /// Adds a record that is longer than the limit, without cells.
  func finishTooLong(beginning: [UInt8], line: Int64, byteOffset: Int64, byteLength: Int, limit: Int) {
    beginning.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      storage.pointee.finish(
        bytes: base, kept: min(bytes.count, byteLength), line: line, byteOffset: byteOffset, byteLength: byteLength,
        firstCell: storage.pointee.cellCount)
    }
    setProblem(.recordTooLong(limit: limit))
  }
}
