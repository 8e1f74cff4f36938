import GRDB
import GRDBSQLite
import ManagedObjects

/// The state of SQLite's progress handler.
private final class WatchedWork {
  private let watch: MaintenanceWatch
  private let tick: () -> Void
  private(set) var isStopped = false

  init(_ watch: MaintenanceWatch, _ tick: @escaping () -> Void) {
    self.watch = watch
    self.tick = tick
  }

  /// Whether SQLite must stop.
  func look() -> Bool {
    tick()
    isStopped = isStopped || watch.shouldStop()
    return isStopped
  }
}

extension Database {
  /// The number of SQLite's instructions between two questions whether to end: less than a millisecond.
  private static var stride: Int32 { 10_000 }

  /// Has statements of this connection end when an ``Interruption`` is requested on the thread that runs them. Another thread's
  /// `sqlite3_interrupt` alone would miss a statement that begins just after it.
  func endWhenInterrupted() {
    guard sqliteConnection != nil else { return }
    sqlite3_progress_handler(sqliteConnection, Self.stride, { _ in Interruption.isRequested ? 1 : 0 }, nil)
  }

  /// Runs `body`, whose statements are interrupted as soon as the watch wants to stop.
  /// - Parameter tick: called repeatedly while statements run.
  /// - Throws: ``MaintenanceStopped``, or what `body` throws.
  func watched<T>(by watch: MaintenanceWatch, tick: @escaping () -> Void = {}, _ body: () throws -> T) throws -> T {
    try watch.check()
    try checkOpen()
    let work = WatchedWork(watch, tick)
    let pointer = Unmanaged.passUnretained(work).toOpaque()
    sqlite3_progress_handler(
      sqliteConnection, 50_000,
      { pointer in
        guard let pointer else { return 0 }
        return Unmanaged<WatchedWork>.fromOpaque(pointer).takeUnretainedValue().look() ? 1 : 0
      }, pointer)
    defer {
      endWhenInterrupted()
      withExtendedLifetime(work) {}
    }
    do {
      return try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT && work.isStopped {
      throw MaintenanceStopped()
    }
  }

  /// Runs `body`, which fails at once instead of waiting for another connection's lock, so that others who need this connection
  /// don't wait either.
  func withoutWaiting<T>(_ body: () throws -> T) throws -> T {
    try checkOpen()
    sqlite3_busy_timeout(sqliteConnection, 0)
    defer { sqlite3_busy_timeout(sqliteConnection, Int32(SQLiteStore.lockTimeout * 1000)) }
    return try body()
  }

  /// Runs `body` with a page cache of 2 MiB, and gives the connection its own back: for statements that read and write pages in
  /// order, or sort, and so have no use for more.
  func withSmallCache<T>(_ body: () throws -> T) throws -> T {
    let size = try number("cache_size")
    try execute(sql: "PRAGMA cache_size = -2048")
    let result = Result { try body() }
    let restored = Result { try execute(sql: "PRAGMA cache_size = \(size)") }
    let value = try result.get()
    try restored.get()
    return value
  }

  /// SQLite's functions that take a connection without a statement don't expect one that has been closed.
  private func checkOpen() throws(DatabaseError) {
    if sqliteConnection == nil { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed") }
  }

  /// The number of pages that this connection has read from the file since the last call.
  func takePagesRead() -> Int64 {
    guard sqliteConnection != nil else { return 0 }
    var (read, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &read, &highest, 1)
    return Int64(read)
  }

  /// The number that a pragma returns.
  func number(_ pragma: String) throws -> Int64 { try Int64.fetchOne(self, sql: "PRAGMA \(pragma)") ?? 0 }
}
