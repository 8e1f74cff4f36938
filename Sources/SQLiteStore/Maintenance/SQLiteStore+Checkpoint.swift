import GRDB
import Glibc
package import ManagedObjects

extension SQLiteStore {
  /// Nobody who wants to write waits for readers here: SQLite's own waiting, with the connection in hand, isn't used.
  package func checkpoint(
    _ mode: ManagedObjects.CheckpointMode, patience: Duration, _ watch: MaintenanceWatch
  ) throws -> CheckpointResult {
    try writer.refuseInTransaction("checkpoint the store")
    let end = ContinuousClock.now + patience
    while true {
      try watch.check()
      let result = try translating { try writer.withoutCopying { try $0.checkpointOnce(mode) } }
      let size = Int64(result.pageSize)
      watch.report(
        MaintenanceProgress(
          bytesDone: Int64(result.pagesMoved) * size, bytesTotal: Int64(result.pagesInLog) * size,
          items: Int64(result.pagesMoved)))
      if !result.isBusy || mode == .passive || ContinuousClock.now >= end { return result }
      usleep(20_000)
    }
  }
}

extension Database {
  fileprivate func checkpointOnce(_ mode: ManagedObjects.CheckpointMode) throws -> CheckpointResult {
    let pageSize = Int(try number("page_size"))
    do {
      return try withoutWaiting {
        let row = try Row.fetchOne(self, sql: "PRAGMA wal_checkpoint(\(mode.rawValue))")
        return CheckpointResult(
          isBusy: (row?[0] as Int?) != 0, pagesInLog: max(0, row?[1] ?? 0), pagesMoved: max(0, row?[2] ?? 0),
          pageSize: pageSize)
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED {
      return CheckpointResult(isBusy: true, pagesInLog: 0, pagesMoved: 0, pageSize: pageSize)
    }
  }
}
