import CSQLite
import Glibc

/// The write-ahead log beside a SQLite file: what its program has committed and not yet moved into the file. Without it, the
/// file shows an older state that looks complete.
///
/// It is read through its own descriptor, as a layer over the file, and neither is ever written. The log has to be a regular
/// file of the same owner as the database, with one name, so that a user can't lay another user's data over a database of
/// his own.
package final class SQLiteLog {
  let descriptor: Int32

  /// The log of a database in WAL mode; nil if there is none, or nothing in it.
  /// - Throws: ``ReaderError/database(_:)`` if there is a log that can't be read.
  init?(besideFile path: String, database: Int32) throws(ReaderError) {
    guard try Self.mayBelong(to: PlainSource(descriptor: database).readSample(100)) else { return nil }
    let log = path + "-wal"
    descriptor = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .database(.badLog(path: log, reason: String(cString: strerror(errno))))
    }
    var (ofLog, ofDatabase) = (stat(), stat())
    guard fstat(descriptor, &ofLog) == 0, fstat(database, &ofDatabase) == 0, ofLog.st_mode & S_IFMT == Glibc.S_IFREG,
      ofLog.st_uid == ofDatabase.st_uid, ofLog.st_nlink <= 1
    else {
      throw .database(.badLog(path: log, reason: "it isn't a regular file of the database's owner, with no other name"))
    }
    if ofLog.st_size == 0 { return nil }
  }

  /// Whether a file with this beginning is a database in WAL mode.
  static func mayBelong(to header: [UInt8]) -> Bool {
    // Bytes 18 and 19: https://www.sqlite.org/fileformat.html#file_format_version_numbers
    header.starts(with: SQLiteFormat.signature) && header.count > 19 && header[18] == 2
  }

  /// What to say of such a file that came without its log.
  static let absence =
    "the database is in WAL mode, and what its program had committed to the -wal file beside it alone isn't imported"

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Puts what the log beside a database has into a copy of the database, so that the copy is as new as the database. Any other
  /// file's copy stays as it is.
  ///
  /// - Parameters:
  ///   - copy: a whole copy, open for writing.
  ///   - database: a descriptor of the file that it is a copy of.
  ///   - path: that file's path.
  /// - Throws: ``ReaderError/database(_:)`` if there is a log that can't be read, or that was restarted during the reading.
  package static func complete(copy: Int32, of database: Int32, at path: String) throws(ReaderError) {
    guard try mayBelong(to: PlainSource(descriptor: database).readSample(100)) else { return }
    let log = try SQLiteLog(besideFile: path, database: database)
    let before = try log?.beginning()
    let result = lade_log_apply(database, log?.descriptor ?? -1, copy)
    guard result == SQLITE_OK else {
      throw .database(.badLog(path: path + "-wal", reason: String(cString: sqlite3_errstr(result))))
    }
    // A program that wrote during the copying may have moved the log's content into the file, and restarted the log.
    guard try log?.beginning() == before else {
      throw .database(.badLog(path: path + "-wal", reason: "another program wrote to it while it was read; try again"))
    }
  }

  /// The header, which changes whenever the log is restarted.
  private func beginning() throws(ReaderError) -> [UInt8] { try PlainSource(descriptor: descriptor).readSample(32) }
}
