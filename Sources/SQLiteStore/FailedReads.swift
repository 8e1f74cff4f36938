import GRDB

/// Reads that the device refuses. SQLite takes some of them for damage of the file, which would end a job for good although the
/// device may answer the next time.
enum FailedReads {
  /// The failed read that a line of `PRAGMA integrity_check` is about, which the check calls a problem of the file; nil when the
  /// line is about the file.
  static func error(inCheck line: String) -> DatabaseError? {
    if line.contains("failed to get page") { return DatabaseError(resultCode: .SQLITE_IOERR_READ) }
    guard let code = line.firstMatch(of: /unable to get the page\. error code=([0-9]+)/).flatMap({ Int32($0.1) }) else {
      return nil
    }
    let error = DatabaseError(resultCode: ResultCode(rawValue: code))
    return error.resultCode == .SQLITE_CORRUPT ? nil : error
  }
}
