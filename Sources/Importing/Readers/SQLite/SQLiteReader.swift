/// Reads the rows of a table, or of a query, out of a SQLite file. A record's line is the row's number. Integers and reals
/// are numbers, text is text, a blob is its Base64.
///
/// A table is read in the order of its row numbers; one without row numbers in the order of its primary key. To resume,
/// as many rows as were read are skipped, which costs the time to produce them: the file doesn't change, so they
/// are the same unless SQLite was replaced by another version. To seek the last row's number would be faster, but in a damaged
/// file, whose numbers may be out of order, it could lead elsewhere.
final class SQLiteReader: SequentialReader {
  let columns: [String]
  let bytesTotal: Int64
  /// The bytes of the records so far: SQLite doesn't report where it reads.
  var bytesRead: Int64 { min(delivered, bytesTotal) }
  private let database: SQLiteDatabase
  /// Values in files beside the database; nil unless it is a Core Data store.
  private let fileValues: CoreDataFileValues?
  private var rows: SQLiteRows
  /// Selects a table's rows with their row number as the first value; nil if they have none.
  private let numbered: Numbered?
  /// What is checked of the rows' cursor, and its column; nil unless they are those of an incremental source.
  private let cursor: (check: CursorCheck, column: Int)?
  private let maximumRecordBytes: Int
  private let limit: ExpansionLimit
  private var record: Int64 = 0
  private var rowID: Int64?
  /// Bytes of all records so far.
  private var delivered: Int64 = 0
  /// Set by `readSequentially` alone.
  var failure: ReaderError?
  private var hasEnded = false
  private var scratch: [UInt8] = []
  private var cells: [Cell] = []

  /// The bytes that a row counts for beside its values: even an empty row costs something.
  private static let rowBytes: Int64 = 8

  init(
    descriptor: Int32, log: Int32? = nil, options: ReaderOptions, from position: ReaderPosition?
  ) throws(ReaderError) {
    let file = try PlainSource(descriptor: descriptor)
    bytesTotal = file.size
    maximumRecordBytes = options.maximumRecordBytes
    limit = options.expansionLimit
    database = try SQLiteDatabase(
      descriptor: descriptor, log: log, fileSize: bytesTotal, isQueried: options.query != nil,
      maximumRecordBytes: options.maximumRecordBytes)
    fileValues = options.coreDataStore.map { path in
      CoreDataFileValues(besideStore: path, descriptor: descriptor, limit: options.maximumRecordBytes)
    }
    if let fileValues, !database.allow(fileValues) { throw .database(database.failure) }
    if let query = options.query {
      numbered = nil
      rows = try Self.rows(database.prepareQuery(query))
    } else {
      let table = try Self.table(options.table, in: database)
      let name = SQLiteDatabase.quoted(table)
      let all = try Self.rows(database.prepare("SELECT * FROM \(name) NOT INDEXED"))
      // A table without row numbers doesn't have that column.
      let numbered = Self.rowIDName(besides: all.columns).map { Numbered(id: $0, table: name) }
      if let numbered, case .success(let found) = database.prepare(numbered.select("*")) {
        (self.numbered, rows) = (numbered, found)
      } else {
        (self.numbered, rows) = (nil, all)
      }
    }
    let names = numbered == nil ? rows.columns : Array(rows.columns.dropFirst())
    columns = names
    cursor = options.cursorCheck.flatMap { check in names.firstIndex(of: check.column).map { (check, $0) } }
    try ReaderOptions.check(names: names)
    if let position { try pass(to: position) }
    database.pause()
  }

  var position: ReaderPosition {
    ReaderPosition(byteOffset: delivered, line: record + 1, record: record, state: state)
  }
  var rejectForm: any RejectForm { JSONLineRejects() }

