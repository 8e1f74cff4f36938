import Foundation
import GRDB
import ManagedObjects
import SQLSchema

extension StoredVersion {
  /// Reads the file's version; nil when it was made before versions were kept.
  init?(_ db: Database, path: String) throws {
    try self.init(path: path) { try Self.text($0, db) }
  }

  /// Writes it to the file.
  func write(_ db: Database) throws { try write { try Self.set($0, $1, db) } }

  static func text(_ key: String, _ db: Database) throws -> String? {
    try String.fetchOne(db, sql: "SELECT value FROM lade_metadata WHERE key = ?", arguments: [key])
  }

  static func set(_ key: String, _ text: String, _ db: Database) throws {
    try db.execute(sql: "INSERT OR REPLACE INTO lade_metadata (key, value) VALUES (?, ?)", arguments: [key, text])
  }
}
