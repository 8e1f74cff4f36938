import CSQLite
import Glibc

/// The write-ahead log beside a SQLite file: what its program has committed and not yet moved into the file. Without it, the
/// file shows an older state that looks complete.
///
/// It is read through its own descriptor, as a layer over the file, and neither is ever written. The log has to be a regular
/// file of the same owner as the database, so that nobody can put what another user wrote over a database of his own.
final class SQLiteLog {
  let descriptor: Int32

  /// The log of a database in WAL mode; nil if there is none, or nothing in it.
  /// - Throws: ``ReaderError/database(_:)`` if there is a log that can't be read.
  init?(besideFile path: String, database: Int32) throws(ReaderError) {
    let header = try PlainSource(descriptor: database).readSample(100)
    // Bytes 18 and 19: https://www.sqlite.org/fileformat.html#file_format_version_numbers
    guard header.starts(with: SQLiteFormat.signature), header.count > 19, header[18] == 2 else { return nil }
    let log = path + "-wal"
    descriptor = open(log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .database(.badLog(path: log, reason: String(cString: strerror(errno))))
    }
    var (ofLog, ofDatabase) = (stat(), stat())
    guard fstat(descriptor, &ofLog) == 0, fstat(database, &ofDatabase) == 0, ofLog.st_mode & S_IFMT == Glibc.S_IFREG,
      ofLog.st_uid == ofDatabase.st_uid
    else { throw .database(.badLog(path: log, reason: "it isn't a regular file of the database's owner")) }
    if ofLog.st_size == 0 { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
