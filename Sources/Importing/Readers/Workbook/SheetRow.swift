/// A row of a sheet while it is read: the texts of its cells, and where each of them stands.
final class SheetRow {
  /// Its number in the sheet, from 1; that of the last row that began.
  private(set) var number: Int64 = 0
  /// The texts of its cells, one after the other. What is appended belongs to the cell that is put next.
  var text: [UInt8] = []
  /// The cells up to the last one.
  private(set) var cells: [Cell] = []
  private(set) var isTooLong = false
  /// The bytes of all cells; of a row that is too long, not all are kept.
  private var length: Int64 = 0
  private let maximumBytes: Int

  /// The rows of a sheet, and the columns.
  static let limit: Int64 = 1_048_576
  static let columnLimit = 16_384
  /// The bytes that a row counts for beside its values.
  private static let overhead: Int64 = 8

  /// - Parameter maximumBytes: the length of the longest record.
  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  /// The error for a sheet of more rows than the limit.
  static func tooMany(_ part: PartReader) -> ReaderError { part.fault("it has more than \(limit) rows") }

  /// The bytes that its delivery counts for.
  var cost: Int64 { length + Self.overhead }

  /// Begins a row without cells.
  func begin(_ number: Int64) {
    self.number = number
    text.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    isTooLong = false
    length = 0
  }

  /// The same cells are those of another row, too.
  func renumber(_ number: Int64) { self.number = number }

  /// Whether there is no cell in a column yet.
  func isFree(_ column: Int) -> Bool { column >= cells.count || cells[column].kind == .empty }

  /// Keeps a cell, whose text stands from a place on; nothing if it is empty.
  func put(_ kind: Cell.Kind?, from start: Int, at column: Int) {
    guard let kind else { return text.removeLast(text.count - start) }
    while cells.count <= column { cells.append(Cell(kind: .empty, offset: 0, length: 0)) }
    cells[column] = Cell(
      kind: kind, offset: UInt32(truncatingIfNeeded: start), length: UInt32(truncatingIfNeeded: text.count - start))
    length += Int64(text.count - start)
    if text.count > maximumBytes {
      isTooLong = true
      text.removeLast(max(0, text.count - RecordBatch.keptBytes))
    }
  }

  /// Puts copies of the last cell behind it. Of a row that has become too long, only their number is kept.
  func repeatLast(_ count: Int) {
    guard count > 0, let last = cells.last else { return }
    let copy = isTooLong ? [] : Array(text[Int(last.offset)..<Int(last.offset) + Int(last.length)])
    for _ in 0..<count {
      guard !isTooLong else {
        cells.append(last)
        continue
      }
      let start = text.count
      text.append(contentsOf: copy)
      put(last.kind, from: start, at: cells.count)
    }
  }

  /// Appends it to a batch as a record of some columns.
  func deliver(to batch: RecordBatch, columns: Int, at offset: Int64) {
    if isTooLong {
      return batch.finishTooLong(
        beginning: Array(text.prefix(RecordBatch.keptBytes)), line: number, byteOffset: offset,
        byteLength: maximumBytes + 1, limit: maximumBytes)
    }
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    let arena = UInt32(truncatingIfNeeded: storage.pointee.arenaCount)
    for column in 0..<columns {
      guard column < cells.count else {
        storage.pointee.append(Cell(kind: .empty, offset: 0, length: 0))
        continue
      }
      var cell = cells[column]
      cell.offset &+= arena
      storage.pointee.append(cell)
    }
    let length = text.count
    // So that there is a place in memory, whatever the row has.
    text.append(0)
    defer { text.removeLast() }
    let problem = text.withUnsafeBufferPointer { bytes -> RecordProblem? in
      guard let base = bytes.baseAddress else { return nil }
      storage.pointee.finish(
        bytes: base, kept: length, line: number, byteOffset: offset, byteLength: length, firstCell: firstCell)
      return TextValidator.validate(from: base, to: base + length)
    }
    if let problem {
      batch.setProblem(problem)
    } else if cells.count > columns {
      batch.setProblem(.tooManyFields(expected: columns, found: cells.count))
    }
  }
}
