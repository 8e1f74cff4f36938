import GRDB
import GRDBSQLite

/// Copies what has been committed from a store's write-ahead log into its file, on connections of its own.
///
/// It is SQLite's passive checkpoint, which waits for nobody: the log is on the disk before its pages are copied, and the
/// file before the log is begun anew.
///
/// Nobody can begin the log anew meanwhile, in this process or another, for one of the connections reads it. SQLite before
/// 3.51.3 doesn't notice when that happens as a checkpoint begins, takes pages of the new log for copied, and loses them:
/// https://sqlite.org/wal.html#the_wal_reset_bug.
final class LogConnections: Sendable {
  private let copying: DatabaseQueue
  private let reading: DatabaseQueue

  /// - Throws: what SQLite says when the file can't be opened.
  init(path: String) throws {
    var configuration = Configuration()
    configuration.label = "SQLiteStore.log"
    configuration.busyMode = .timeout(1)
    configuration.prepareDatabase { db in
      // A checkpoint waits for the disk with anything but OFF.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      try db.execute(sql: "PRAGMA cache_size = 1")
    }
    copying = try DatabaseQueue(path: path, configuration: configuration)
    configuration.readonly = true
    reading = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Copies what has been committed when it begins, as far as no reader needs the file as it is.
  ///
  /// - Throws: what SQLite says, but that somebody else is copying: then nothing is to be done.
  func copy() throws {
    do {
      try reading.read { db in
        // A transaction begins to read with its first statement.
        _ = try Int.fetchOne(db, sql: "PRAGMA schema_version")
        try copying.inDatabase { db in
          try db.checkpoint(.passive)
          // SQLite waits for the file once all is copied. The save that finishes that is to wait for little.
          try Self.waitForDisk(db)
        }
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return
    }
  }

  private static func waitForDisk(_ db: Database) throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    if code == SQLITE_OK, let file, let synchronize = file.pointee.pMethods?.pointee.xSync {
      code = synchronize(file, SQLITE_SYNC_NORMAL)
    }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}