  func read(into batch: RecordBatch, limit: Int) throws -> Bool {
    batch.isMadeOfCells = true
    database.resume()
    defer { database.pause() }
    return try readSequentially(into: batch, limit: limit)
  }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    guard !hasEnded else { return false }
    hasEnded = try !readRow(into: batch)
    return !hasEnded
  }

  /// How the rows of a table are selected by number.
  private struct Numbered {
    let id: String
    let table: String

    func select(_ values: String, after row: Int64? = nil) -> String {
      let after = row.map { "WHERE \(id) > \($0) " } ?? ""
      return "SELECT \(id), \(values) FROM \(table) NOT INDEXED \(after)ORDER BY \(id)"
    }
  }

  /// The result of moving to the next row.
  private enum Step {
    case row
    /// The row with this number exceeds the length limit.
    case tooLong(Int64)
    case end
  }

  /// The state of a position: the number of the last row, if the table has row numbers.
  private var state: String { rowID.map { "row \($0)" } ?? "" }

  /// Moves to the next row. Reading and skipping both come through here, so an error comes after the same row in both.
  private func advance() throws(ReaderError) -> Step {
    do throws(ReaderError) {
      do throws(ReaderError) {
        guard try rows.next() else { return .end }
      } catch {
        guard let numbered, database.hasFoundTooLong else { throw error }
        return try passTooLong(numbered)
      }
      if numbered != nil { try follow(rows.integer(0)) }
      record += 1
      return .row
    } catch {
      guard case .database(let problem) = error else { throw error }
      throw .database(problem.after(record))
    }
  }

  /// Stores the row's number as the last one.
  private func follow(_ id: Int64) throws(ReaderError) {
    // Numbers that don't grow mean a damaged tree, whose pages may form a cycle.
    if let rowID, id <= rowID {
      throw .database(.failed(reason: "row \(id) comes after row \(rowID)", record: record))
    }
    rowID = id
  }

  /// Skips a row that exceeds the length limit.
  private func passTooLong(_ numbered: Numbered) throws(ReaderError) -> Step {
    let ids = try Self.rows(database.prepare(numbered.select("1", after: rowID)))
    guard try ids.next() else { return .end }
    let id = ids.integer(0)
    try follow(id)
    rows = try Self.rows(database.prepare(numbered.select("*", after: id)))
    record += 1
    return .tooLong(id)
  }

  /// Skips the rows that an earlier reader delivered, in the same way.
  private func pass(to position: ReaderPosition) throws(ReaderError) {
    while record < position.record {
      if case .end = try advance() { throw .positionInvalid(position, fileSize: bytesTotal) }
    }
    guard record == position.record, state == position.state else {
      throw .positionInvalid(position, fileSize: bytesTotal)
    }
    delivered = position.byteOffset
  }

  private func readRow(into batch: RecordBatch) throws(ReaderError) -> Bool {
    let before = (record, rowID, delivered)
    do throws(ReaderError) {
      switch try advance() {
      case .end: return false
      case .tooLong(let id): putTooLong(id, into: batch)
      case .row: try putRow(into: batch)
      }
      return true
    } catch {
      // The position stays that after the last row delivered.
      (record, rowID, delivered) = before
      throw error
    }
  }

  private func putRow(into batch: RecordBatch) throws(ReaderError) {
    let first = numbered == nil ? 0 : 1
    scratch.removeAll(keepingCapacity: true)
    cells.removeAll(keepingCapacity: true)
    var problem: RecordProblem?
    let arena = batch.storage.pointee.arenaCount
    for column in columns.indices {
      let start = scratch.count
      let kind = rows.append(first + column, to: &scratch)
      cells.append(
        Cell(
          kind: kind, offset: UInt32(truncatingIfNeeded: arena + start),
          length: UInt32(truncatingIfNeeded: scratch.count - start)))
      if kind == .text, problem == nil {
        problem = scratch.withUnsafeBufferPointer { bytes in
          bytes.baseAddress.flatMap { TextValidator.validate(from: $0 + start, to: $0 + bytes.count) }
        }
      }
    }
    if let cursor, problem == nil { problem = cursor.check.problem(of: rows.value(first + cursor.column)) }
    // The row would be imported without the value, and committed before the next one's error is met.
    if rows.lacksValue { throw .database(.refused(reason: "out of memory", record: record - 1)) }
    let offset = delivered
    delivered += Int64(scratch.count) + Self.rowBytes
    try limit.check(unpacked: delivered, from: bytesTotal + (fileValues?.bytes ?? 0))
    put(fileValues?.takeProblem() ?? problem, at: offset, into: batch)
  }

  private func put(_ problem: RecordProblem?, at offset: Int64, into batch: RecordBatch) {
    if scratch.count > maximumRecordBytes {
      return batch.finishTooLong(
        beginning: Array(scratch.prefix(RecordBatch.keptBytes)), line: record, byteOffset: offset,
        byteLength: scratch.count, limit: maximumRecordBytes)
    }
    let storage = batch.storage
    let firstCell = storage.pointee.cellCount
    for cell in cells { storage.pointee.append(cell) }
    scratch.append(0)
    scratch.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      storage.pointee.finish(
        bytes: base, kept: bytes.count - 1, line: record, byteOffset: offset, byteLength: bytes.count - 1,
        firstCell: firstCell)
    }
    if let problem { batch.setProblem(problem) }
  }

  private func putTooLong(_ id: Int64, into batch: RecordBatch) {
    delivered += Self.rowBytes
    batch.finishTooLong(
      beginning: Array("row \(id)".utf8), line: record, byteOffset: delivered, byteLength: maximumRecordBytes + 1,
      limit: maximumRecordBytes)
  }

  private static func rows(_ result: Result<SQLiteRows, SQLiteSourceError>) throws(ReaderError) -> SQLiteRows {
    switch result {
    case .success(let rows): return rows
    case .failure(let error): throw .database(error)
    }
  }

  private static func table(
    _ wanted: String?, in database: SQLiteDatabase
  ) throws(ReaderError) -> String {
    let tables = database.tables
    let names = Array(tables.prefix(20))
    if let wanted {
      // As SQLite compares names.
      guard let table = tables.first(where: { $0.lowercased() == wanted.lowercased() }) else {
        throw .database(.tableNotFound(table: wanted, found: names))
      }
      return table
    }
    guard let only = tables.first else { throw .database(.noTable) }
    guard tables.count == 1 else {
      throw .database(CoreDataFormat.isStore(tables) ? .wholeStore : .severalTables(found: names))
    }
    return only
  }

  /// A name for the row number that isn't the name of a column.
  private static func rowIDName(besides columns: [String]) -> String? {
    let taken = Set(columns.map { $0.lowercased() })
    return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
  }
}

