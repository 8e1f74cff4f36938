import Foundation
import GRDB

/// What stands in the files of a folder.
struct StoreContents {
  let folder: URL

  /// The stores, as paths within the folder.
  func stores() throws -> [String] { try files().filter { $0.hasSuffix(".sqlite") } }

  /// The files but logs and their indexes, which a connection leaves that couldn't be closed.
  func files() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
      !["-wal", "-shm"].contains { path.hasSuffix($0) }
    }.sorted()
  }

  /// The rows of a query on a store, sorted.
  func rows(_ sql: String, of store: String = "main.sqlite") throws -> [String] {
    try read(store) { try Self.rows(sql, $0) }
  }

  /// All rows of all tables of a store, with the tables' and indexes' names.
  func everything(in store: String = "main.sqlite") throws -> [String] {
    try read(store) { db in
      try Self.names(db).flatMap { kind, name in
        guard kind == "table", name != "lade_metadata" else { return ["\(kind) \(name)"] }
        return ["table \(name)"] + (try Self.rows("SELECT * FROM \(name.quotedDatabaseIdentifier)", db))
      }
    }
  }

  /// The names of tables and indexes of a store, with the number of each table's rows.
  func counts(in store: String = "main.sqlite") throws -> [String] {
    try read(store) { db in
      try Self.names(db).map { kind, name in
        guard kind == "table" else { return "\(kind) \(name)" }
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name.quotedDatabaseIdentifier)") ?? 0
        return "table \(name): " + (name == "lade_metadata" ? "present" : "\(count)")
      }
    }
  }

  /// What is wrong with the stores.
  func damage() throws -> [String] {
    try stores().flatMap { store in
      try read(store) { db in
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        let references = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "a broken reference: \($0)" }
        return (problems + references).map { "\(store): \($0)" }
      }
    }
  }

  /// The stores whose file isn't one of the write-ahead mode.
  func withoutLog(_ names: [String]) throws -> [String] {
    try names.filter { name in
      // https://www.sqlite.org/fileformat.html#file_format_version_numbers
      let header = try Data(contentsOf: folder.appendingPathComponent(name)).prefix(20)
      return header.count == 20 && header[18...19] != Data([2, 2])
    }
  }

  private func read<T>(_ store: String, _ body: (Database) throws -> T) throws -> T {
    let queue = try DatabaseQueue(path: folder.appendingPathComponent(store).path)
    let result = try queue.read(body)
    try queue.close()
    return result
  }

  private static func names(_ db: Database) throws -> [(kind: String, name: String)] {
    try Row.fetchAll(
      db,
      sql: "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, name"
    ).map { ($0[0], $0[1]) }
  }

  private static func rows(_ sql: String, _ db: Database) throws -> [String] {
    try Row.fetchAll(db, sql: sql).map { row in
      row.databaseValues.map { "\($0)" }.joined(separator: "|")
    }.sorted()
  }
}
