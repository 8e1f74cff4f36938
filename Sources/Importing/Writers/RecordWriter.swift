package import ManagedObjects

/// Writes records, one after another, so that the readers of this library read the same. Belongs to one thread at a time.
package protocol RecordWriter: AnyObject {
  /// Writes one record: a value for each column and, for each collection, what its objects have in its columns.
  /// - Throws: ``WriterError``.
  func write(_ values: ContiguousArray<Value>, _ collections: [[ContiguousArray<Value>]]) throws
  /// Writes what stands behind the last record. The file can be committed then.
  func finish() throws
}

/// What can be written.
package enum WrittenFormat: String, Codable, Sendable, CaseIterable {
  case csv, json, ndjson, sqlite

  /// The columns that a record may have, told before the first one.
  package struct Layout: Sendable {
    /// What the records are called where they have a name: SQLite's table.
    package var title: String
    package var columns: [WrittenColumn]
    package var collections: [WrittenCollection]
    /// CSV: what stands between two fields, one byte.
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
    let sink: any ByteSink = try compression.map { try PackedSink($0, file) } ?? PlainSink(file)
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
