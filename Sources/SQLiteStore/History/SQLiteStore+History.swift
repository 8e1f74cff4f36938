import Foundation
import GRDB
package import ManagedObjects

extension SQLiteStore: HistoryKeeping {
  package var tracksHistory: Bool { options.persistentHistoryTracking }

  package func lastTransactionNumber() throws -> Int64 {
    try translating { try writer.read { try Self.lastTransactionNumber($0) } }
  }

  static func lastTransactionNumber(_ db: Database) throws -> Int64 {
    // It stays when the latest transactions are deleted, so that a token keeps its place in the history.
    try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'lade_history_transaction'") ?? 0
  }

  package func transactions(_ query: HistoryQuery) throws -> [PersistentHistoryTransaction] {
    try translating {
      try writer.read { db in
        var (conditions, arguments) = Self.conditions(query.bounds)
        if let authors = query.authors {
          conditions.append("author IN (\(Self.marks(authors.count)))")
          arguments += authors.sorted().map(\.databaseValue)
        }
        if !query.excludedAuthors.isEmpty {
          conditions.append("(author IS NULL OR author NOT IN (\(Self.marks(query.excludedAuthors.count))))")
          arguments += query.excludedAuthors.sorted().map(\.databaseValue)
        }
        let earliest = try Int64.fetchOne(db, sql: "SELECT MIN(number) FROM lade_history_transaction")
        try query.bounds.check(earliest: earliest, latest: try Self.lastTransactionNumber(db), of: identifier)
        var sql = "SELECT number, time, author, context, process FROM lade_history_transaction"
        if !conditions.isEmpty { sql += " WHERE " + conditions.joined(separator: " AND ") }
        sql += " ORDER BY number"
        if query.limit > 0, !query.selectsByPredicate { sql += " LIMIT \(query.limit)" }
        let rows = try Row.fetchCursor(db, sql: sql, arguments: StatementArguments(arguments))
        var found: [PersistentHistoryTransaction] = []
        while query.limit == 0 || found.count < query.limit, let row = try rows.next() {
          let number: Int64 = row[0]
          let transaction = PersistentHistoryTransaction(
            transactionNumber: number, timestamp: ISODate.date(parsing: row[1] ?? "") ?? .distantPast, author: row[2],
            contextName: row[3], processID: row[4], storeIdentifier: identifier,
            changes: query.includesChanges || query.selectsByChanges ? try changes(of: number, db) : nil)
          if let wanted = try query.selects(transaction) { found.append(wanted) }
        }
        return found
      }
    }
  }

  package func deleteHistory(_ bounds: HistoryBounds) throws -> Int {
    try translating {
      try writer.write { db in
        var (conditions, arguments) = Self.conditions(bounds)
        if let date = bounds.beforeDate {
          // What is left has no gaps, even after the clock was set back: a token tells by the earliest number whether it has
          // expired.
          conditions.append(
            "number < IFNULL((SELECT MIN(number) FROM lade_history_transaction WHERE time >= ?), 9223372036854775807)")
          arguments.append(Self.text(date).databaseValue)
        }
        let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        try db.execute(
          sql: """
            DELETE FROM lade_history_change
            WHERE transaction_number IN (SELECT number FROM lade_history_transaction\(condition))
            """, arguments: StatementArguments(arguments))
        try db.execute(
          sql: "DELETE FROM lade_history_transaction\(condition)", arguments: StatementArguments(arguments))
        return db.changesCount
      }
    }
  }

  /// Leaves out changes of objects whose entity the model no longer has.
  private func changes(of transaction: Int64, _ db: Database) throws -> [PersistentHistoryChange] {
    let rows = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT number, kind, entity, object, properties, tombstone FROM lade_history_change
          WHERE transaction_number = ? ORDER BY number
          """), arguments: [transaction])
    var changes: [PersistentHistoryChange] = []
    while let row = try rows.next() {
      let (name, kind): (String, String) = (row[2], row[1])
      guard let scope = historyScopes[name], let type = PersistentHistoryChange.ChangeType(rawValue: kind) else {
        continue
      }
      let properties: String? = row[4]
      let tombstone: String? = row[5]
      changes.append(
        PersistentHistoryChange(
          changeID: row[0], changedObjectID: ManagedObjectID(scope: scope, number: row[3]), changeType: type,
          updatedProperties: Set((properties ?? "").split(separator: ",").map(String.init)),
          tombstone: try tombstone.map { try JSONDecoder().decode([String: Value].self, from: Data($0.utf8)) } ?? [:]))
    }
    return changes
  }

  private var historyScopes: [String: IDScope] {
    Dictionary(uniqueKeysWithValues: layouts.values.map { ($0.entity.name, $0.scope) })
  }

  private static func conditions(_ bounds: HistoryBounds) -> ([String], [DatabaseValue]) {
    var (conditions, arguments): ([String], [DatabaseValue]) = ([], [])
    func add(_ condition: String, _ value: DatabaseValue?) {
      guard let value else { return }
      conditions.append(condition)
      arguments.append(value)
    }
    add("number > ?", bounds.after?.databaseValue)
    add("number < ?", bounds.before?.databaseValue)
    add("time > ?", bounds.afterDate.map { text($0).databaseValue })
    add("time < ?", bounds.beforeDate.map { text($0).databaseValue })
    return (conditions, arguments)
  }

  /// Text that sorts as the dates do; a year without a text form sorts before or after all others.
  private static func text(_ date: Date) -> String {
    ISODate.text(of: date) ?? (date.timeIntervalSince1970 < 0 ? "" : "~")
  }

  private static func marks(_ count: Int) -> String { repeatElement("?", count: count).joined(separator: ", ") }
}
