import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// Records one transaction's changes in the history, within that transaction. Writes nothing before the first change.
final class HistoryWriter {
  private let db: Database
  private let author: String?
  private let contextName: String?
  /// The number of the transaction; nil before the first change.
  private(set) var transaction: Int64?

  init(_ db: Database, author: String?, contextName: String?) {
    self.db = db
    self.author = author
    self.contextName = contextName
  }

  /// Records a save.
  ///
  /// The owners of one-to-many sets whose members have changed are among its changed objects, whether or not it lists them: an
  /// import doesn't.
  /// - Parameters:
  ///   - owners: the owners of the sets that change; nil for a batch request, which changes rows and not objects.
  ///   - exactID: the ID of an owner with its own entity, where a reference names that of the relationship.
  func note(
    _ changes: StoreChanges, ids: [ManagedObjectID], owners: OwnerChanges?,
    exactID: (ManagedObjectID) throws -> ManagedObjectID?
  ) throws {
    try HistoryNote.each(changes, ids: ids, owners: owners, exactID: exactID) { change in
      try note(change.kind, change.id, properties: change.properties, tombstone: change.tombstone)
    }
  }

  /// Records the change of one object.
  func note(
    _ kind: PersistentHistoryChange.ChangeType, _ id: ManagedObjectID, properties: [String] = [],
    tombstone: [String: Value] = [:]
  ) throws {
    let tombstoneText =
      tombstone.isEmpty ? nil : String(decoding: try HistoryWriter.encoder().encode(tombstone), as: UTF8.self)
    try db.cachedStatement(
      sql: """
        INSERT INTO lade_history_change (transaction_number, kind, entity, object, properties, tombstone)
        VALUES (?, ?, ?, ?, ?, ?)
        """
    ).execute(
      arguments: [
        number(), kind.rawValue, id.entity.name, id.number,
        properties.isEmpty ? nil : properties.joined(separator: ","),
        tombstoneText,
      ])
  }

  private func number() throws -> Int64 {
    if let transaction { return transaction }
    try db.cachedStatement(
      sql: "INSERT INTO lade_history_transaction (time, author, context, process) VALUES (?, ?, ?, ?)"
    ).execute(arguments: [ISODate.text(of: Date()), author, contextName, ProcessInfo.processInfo.processIdentifier])
    let new = db.lastInsertedRowID
    transaction = new
    return new
  }

  private static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }
}

/// The tables of a store that tracks history.
///
/// Numbers of transactions are never reused, also after the latest ones were deleted.
enum HistoryTables {
  static let statements = [
    """
    CREATE TABLE IF NOT EXISTS lade_history_transaction (
      number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, author TEXT, context TEXT, process INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS lade_history_change (
      number INTEGER PRIMARY KEY AUTOINCREMENT, transaction_number INTEGER NOT NULL, kind TEXT NOT NULL,
      entity TEXT NOT NULL, object INTEGER NOT NULL, properties TEXT, tombstone TEXT
    )
    """,
    """
    CREATE INDEX IF NOT EXISTS lade_history_change_transaction ON lade_history_change (transaction_number)
    """,
  ]
}
