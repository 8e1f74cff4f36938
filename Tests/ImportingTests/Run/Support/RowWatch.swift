import Foundation
import GRDB

/// Counts writes to a table of an SQLite file by triggers, so those of every connection.
final class RowWatch {
  private let queue: DatabaseQueue

  init(_ file: URL, table: String) throws {
    queue = try DatabaseQueue(path: file.path)
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE watch (what TEXT)")
      for event in ["INSERT", "UPDATE", "DELETE"] {
        try db.execute(
          sql:
            "CREATE TRIGGER watch_\(event) AFTER \(event) ON \"\(table)\" BEGIN INSERT INTO watch VALUES ('\(event)'); END"
        )
      }
    }
  }

  /// The writes seen so far, a word each.
  func writes() throws -> [String] {
    try queue.read { try String.fetchAll($0, sql: "SELECT what FROM watch ORDER BY rowid") }
  }
}
