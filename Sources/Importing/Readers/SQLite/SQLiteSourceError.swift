/// Why records of a SQLite file can't be read.
package enum SQLiteSourceError: Error, Sendable, Hashable {
  /// The file is said to be a SQLite database, and isn't.
  case notADatabase
  /// The database is compressed or in an archive; it must be a file of its own, since it is read here and there.
  case packed
  /// SQLite can't read on: what it says, and after how many records.
  case failed(reason: String, record: Int64)
  /// There is no such table; those that there are instead (the first twenty).
  case tableNotFound(table: String, found: [String])
  /// Several tables may be meant (the first twenty).
  case severalTables(found: [String])
  /// There is no table with columns in it.
  case noTable
  /// The query can't be run: what SQLite says of it.
  case badQuery(reason: String)
  /// A value can't be computed, for the query or a generated column: what SQLite says, and after how many records.
  case cannotCompute(reason: String, record: Int64)
  /// The query, or reading the schema, takes more work than a file of this size may.
  case tooMuchWork
  /// The query needs more memory than this.
  case tooMuchMemory(limit: Int64)
  /// What the query sorts, or keeps on the way, is more than this.
  case tooMuchToKeep(limit: Int64)
  /// There is no space left where temporary files are.
  case noTemporarySpace

  /// The same, after so many records.
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
