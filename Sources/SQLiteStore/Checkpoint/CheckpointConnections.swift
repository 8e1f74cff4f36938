import GRDB
import GRDBSQLite

/// Checkpoints a store's write-ahead log on connections of its own.
///
/// It uses SQLite's passive checkpoint, which waits for no other connection. SQLite syncs the log before it copies the log's
/// pages, and the file before it resets the log.
///
/// One of the connections keeps a read transaction open, so that no connection of any process can reset the log. SQLite before 3.51.3
/// doesn't notice a reset at the start of a checkpoint, takes pages of the new log for copied, and loses them:
/// https://sqlite.org/wal.html#the_wal_reset_bug.
final class CheckpointConnections: Sendable {
  private let copying: DatabaseQueue
  private let reading: DatabaseQueue

  /// - Throws: SQLite's error when the file can't be opened.
  init(path: String) throws {
    var configuration = Configuration.ofStores
    configuration.refuseReadingOnly()
    configuration.label = "SQLiteStore.log"
    configuration.busyMode = .timeout(1)
    configuration.prepareDatabase { db in
      // With anything but OFF a checkpoint syncs.
      try db.execute(sql: "PRAGMA synchronous = NORMAL")
      try db.execute(sql: "PRAGMA cache_size = 1")
    }
    copying = try DatabaseQueue(path: path, configuration: configuration)
    configuration.readonly = true
    reading = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Copies everything committed before the call, as far as no reader needs the file as it is. Does nothing while another
  /// connection checkpoints.
  /// - Throws: SQLite's error.
  func checkpoint() throws {
    do {
      try reading.read { db in
        // A read transaction starts with its first statement.
        _ = try Int.fetchOne(db, sql: "PRAGMA schema_version")
        try copying.inDatabase { db in
          try db.checkpoint(.passive)
          // SQLite syncs the file once everything is copied. Syncing here leaves little to wait for to the save that
          // finishes the checkpoint.
          try Self.syncFile(db)
        }
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      return
    }
  }

  private static func syncFile(_ db: Database) throws {
    var file: UnsafeMutablePointer<sqlite3_file>?
    var code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    if code == SQLITE_OK, let file, let synchronize = file.pointee.pMethods?.pointee.xSync {
      code = synchronize(file, SQLITE_SYNC_NORMAL)
    }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}
