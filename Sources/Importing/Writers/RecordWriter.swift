import Glibc

package import ManagedObjects

/// Writes records one after another, in a form that the readers of this library read back. Belongs to one thread at a time.
package protocol RecordWriter: AnyObject {
  /// Writes one record: a value for each column and, for each collection, its objects' values.
  /// - Throws: ``WriterError``.
  func write(_ values: ContiguousArray<Value>, _ collections: [[ContiguousArray<Value>]]) throws
  /// Writes the end of the file, which can then be committed.
  func finish() throws
}

/// The formats that can be written.
package enum WrittenFormat: String, Codable, Sendable, CaseIterable {
  case csv, json, ndjson, sqlite

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
  package var nests: Bool { self == .json || self == .ndjson }

  /// A writer of records into a file.
  /// - Throws: ``WriterError``.
  package func writer(
    into file: AtomicFile, _ layout: Layout, compression: WrittenCompression? = nil
  ) throws -> any RecordWriter {
    try check(layout)
    if self == .sqlite {
      guard compression == nil else {
        throw WriterError.packing(reason: "an SQLite file is read where it stands, and can't be packed")
      }
      return try SQLiteWriter(file, layout)
    }
    let sink: any ByteSink = try compression.map { try CompressedSink($0) { try file.write($0) } } ?? PlainSink(file)
    switch self {
    case .csv: return try CSVWriter(sink, layout)
    case .json, .ndjson, .sqlite: return try JSONWriter(sink, layout, isOfLines: self == .ndjson)
    }
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
