import Glibc

/// Why a file can't be read, or not any further. A fault of a single record is a `RecordProblem`.
package enum ReaderError: Error, Sendable, Hashable {
  /// The file has no bytes, or nothing but white space.
  case emptyFile
  /// The file isn't text: the offset that shows it, and the kind of file that it looks like.
  case binaryFile(offset: Int64, looksLike: String)
  /// The text is in another encoding: the line that shows it, and the likely encoding.
  case notUTF8(line: Int64, looksLike: String)
  /// The options say that there is no header line, and give no column names either.
  case noHeader
  /// Two columns have this name.
  case duplicateColumn(name: String)
  /// The column of this number, counted from 1, has no name.
  case emptyColumnName(index: Int)
  /// The options name another number of columns than the header line has.
  case columnCountDiffers(given: Int, header: Int)
  /// There are more column names than this.
  case tooManyColumns(limit: Int)
  /// The JSON document has no such key path; the keys that it has instead (the first twenty).
  /// An empty path: no key was asked for, and no top-level value is an array of objects.
  case rootNotFound(path: String, found: [String])
  /// No key was asked for, and the values of several top-level keys are arrays of objects.
  case severalRoots(found: [String])
  /// XML: the elements in the document's element have several names, or none comes twice: those names (the first
  /// twenty).
  case severalRecords(found: [String])
  /// The value at the key path isn't an array. An empty path is the document itself.
  case notAnArray(path: String, found: String)
  /// The file is wrong from here on, line and column (in bytes) counted from 1.
  case malformed(line: Int64, column: Int64, what: String)
  /// An option, by its key in recipes and tickets, has an invalid value.
  case invalidOption(name: String, reason: String)
  /// The position to resume at isn't one in this file.
  case positionInvalid(ReaderPosition, fileSize: Int64)
  /// The file can't be decompressed or unpacked, or it isn't clear which member is meant.
  case source(SourceError)
  /// The records of a SQLite file can't be read, or not any further.
  case database(SQLiteSourceError)
  /// A workbook can't be read, or not any further.
  case workbook(WorkbookError)
  /// A Parquet file can't be read, or not any further.
  case parquet(ParquetError)
  /// The system couldn't read the file.
  case readFailed(errno: Int32)
}

extension ReaderError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .emptyFile:
      "the file is empty"
    case .binaryFile(let offset, let kind):
      "the file isn't text: it looks like \(kind) (byte \(offset)); export it as CSV or JSON first"
    case .notUTF8(let line, let kind):
      "line \(line) isn't valid UTF-8, it looks like \(kind); name the encoding, or convert the file to UTF-8"
    case .noHeader:
      "the options say that the file has no header line, so they must name the columns"
    case .duplicateColumn(let name):
      "two columns are named “\(name)”; rename one"
    case .emptyColumnName(let index):
      "column \(index) has no name; name it in the header line"
    case .columnCountDiffers(let given, let header):
      "the options name \(given) columns, but the header line has \(header)"
    case .tooManyColumns(let limit):
      "there are more than \(limit) different column names (or their text is longer than 1 MiB)"
    case .rootNotFound(let path, let found):
      path.isEmpty
        ? "no top-level value is an array of objects (\(Self.keys(found))); "
          + "name the key path as root, or say that the format is ndjson"
        : "there is no “\(path)” in the document (\(Self.keys(found)))"
    case .severalRoots(let found):
      "several top-level values are arrays of objects (\(Self.keys(found))); name one as root, "
        + "or say root: . if the document is one record"
    case .severalRecords(let found):
      "it isn't clear which elements are the records (\(found.map { "“\($0)”" }.joined(separator: ", "))); name one as "
        + "record"
    case .notAnArray(let path, let found):
      path.isEmpty
        ? "the document is \(found), not an array of objects" : "“\(path)” is \(found), not an array of objects"
    case .malformed(let line, let column, let what):
      "line \(line), column \(column): \(what)"
    case .invalidOption(let name, let reason):
      "the option \(name) is wrong: \(reason)"
    case .positionInvalid(let position, let size):
      "can't resume at byte \(position.byteOffset) of a file of \(size) bytes: the file has changed"
    case .source(let error):
      error.description
    case .database(let error):
      error.description
    case .workbook(let error):
      error.description
    case .parquet(let error):
      error.description
    case .readFailed(let number):
      "the file couldn't be read: \(String(cString: strerror(number)))"
    }
  }

  private static func keys(_ found: [String]) -> String {
    found.isEmpty ? "it has no keys" : "keys: " + found.map { "“\($0)”" }.joined(separator: ", ")
  }
}
