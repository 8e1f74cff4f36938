import Foundation
import GRDB
import ManagedObjects

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
    var sets = owners?.sets ?? [:]
    for row in changes.deleted { sets[row.id] = nil }
    for id in ids { sets[id] = nil }
    for row in changes.deleted where !row.id.isTemporaryID {
      try note(.delete, row.id, tombstone: tombstone(row))
    }
    for update in changes.updated {
      let members = sets.removeValue(forKey: update.id)
      let names = update.id.entity.properties.filter { property in
        if let members, members[property.slot] != nil { return true }
        if property.isTransient { return false }
        if let set = property as? RelationshipDescription, set.isToMany, !set.isManyToMany, !set.isOrdered {
          // Without knowledge of the members' rows, a set that has been read tells.
          return owners == nil && update.values[set.slot] != update.committed[set.slot]
        }
        return update.values[property.slot] != update.committed[property.slot]
      }.map(\.name)
      if !names.isEmpty { try note(.update, update.id, properties: names) }
    }
    for (owner, members) in sets where !owner.isTemporaryID {
      let exact = owner.entity.subentities.isEmpty ? owner : try exactID(owner)
      guard let exact else { continue }
      let names = exact.entity.relationships.filter { members[$0.slot] != nil }.map(\.name)
      try note(.update, exact, properties: names)
    }
    for id in ids { try note(.insert, id) }
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

  /// The last values of a deleted object that the model keeps in the history.
  private func tombstone(_ row: StoreRow) -> [String: Value] {
    var kept: [String: Value] = [:]
    for attribute in row.id.entity.attributes where attribute.definition.preservesValueInHistoryOnDeletion {
      if !row.values[attribute.slot].isNull { kept[attribute.name] = row.values[attribute.slot] }
    }
    return kept
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
