import Glibc

/// Why records can't be written.
package enum WriterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What the system said of the file. `operation` is a verb.
  case file(path: String, operation: String, errno: Int32)
  /// The name isn't one that a file in a folder can have.
  case badName(String, reason: String)
  /// What SQLite said of the file.
  case database(path: String, code: Int32, reason: String)
  /// What was to be packed couldn't be.
  case packing(reason: String)
  /// Two columns have one name.
  case columnTwice(String)
  /// The model's date format leaves out a part of this date.
  case lossyDate(column: String, format: String, date: String)
  /// Two keys in one text couldn't be told apart.
  case separatorInKey(column: String, separator: String, key: String)
  /// The format has no place for several values in one column.
  case noNesting(column: String, format: String)

  package var description: String {
    switch self {
    case .file(let path, let operation, let errno):
      return "can't \(operation) \(path): \(String(cString: strerror(errno)))"
    case .badName(let name, let reason): return "“\(name.shown)” can't be the file's name: \(reason)"
    case .database(let path, _, let reason): return "SQLite can't write \(path): \(reason)"
    case .packing(let reason): return "the file can't be compressed: \(reason)"
    case .columnTwice(let name): return "two columns are called \(name): give one of them another name"
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
