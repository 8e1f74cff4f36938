import CSQLite
import GRDB
import GRDBSQLite

extension Configuration {
  /// Once for the process: see `lade_distinguish_failed_reads`.
  private static let distinguishesFailedReads = lade_distinguish_failed_reads()

  /// What every connection to a store's file begins with.
  static var ofStores: Configuration {
    // With the memory of a process that can't even do this, its connections can't be opened.
    _ = distinguishesFailedReads
    return Configuration()
  }

  /// Refuses a connection that is to write and was opened for reading only. SQLite opens a file so if the system refuses the other,
  /// whatever for, and the connection would stay so for as long as the store is open.
  mutating func refuseReadingOnly() {
    prepareDatabase { db in
      guard !db.configuration.readonly, sqlite3_db_readonly(db.sqliteConnection, "main") == 1 else { return }
      throw DatabaseError(resultCode: .SQLITE_READONLY)
    }
  }
}
