import Glibc

package import ManagedObjects

/// Writes records one after another, in a form that the readers of this library read back. Belongs to one thread at a time.
package protocol RecordWriter: AnyObject {
  /// Whether it has to see all records before the first is written: then ``survey(_:_:)`` gets them.
  var needsSurvey: Bool { get }
  /// Looks at one record, which will be written later.
  /// - Throws: ``WriterError``.
  func survey(_ values: ContiguousArray<Value>, _ collections: [[ContiguousArray<Value>]]) throws
  /// Refuses more records than the format has room for, before any is written.
  /// - Throws: ``WriterError``.
  func expect(_ records: Int64) throws(WriterError)
  /// Writes one record: a value for each column and, for each collection, its objects' values.
  /// - Throws: ``WriterError``.
  func write(_ values: ContiguousArray<Value>, _ collections: [[ContiguousArray<Value>]]) throws
  /// Writes the end of the file, which can then be committed.
  func finish() throws
}

extension RecordWriter {
  package var needsSurvey: Bool { false }
  package func survey(_ values: ContiguousArray<Value>, _ collections: [[ContiguousArray<Value>]]) {}
  package func expect(_ records: Int64) throws(WriterError) {}
}

/// The formats that can be written.
package enum WrittenFormat: String, Codable, Sendable, CaseIterable {
  case csv, json, ndjson, sqlite, parquet, xlsx

  /// The columns of the records, which a writer needs before the first one.
  package struct Layout: Sendable {
    /// The name of the records where the format has one: SQLite's table.
    package var title: String
    package var columns: [WrittenColumn]
    package var collections: [WrittenCollection]
    /// CSV: the delimiter, one byte.
    package var delimiter: UInt8

    package init(
      title: String, columns: [WrittenColumn], collections: [WrittenCollection] = [],
      delimiter: UInt8 = UInt8(ascii: ",")
    ) {
      self.title = title
      self.columns = columns
      self.collections = collections
      self.delimiter = delimiter
    }
  }

  /// Whether a column may hold objects, or keys without a separator.
  package var nests: Bool { keepsJSON || self == .parquet }
  /// Whether it keeps values that are JSON as such.
  package var keepsJSON: Bool { self == .json || self == .ndjson }

  /// Why a file of the format can't be compressed as a whole; nil if it can.
  package func refusal(of compression: WrittenCompression) -> String? {
    switch self {
    case .sqlite: "an SQLite file is read where it stands, and can't be packed"
    case .xlsx: "a workbook is packed as it is"
    case .csv, .json, .ndjson, .parquet: nil
    }
  }

  /// The ending that a compression adds to a file's name: none where it is inside of the file.
  package func ending(of compression: WrittenCompression?) -> String {
    self == .parquet ? "" : compression?.ending ?? ""
  }

  /// A writer of records into a file.
  /// - Throws: ``WriterError``.
  package func writer(
    into file: AtomicFile, _ layout: Layout, compression: WrittenCompression? = nil
  ) throws -> any RecordWriter {
    try check(layout)
    if let reason = compression.flatMap({ refusal(of: $0) }) { throw WriterError.packing(reason: reason) }
    switch self {
    case .sqlite: return try SQLiteWriter(file, layout)
    case .parquet: return ParquetWriter(file, layout, compression: compression)
    case .xlsx: return try WorkbookWriter(file, layout)
    case .csv, .json, .ndjson: break
    }
    let sink: any ByteSink = try compression.map { try CompressedSink($0) { try file.write($0) } } ?? PlainSink(file)
    return self == .csv ? try CSVWriter(sink, layout) : try JSONWriter(sink, layout, isOfLines: self == .ndjson)
  }

  private func check(_ layout: Layout) throws(WriterError) {
    var names: Set<String> = []
    for name in layout.columns.map(\.name) + layout.collections.map(\.name) {
      // SQLite's names differ by more than their case.
      guard names.insert(self == .sqlite ? name.lowercased() : name).inserted else { throw .columnTwice(name) }
    }
    for collection in layout.collections where !nests && (!collection.isOfKeys || collection.separator == nil) {
      throw .noNesting(column: collection.name, format: rawValue)
    }
  }
}

/// Why records can't be written.
package enum WriterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's error for an operation on the file, which is a verb.
  case file(path: String, operation: String, errno: Int32)
  /// The name can't be that of a file in a folder.
  case badName(String, reason: String)
  /// SQLite's error for the file.
  case database(path: String, code: Int32, reason: String)
  /// Compression failed.
  case packing(reason: String)
  /// Two columns have one name.
  case columnTwice(String)
  /// Properties that an import reads from one column have different values in one object.
  case conflictingValues(column: String, values: [String])
  /// The model's date format leaves out a part of this date.
  case lossyDate(column: String, format: String, date: String)
  /// A key contains the separator of several keys in one text.
  case separatorInKey(column: String, separator: String, key: String)
  /// The format can't have several values in one column.
  case noNesting(column: String, format: String)
  /// The format has no form for a value of this column.
  case noForm(column: String, format: String, reason: String)
  /// The format has no room for more than this of something.
  case tooMuch(format: String, what: String, limit: Int64)
  /// An object has no value in any column, and the format has no record of nothing.
  case emptyRecord(format: String)

  package var description: String {
    switch self {
    case .file(let path, let operation, let errno):
      return "can't \(operation) \(path): \(String(cString: strerror(errno)))"
    case .badName(let name, let reason): return "“\(name.shown)” can't be the file's name: \(reason)"
    case .database(let path, _, let reason): return "SQLite can't write \(path): \(reason)"
    case .packing(let reason): return "the file can't be compressed: \(reason)"
    case .columnTwice(let name):
      return "two columns are called \(name): name the columns to write, with only one of them"
    case .conflictingValues(let column, let values):
      return "an import reads several properties from the column \(column), and in one object their values are "
        + "\(values.map { "“\($0.shown)”" }.joined(separator: " and ")): name the columns to write, with only one of them"
    case .lossyDate(let column, let format, let date):
      return "\(column) is written as \(format) by the model, which leaves out a part of \(date): export it with "
        + "dates: iso, and import that with date_format \"\" for this column"
    case .separatorInKey(let column, let separator, let key):
      return "\(column): the key “\(key.shown)” has the separator “\(separator)” in it: export it as JSON"
    case .noNesting(let column, let format):
      return "\(column) has several values, for which \(format) has no place: export it as JSON, or count them with "
        + "\(column).@count"
    case .noForm(let column, let format, let reason): return "\(column) can't be written as \(format): \(reason)"
    case .tooMuch(let format, let what, let limit):
      return
        "\(format) has room for \(limit) \(what): narrow the export by where or columns, or export it in another format"
    case .emptyRecord(let format):
      return
        "an object has no value in any column, and a row of \(format) without a cell is no record: name a column in which "
        + "each has one, or export it in another format"
    }
  }

  /// Whether the disk had no room left.
  package var isDiskFull: Bool {
    switch self {
    case .file(_, _, let errno): return errno == ENOSPC || errno == EDQUOT
    case .database(_, let code, _): return code & 0xff == 13
    default: return false
    }
  }
}
