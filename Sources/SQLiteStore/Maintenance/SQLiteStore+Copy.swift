// A copy is made page by page through SQLite's backup interface, under one read transaction of a connection of its own: so
// it is one state of the content, and others' commits don't make it begin anew. When it is whole it is one file without a
// log, as a file is that somebody may look at with any program.

package import Foundation
import GRDB
package import ManagedObjects

extension SQLiteStore {
  /// Pages that are copied between two looks at the watch: 1 MiB of them, or at least 16.
  static func pagesAtOnce(_ pageSize: Int64) -> CInt { CInt(max(16, (1 << 20) / max(512, pageSize))) }

  package func copyContent(to url: URL, _ watch: MaintenanceWatch) throws {
    let source = try translating { try DatabaseQueue(path: pool.path, configuration: Self.reading(options)) }
    try Self.translating(url) {
      let target = try DatabaseQueue(path: url.path)
      try source.read { db in
        // From here on the connection sees one state.
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
        try target.writeWithoutTransaction { copy in
          // Whoever is killed meanwhile leaves a file that nobody takes for a copy.
          try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
          try db.copyPages(to: copy, watch)
        }
      }
      try target.close()
      try Self.makePlain(url)
    }
    try translating { try source.close() }
  }

  /// Makes a file one without a log.
  static func makePlain(_ url: URL) throws {
    let plain = try DatabaseQueue(path: url.path)
    let mode = try plain.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = DELETE") }
    guard mode == "delete" else {
      throw DatabaseError(resultCode: .SQLITE_BUSY, message: "the copy is in use: its log can't be put into it")
    }
    try plain.close()
  }

  /// For a connection that only reads.
  static func reading(_ options: SQLiteStoreOptions) -> Configuration {
    var configuration = configuration(options)
    configuration.readonly = true
    return configuration
  }
}

extension Database {
  /// Copies the content to another connection's file, in a transaction of that.
  func copyPages(to copy: Database, _ watch: MaintenanceWatch) throws {
    let pageSize = try number("page_size")
    watch.report(MaintenanceProgress(bytesDone: 0, bytesTotal: try contentSize()))
    try watch.check()
    try backup(to: copy, pagesPerStep: SQLiteStore.pagesAtOnce(pageSize)) { progress in
      let total = Int64(progress.totalPageCount)
      watch.report(
        MaintenanceProgress(
          bytesDone: (total - Int64(progress.remainingPageCount)) * pageSize, bytesTotal: total * pageSize))
      try watch.check()
    }
  }
}
