/// Why records of a SQLite file can't be read.
package enum SQLiteSourceError: Error, Sendable, Hashable {
  /// The options name SQLite as the format, but the file isn't a SQLite database.
  case notADatabase
  /// The database is compressed or in an archive; it must be a file of its own, because SQLite needs random access.
  case packed
  /// SQLite can't continue: its message, and the number of records before.
  case failed(reason: String, record: Int64)
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

  /// The same error, after this number of records.
  func after(_ record: Int64) -> SQLiteSourceError {
    switch self {
    case .failed(let reason, _): .failed(reason: reason, record: record)
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
      "after \(record) records, SQLite can't read on: \(reason); check the file by PRAGMA integrity_check"
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
      "the query sorts or keeps more than \(limit >> 20) MiB on the way; select less, or add an index to the file, by which "
        + "it needn't be sorted"
    case .noTemporarySpace:
      "there is no space left for what the query sorts or keeps on the way; make room in SQLITE_TMPDIR, or /var/tmp"
    case .tooMuchWork:
      "reading it takes too much work for a file of this size; make the query simpler, or add an index to the file"
    }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "it has none" : names.map { "“\(SourceError.shown($0))”" }.joined(separator: ", ")
  }
}
