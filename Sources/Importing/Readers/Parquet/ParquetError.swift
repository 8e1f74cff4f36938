import Glibc

/// Why a Parquet file can't be read, or not any further.
package enum ParquetError: Error, Sendable, Hashable {
  /// The options name Parquet as the format, but the file isn't one.
  case notParquet
  /// The file is compressed or in an archive; it is read at any place, and must be a file of its own.
  case packed
  /// The file, or one of its columns, is encrypted.
  case encrypted
  /// The file isn't what the format has to be: the part of the file, and the mistake.
  case malformed(part: String, what: String)
  /// A page's checksum doesn't fit its bytes: the part of the file.
  case damaged(part: String)
  /// The column is kept in a way that isn't read: with this compression, encoding or type.
  case unsupported(what: String, column: String)
  /// A part is larger than what is kept in memory.
  case tooLarge(part: String, bytes: Int64, limit: Int64)
  /// The pages that have to be in memory together, one of each column, are larger than this.
  case tooManyPages(limit: Int64)
  /// There are more columns than this, or their names are too long.
  case tooManyColumns(limit: Int)
  /// The pages take more than a file of this size may.
  case unpacking(SourceError)
  /// The system couldn't read the file.
  case cannotRead(errno: Int32)
}

extension ParquetError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notParquet: "the file isn't a Parquet file"
    case .packed: "a Parquet file can't be read while it is compressed or in an archive; unpack it first"
    case .encrypted: "the Parquet file is encrypted; write it without encryption"
    case .malformed(let part, let what): "the Parquet file is damaged in \(part): \(what)"
    case .damaged(let part): "the Parquet file is damaged in \(part): a page doesn't fit its checksum"
    case .unsupported(let what, let column):
      "the column “\(column)” of the Parquet file can't be read: \(what); write the file again, with compression snappy or "
        + "zstd and the usual encodings and types"
    case .tooLarge(let part, let bytes, let limit):
      "\(part) of the Parquet file takes \(bytes) bytes, and at most \(limit >> 20) MiB are kept in memory; write the file "
        + "again, with smaller pages"
    case .tooManyPages(let limit):
      "the pages of all columns of the Parquet file take more than \(limit >> 20) MiB together, which have to be in memory "
        + "for a record; write the file again, with smaller pages or fewer columns"
    case .tooManyColumns(let limit):
      "the Parquet file has more than \(limit) columns (or their names are longer than 1 MiB)"
    case .unpacking(let error): error.description
    case .cannotRead(let number): "the file couldn't be read: \(String(cString: strerror(number)))"
    }
  }
}
