import Foundation
import GRDB

/// The file next to a store's in which a migration by objects or in stages builds the new version.
struct SideFile {
  let url: URL

  /// The file next to the store's.
  init(path: String) { url = URL(fileURLWithPath: path + ".migrating") }

  /// Makes the file's tables those of the schema `fresh` of a connection.
  func attach(to db: Database) throws {
    try db.execute(sql: "ATTACH DATABASE ? AS fresh", arguments: [url.path])
  }

  /// Detaches and removes the file after the transaction.
  func letGo(_ db: Database) throws {
    let names = try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list")
    if names.contains("fresh") { try db.execute(sql: "DETACH DATABASE fresh") }
    try remove()
  }

  /// Removes the file with its log.
  func remove() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      let path = url.path + suffix
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }
  }
}
