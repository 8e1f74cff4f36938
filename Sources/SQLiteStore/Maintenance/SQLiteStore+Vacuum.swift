// VACUUM writes the content anew into a temporary file of SQLite's own, and from there into the log, in one transaction:
// whoever kills the program, or fills the disk, finds the file as it was. Readers read on meanwhile. The file gets shorter
// when the log is copied into it, which has to wait for them.

import GRDB
package import ManagedObjects

extension SQLiteStore: StoreMaintenance {
  package func vacuum(_ plan: VacuumPlan, _ watch: MaintenanceWatch) throws -> VacuumResult {
    try writer.refuseInTransaction("vacuum the store")
    return try translating {
      let before = try writer.withoutTransaction { try $0.contentSize() }
      switch plan {
      case .whole(let isIncremental): try vacuumWhole(before, isIncremental, watch)
      case .incremental(let pages, let atOnce): try freePages(pages, max(1, atOnce), watch)
      }
      return VacuumResult(bytesBefore: before, bytesAfter: try writer.withoutTransaction { try $0.contentSize() })
    }
  }

  private func vacuumWhole(_ size: Int64, _ isIncremental: Bool?, _ watch: MaintenanceWatch) throws {
    try writer.withoutTransaction { db in
      let former = try db.number("auto_vacuum")
      // 0: none; 1: all at each commit; 2: when it is asked for. What is set here counts for the file only once VACUUM has
      // written it.
      if let isIncremental { try db.execute(sql: "PRAGMA auto_vacuum = \(isIncremental ? 2 : 0)") }
      let pageSize = try db.number("page_size")
      _ = db.takePagesRead()
      var read: Int64 = 0
      do {
        try db.watched(
          by: watch,
          tick: {
            read += db.takePagesRead()
            watch.report(MaintenanceProgress(bytesDone: min(read * pageSize, size), bytesTotal: size))
          }
        ) {
          try db.execute(sql: "VACUUM")
        }
      } catch {
        if isIncremental != nil { try db.execute(sql: "PRAGMA auto_vacuum = \(former)") }
        throw error
      }
      watch.report(MaintenanceProgress(bytesDone: size, bytesTotal: size))
    }
    try writer.withoutCopying { try $0.shortenLog() }
  }

  /// A transaction for so many pages at once: who wants to write comes in between.
  private func freePages(_ limit: Int?, _ atOnce: Int, _ watch: MaintenanceWatch) throws {
    let (mode, pageSize, free) = try writer.withoutTransaction { db in
      (try db.number("auto_vacuum"), try db.number("page_size"), try db.number("freelist_count"))
    }
    guard mode == 2 else { throw MaintenanceError.notIncremental(path: url?.path ?? "") }
    let total = min(free, limit.map(Int64.init) ?? .max)
    var done: Int64 = 0
    while done < total {
      try watch.check()
      let (before, after) = try writer.withoutTransaction { db in
        let before = try db.number("freelist_count")
        try db.execute(sql: "PRAGMA incremental_vacuum(\(min(Int64(atOnce), total - done)))")
        return (before, try db.number("freelist_count"))
      }
      // Somebody else may have used what was free.
      guard after < before else { break }
      done += before - after
      watch.report(
        MaintenanceProgress(bytesDone: done * pageSize, bytesTotal: total * pageSize, items: done))
    }
    try writer.withoutCopying { try $0.shortenLog() }
  }
}

extension Database {
  /// Bytes of the content with its free pages: what the file will have when all of the log is in its place.
  func contentSize() throws -> Int64 { try number("page_count") * number("page_size") }

  /// Copies the log into the file and makes it empty, if nobody reads from it: who does is not waited for.
  func shortenLog() throws {
    do {
      try withoutWaiting { try execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED {
      // A later checkpoint does it.
    }
  }
}