/// Why records of a SQLite file can't be read.
package enum SQLiteSourceError: Error, Sendable, Hashable {
  /// The options name SQLite as the format, but the file isn't a SQLite database.
  case notADatabase
  /// The database is compressed or in an archive; it must be a file of its own, because SQLite needs random access.
  case packed
  /// SQLite can't continue: its message, and the number of records before.
  case failed(reason: String, record: Int64)
  /// The system refused SQLite memory, or a read: SQLite's message, and the number of records before.
  case refused(reason: String, record: Int64)
  /// There is no table with this name; the existing ones (the first twenty).
  case tableNotFound(table: String, found: [String])
  /// The file has several tables (the first twenty).
  case severalTables(found: [String])
  /// The file has no table with columns.
  case noTable
  /// The query can't be run: SQLite's message.
  case badQuery(reason: String)
  /// A value can't be computed, for the query or a generated column: SQLite's message, and the number of records before.
  case cannotCompute(reason: String, record: Int64)
  /// The query, or reading the schema, exceeds the work allowed for a file of this size.
  case tooMuchWork
  /// The query needs more memory than this.
  case tooMuchMemory(limit: Int64)
  /// The query's temporary files exceed this size.
  case tooMuchToKeep(limit: Int64)
  /// There is no space left for temporary files.
  case noTemporarySpace
  /// The write-ahead log beside the file can't be read.
  case badLog(path: String, reason: String)
  /// The options name Core Data as the format, but the database isn't a store of it.
  case notACoreDataStore
  /// The store has no cached model: Core Data has kept one since 2016.
  case noModelCache
  /// The store's own model can't be read.
  case badModel(reason: String)
  /// A Core Data store has records of several entities, and one reader reads those of one.
  case wholeStore

  /// The same error, after this number of records.
  func after(_ record: Int64) -> SQLiteSourceError {
    switch self {
    case .failed(let reason, _): .failed(reason: reason, record: record)
    case .refused(let reason, _): .refused(reason: reason, record: record)
    case .cannotCompute(let reason, _): .cannotCompute(reason: reason, record: record)
    default: self
    }
  }
}

extension SQLiteSourceError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notADatabase: "the file isn't a SQLite database"
    case .packed: "a SQLite database can't be read while it is compressed or in an archive; unpack it first"
    case .failed(let reason, let record):
      "after \(record) records, SQLite can't continue: \(reason); check the file by PRAGMA integrity_check"
    case .refused(let reason, let record): "after \(record) records, the system refused SQLite something: \(reason)"
    case .tableNotFound(let table, let found):
      "the database has no table “\(table)” (\(Self.list(found)))"
    case .severalTables(let found):
      "the database has several tables (\(Self.list(found))); name one as table, or give a query"
    case .noTable: "the database has no table"
    case .badQuery(let reason): "the query can't be run: \(reason)"
    case .cannotCompute(let reason, let record):
      "after \(record) records, SQLite can't compute a value: \(reason)"
    case .tooMuchMemory(let limit):
      "the query needs more than \(limit >> 20) MiB of memory; make it simpler, or its values shorter"
    case .tooMuchToKeep(let limit):
      "the query needs more than \(limit >> 20) MiB of temporary space; select less, or add an index to the file that "
        + "avoids sorting"
    case .noTemporarySpace:
      "there is no temporary space left for the query; make room in SQLITE_TMPDIR, or /var/tmp"
    case .badLog(let path, let reason): "the write-ahead log \(SourceError.shown(path)) can't be read: \(reason)"
    case .notACoreDataStore: "the database isn't a Core Data store: it has no tables Z_METADATA and Z_PRIMARYKEY"
    case .noModelCache:
      "the store has no model in it, as older versions of Core Data left it out; give the .momd of the app, or the "
        + ".xcdatamodeld that it was made from"
    case .badModel(let reason): "the store's own model can't be read: \(reason)"
    case .wholeStore:
      "a Core Data store has the rows of several entities: import it into the entity \"*\", or read one of its tables, by the "
        + "format sqlite and the table's name"
    case .tooMuchWork:
      "reading it takes more work than a file of this size may; make the query simpler, or add an index to the file"
    }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "it has none" : names.map { "“\(SourceError.shown($0))”" }.joined(separator: ", ")
  }
}
