import ManagedObjects

/// Reads the rows of a Parquet file. A record's line is the row's number, from 1.
///
/// To resume, it goes to the row group and the row after the last record: pages before that row are passed without being
/// unpacked, as far as their headers say how many rows they have.
final class ParquetReader: SequentialReader {
  let columns: [String]
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private let file: ParquetFile
  private let records: ParquetRecords
  private let limit: ExpansionLimit
  private let maximumRecordBytes: Int
  private var record: Int64 = 0
  /// The bytes of all records so far: a short file can refer to a long text many times.
  private var delivered: Int64 = 0

  /// The bytes that a row counts for beside its values.
  private static let rowBytes: Int64 = 8

  init(descriptor: Int32, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    maximumRecordBytes = options.maximumRecordBytes
    let limit = options.expansionLimit
    self.limit = limit
    do throws(ParquetError) {
      let file = try ParquetFile(descriptor: descriptor, binaryAsText: options.binaryAsText)
      self.file = file
      columns = file.schema.columns.map(\.name)
      records = ParquetRecords(file, limit: options.maximumRecordBytes, kept: RecordBatch.keptBytes) {
        (bytes) throws(ParquetError) in
        do throws(ReaderError) {
          try limit.check(unpacked: bytes, from: file.size)
        } catch {
          guard case .source(let reason) = error else { return }
          throw .unpacking(reason)
        }
      }
    } catch {
      throw ReaderError(error)
    }
    try ReaderOptions.check(names: columns)
    if let position { try resume(at: position) }
  }

  var bytesTotal: Int64 { file.size }
  /// By the share of rows: pages of several places in the file are read for a row.
  var bytesRead: Int64 {
    file.rows == 0 ? file.size : Int64(Double(file.size) * (Double(record) / Double(file.rows)))
  }
  var rejectForm: any RejectForm { JSONLineRejects() }

  var findings: ReaderFindings {
    let columns = file.schema.columns
    let leaves = file.schema.leaves
    return ReaderFindings(
      isTabular: columns.allSatisfy { if case .value = $0.shape { true } else { false } },
      declarations: columns.map { column in
        guard case .value = column.shape else { return nil }
        return leaves[column.leaves.lowerBound].declaration
      })
  }

  /// The state names the row group, the row in it, and the bytes of pages that were unpacked, which are limited.
  var position: ReaderPosition {
    ReaderPosition(
      byteOffset: delivered, line: record + 1, record: record,
      state: records.group < 0 ? "" : "group \(records.group) row \(records.row) unpacked \(records.unpacked)")
  }

  func read(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.isMadeOfCells = true
    return try readSequentially(into: batch, limit: limit)
  }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    let isThere: Bool
    do throws(ParquetError) {
      isThere = try records.next()
    } catch {
      throw ReaderError(error)
    }
    guard isThere else { return false }
    let offset = delivered
    let bytes = records.bytes + Self.rowBytes
    try limit.check(unpacked: delivered + bytes, from: file.size)
    record += 1
    delivered += bytes
    put(into: batch, at: offset)
    return true
  }

  private func put(into batch: RecordBatch, at offset: Int64) {
    let text = UnsafeBufferPointer(start: BytePointer(records.text.start), count: records.text.count)
    if records.isTooLong || text.count > maximumRecordBytes {
      return batch.finishTooLong(
        beginning: Array(text.prefix(RecordBatch.keptBytes)), line: record, byteOffset: offset,
        byteLength: Int(records.bytes), limit: maximumRecordBytes)
    }
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    let arena = UInt32(truncatingIfNeeded: storage.pointee.arenaCount)
    let cells = records.cells
    for index in cells.indices {
      var cell = cells[index]
      cell.offset &+= arena
      storage.pointee.append(cell)
    }
    storage.pointee.finish(
      bytes: BytePointer(records.text.start), kept: text.count, line: record, byteOffset: offset,
      byteLength: text.count, firstCell: firstCell)
    if records.hasFault { batch.setProblem(problem(in: text)) }
  }

  /// What is wrong with a record's first text that isn't one. In nested values, zero bytes are escaped.
  private func problem(in text: UnsafeBufferPointer<UInt8>) -> RecordProblem {
    for cell in records.cells where cell.kind == .text || cell.kind == .nested {
      guard let start = text.baseAddress.map({ $0 + Int(cell.offset) }) else { continue }
      if let problem = TextValidator.validate(from: start, to: start + Int(cell.length)) { return problem }
    }
    return .nulByte
  }

  private func resume(at position: ReaderPosition) throws(ReaderError) {
    let invalid = ReaderError.positionInvalid(position, fileSize: file.size)
    if position.state.isEmpty {
      guard position.record == 0 else { throw invalid }
      return
    }
    let words = position.state.split(separator: " ")
    guard words.count == 6, words[0] == "group", words[2] == "row", words[4] == "unpacked", let group = Int(words[1]),
      let row = Int64(words[3]), let unpacked = Int64(words[5]), unpacked >= 0,
      (0..<file.groupCount).contains(group), (0...file.rows(ofGroup: group)).contains(row),
      (0..<group).reduce(row, { $0 + file.rows(ofGroup: $1) }) == position.record, position.byteOffset >= 0
    else { throw invalid }
    do throws(ParquetError) {
      try records.seek(group: group, row: row, unpacked: unpacked)
    } catch {
      throw ReaderError(error)
    }
    record = position.record
    delivered = position.byteOffset
  }
}

extension ReaderError {
  fileprivate init(_ error: ParquetError) {
    switch error {
    case .unpacking(let reason): self = .source(reason)
    case .cannotRead(let errno): self = .readFailed(errno: errno)
    default: self = .parquet(error)
    }
  }
}

extension ParquetLeaf {
  /// The type that its values have in a model.
  fileprivate var declaration: ColumnDeclaration? {
    ColumnDeclaration(type: attributeType, isRequired: definition == 0 && repetition == 0)
  }

  private var attributeType: AttributeType {
    switch meaning {
    case .boolean: .boolean
    case .signed(let bits): bits <= 16 ? .integer16 : bits <= 32 ? .integer32 : .integer64
    case .unsigned(let bits): bits < 16 ? .integer16 : bits < 32 ? .integer32 : bits < 64 ? .integer64 : .decimal
    case .float16, .float: .float
    case .double: .double
    // A Decimal has 38 digits.
    case .decimal: decimalPrecision > 38 ? .string : .decimal
    case .date, .timestamp, .int96: .date
    case .text, .time, .interval: .string
    case .binary: .binaryData
    case .uuid: .uuid
    }
  }
}
