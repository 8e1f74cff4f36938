// Transactions are numbered in the order of their commits: the row with the last number is locked from the moment that a
// transaction takes one until its end. So who has read up to a number has read all up to it.

import Foundation
package import ManagedObjects
import PostgreSQL
import SQLSchema

/// Records one transaction's changes in the history, within that transaction. Writes nothing before the first change.
final class PostgresHistoryWriter {
  private let connection: PostgresConnection
  private let author: String?
  private let contextName: String?
  /// The number of the transaction; nil before the first change.
  private(set) var transaction: Int64?

  init(_ connection: PostgresConnection, author: String?, contextName: String?) {
    self.connection = connection
    self.author = author
    self.contextName = contextName
  }

  /// Records changes.
  func note(_ notes: [HistoryNote]) throws {
    guard !notes.isEmpty else { return }
    let number = try number()
    func optional(_ text: String?) -> PostgresValue { text.map { .text($0) } ?? .null(.text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for start in stride(from: 0, to: notes.count, by: 1000) {
      let part = notes[start..<min(start + 1000, notes.count)]
      try connection.query(
        """
        INSERT INTO lade_history_change (transaction_number, kind, entity, object, properties, tombstone)
        SELECT $1, kind, entity, object, properties, tombstone::jsonb
        FROM unnest($2, $3, $4, $5, $6) WITH ORDINALITY AS change(kind, entity, object, properties, tombstone, place)
        ORDER BY place
        """,
        [
          .int(number), .array(.text, part.map { .text($0.kind.rawValue) }),
          .array(.text, part.map { .text($0.id.entity.name) }), .array(.int8, part.map { .int($0.id.number) }),
          .array(.text, part.map { optional($0.properties.isEmpty ? nil : $0.properties.joined(separator: ",")) }),
          .array(
            .text,
            try part.map { note in
              optional(
                note.tombstone.isEmpty ? nil : String(decoding: try encoder.encode(note.tombstone), as: UTF8.self))
            }),
        ])
    }
  }

  private func number() throws -> Int64 {
    if let transaction { return transaction }
    let number = try connection.query("UPDATE lade_history_last SET number = number + 1 RETURNING number").int(0, 0)
    try connection.query(
      """
      INSERT INTO lade_history_transaction (number, time, author, context, process)
      VALUES ($1, clock_timestamp(), $2, $3, $4)
      """,
      [
        .int(number), author.map { .text($0) } ?? .null(.text), contextName.map { .text($0) } ?? .null(.text),
        .int(Int64(ProcessInfo.processInfo.processIdentifier)),
      ])
    transaction = number
    return number
  }

  /// The tables of a store that tracks history.
  static let tables = """
    CREATE TABLE IF NOT EXISTS lade_history_last (number bigint NOT NULL);
    INSERT INTO lade_history_last SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM lade_history_last);
    CREATE TABLE IF NOT EXISTS lade_history_transaction (
      number bigint PRIMARY KEY, time timestamptz NOT NULL, author text COLLATE "C", context text COLLATE "C",
      process bigint NOT NULL);
    CREATE TABLE IF NOT EXISTS lade_history_change (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      transaction_number bigint NOT NULL REFERENCES lade_history_transaction (number) ON DELETE CASCADE,
      kind text NOT NULL, entity text NOT NULL, object bigint NOT NULL, properties text, tombstone jsonb);
    CREATE INDEX IF NOT EXISTS lade_history_change_transaction ON lade_history_change (transaction_number);
    """
}

extension PostgresStore: HistoryKeeping {
  package var tracksHistory: Bool { options.persistentHistoryTracking }

  package func lastTransactionNumber() throws -> Int64 {
    guard tracksHistory else { return 0 }
    return try tables.translating { try read(isOneState: false) { try Self.lastTransactionNumber($0) } }
  }

  static func lastTransactionNumber(_ connection: PostgresConnection) throws -> Int64 {
    let rows = try connection.query("SELECT number FROM lade_history_last")
    return rows.count > 0 ? rows.int(0, 0) : 0
  }

  package func transactions(_ query: HistoryQuery) throws -> [PersistentHistoryTransaction] {
    try tables.translating {
      try read(isOneState: true) { connection in
        var (conditions, parameters) = Self.conditions(query.bounds)
        if let authors = query.authors {
          parameters.append(.array(.text, authors.sorted().map { .text($0) }))
          conditions.append("author = ANY ($\(parameters.count))")
        }
        if !query.excludedAuthors.isEmpty {
          parameters.append(.array(.text, query.excludedAuthors.sorted().map { .text($0) }))
          conditions.append("(author = ANY ($\(parameters.count))) IS NOT TRUE")
        }
        let earliest = try connection.query("SELECT MIN(number) FROM lade_history_transaction").optionalInt(0, 0)
        try query.bounds.check(
          earliest: earliest, latest: try Self.lastTransactionNumber(connection), of: identifier)
        var sql = "SELECT number, time, author, context, process FROM lade_history_transaction"
        if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
        sql += " ORDER BY number"
        if query.limit > 0, !query.selectsByPredicate { sql += " LIMIT \(query.limit)" }
        let rows = try connection.query(sql, parameters)
        var found: [PersistentHistoryTransaction] = []
        for row in 0..<rows.count where query.limit == 0 || found.count < query.limit {
          let number = rows.int(row, 0)
          let transaction = PersistentHistoryTransaction(
            transactionNumber: number, timestamp: ISODate.date(microseconds: rows.instant(row, 1)),
            author: rows.optionalText(row, 2), contextName: rows.optionalText(row, 3),
            processID: Int32(truncatingIfNeeded: rows.int(row, 4)), storeIdentifier: identifier,
            changes: query.includesChanges || query.selectsByChanges ? try changes(of: number, connection) : nil)
          if let wanted = try query.selects(transaction) { found.append(wanted) }
        }
        return found
      }
    }
  }

  package func deleteHistory(_ bounds: HistoryBounds) throws -> Int {
    try tables.translating {
      try writer.write { connection in
        var (conditions, parameters) = Self.conditions(bounds)
        if let date = bounds.beforeDate {
          // What is left has no gaps, even after the clock was set back: a token tells by the earliest number whether it has
          // expired.
          parameters.append(.instant(Self.instant(date)))
          conditions.append(
            "number < COALESCE((SELECT MIN(number) FROM lade_history_transaction WHERE time >= $\(parameters.count)), "
              + "9223372036854775807)")
        }
        let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        return try connection.query("DELETE FROM lade_history_transaction\(condition)", parameters).changed
      }
    }
  }

  package func followRemoteChanges(_ handler: @escaping @Sendable (Int64?) -> Void) throws {
    guard options.remoteChangeNotifications else { return }
    follow(handler)
  }

  /// Leaves out changes of objects whose entity the model no longer has.
  private func changes(of transaction: Int64, _ connection: PostgresConnection) throws -> [PersistentHistoryChange] {
    let scopes = Dictionary(uniqueKeysWithValues: tables.layouts.values.map { ($0.entity.name, $0.scope) })
    let rows = try connection.query(
      """
      SELECT number, kind, entity, object, properties, tombstone::text FROM lade_history_change
      WHERE transaction_number = $1 ORDER BY number
      """, [.int(transaction)])
    return try (0..<rows.count).compactMap { row in
      guard let scope = scopes[rows.text(row, 2)],
        let type = PersistentHistoryChange.ChangeType(rawValue: rows.text(row, 1))
      else { return nil }
      return PersistentHistoryChange(
        changeID: rows.int(row, 0), changedObjectID: ManagedObjectID(scope: scope, number: rows.int(row, 3)),
        changeType: type,
        updatedProperties: Set((rows.optionalText(row, 4) ?? "").split(separator: ",").map(String.init)),
        tombstone: try rows.optionalText(row, 5).map {
          try JSONDecoder().decode([String: Value].self, from: Data($0.utf8))
        } ?? [:])
    }
  }

  private static func conditions(_ bounds: HistoryBounds) -> ([String], [PostgresValue]) {
    var (conditions, parameters): ([String], [PostgresValue]) = ([], [])
    func add(_ condition: String, _ value: PostgresValue?) {
      guard let value else { return }
      parameters.append(value)
      conditions.append("\(condition) $\(parameters.count)")
    }
    add("number >", bounds.after.map { .int($0) })
    add("number <", bounds.before.map { .int($0) })
    add("time >", bounds.afterDate.map { .instant(instant($0)) })
    add("time <", bounds.beforeDate.map { .instant(instant($0)) })
    return (conditions, parameters)
  }

  /// A date, or the nearest that PostgreSQL has.
  private static func instant(_ date: Date) -> Int64 {
    PostgresColumnKind.instant(date)
      ?? (date.timeIntervalSince1970 < 0 ? PostgresColumnKind.earliest : 9_000_000_000_000_000_000)
  }
}
