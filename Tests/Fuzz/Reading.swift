@testable import Importing

/// The result of reading an input.
struct Reading {
  struct Record: Equatable {
    var line: Int64
    var offset: Int64
    var length: Int64
    var raw: [UInt8]
    var problem: RecordProblem?
    /// Compared where rows have all columns; elsewhere it is the number known by then.
    var cellCount: Int
    /// By column name; empty if there is a problem. The first byte is the kind.
    var cells: [String: [UInt8]]
  }

  private(set) var columns: [String] = []
  private(set) var records: [Record] = []
  /// The position after each batch.
  private(set) var ends: [ReaderPosition] = []
  private(set) var error: ReaderError?
  private var first: Int64 = 0

  /// Reads until the end; an error of the reader's ends up in `error`.
  init(
    _ file: MemoryFile, _ chosen: ReaderChoices, from position: ReaderPosition? = nil, limit: Int, blockSize: Int
  ) throws {
    first = position?.record ?? 0
    do {
      let reader = try openReader(
        fileDescriptor: file.descriptor, name: chosen.name, options: chosen.options, from: position,
        blockSize: blockSize)
      let batch = RecordBatch()
      while try reader.read(into: batch, limit: limit) {
        guard batch.count > 0, batch.count <= limit else {
          throw BrokenPromise(description: "a batch has \(batch.count) records")
        }
        for record in 0..<batch.count { records.append(try Self.record(record, of: batch, chosen)) }
        ends.append(batch.end)
        guard batch.end.record == first + Int64(records.count) else {
          throw BrokenPromise(description: "record \(batch.end.record) isn't that after \(records.count)")
        }
        guard records.count < 100_000 else { break }
      }
      columns = reader.columns
      _ = reader.bytesRead
    } catch let error as ReaderError {
      _ = "\(error)"
      self.error = error
    }
  }

  /// The rest after a batch of one record.
  func after(_ index: Int) -> Reading {
    var rest = self
    rest.records = Array(records[(index + 1)...])
    return rest
  }

  private static func record(_ record: Int, of batch: RecordBatch, _ chosen: ReaderChoices) throws -> Record {
    var made = Record(
      line: batch.line(record), offset: batch.byteOffset(record), length: batch.byteLength(record),
      raw: batch.rawBytes(record), problem: batch.problem(record),
      cellCount: chosen.isTabular ? batch.cellCount(record) : 0, cells: [:])
    if let problem = made.problem {
      _ = "\(problem)"
      made.cellCount = 0
      return made
    }
    for (column, name) in batch.columns.enumerated() {
      let cell = batch.cell(record, column)
      if cell.kind == .missing { continue }
      let bytes = batch.withBytes(of: cell) { Array($0) }
      made.cells[name] = [cell.kind.rawValue] + bytes
      try check(bytes, of: cell.kind)
    }
    return made
  }

  /// Text is UTF-8, a number a number and nested JSON is JSON; anything else has no bytes.
  private static func check(_ bytes: [UInt8], of kind: Cell.Kind) throws {
    let isSound = bytes.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress, !buffer.isEmpty else {
        return ![.number, .nested, .quantity, .date].contains(kind)
      }
      let end = start + buffer.count
      if TextValidator.validate(from: start, to: end) == .invalidUTF8 { return false }
      switch kind {
      case .text, .null, .yes, .no, .date, .fault: return true
      case .missing, .empty: return false
      case .number, .quantity:
        if case .end(end) = JSONToken.number(start, end, final: true) { return true }
        return false
      case .nested:
        var walker = JSONWalker(depth: 0)
        if case .end(end) = walker.walk(from: start, to: end, final: true) { return true }
        return false
      }
    }
    if !isSound { throw BrokenPromise(description: "a cell of the kind \(kind) has the bytes \(bytes)") }
  }

  /// Records stand in order and don't overlap, and are what the file has there; positions only go forward.
  func check(against bytes: [UInt8], _ chosen: ReaderChoices) throws {
    var line: Int64 = 1
    var offset: Int64 = 0
    for record in records {
      guard record.line >= line, record.offset >= offset, record.length >= Int64(record.raw.count) || !chosen.isVerbatim
      else { throw BrokenPromise(description: "a record is out of order: \(record)") }
      (line, offset) = (record.line, record.offset)
      if chosen.isTabular, record.problem == nil, record.cellCount != columns.count, error == nil {
        throw BrokenPromise(description: "\(record.cellCount) cells for \(columns.count) columns: \(record)")
      }
      guard chosen.isVerbatim else { continue }
      offset += record.length
      guard offset <= Int64(bytes.count), bytes[Int(record.offset)...].starts(with: record.raw) else {
        throw BrokenPromise(description: "a record isn't what stands in the file: \(record)")
      }
    }
    for (before, end) in zip(ends, ends.dropFirst())
    where end.byteOffset < before.byteOffset || end.line < before.line {
      throw BrokenPromise(description: "positions go back: \(before), \(end)")
    }
  }
}
