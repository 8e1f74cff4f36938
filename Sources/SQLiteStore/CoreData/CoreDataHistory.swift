// History as Core Data keeps it:
// - `ATRANSACTION`: one row for each save; its number is the transaction's. Author, bundle, context and process are numbers of
//   rows in `ATRANSACTIONSTRING` (`ZAUTHORTS`), in older files text (`ZAUTHOR`).
// - `ACHANGE`: one row for each changed object: `ZCHANGETYPE` 0 for an insertion, 1 for an update, 2 for a deletion, the object's
//   `Z_ENT` and `Z_PK`. `ZCOLUMNS` of an update has a bit for each stored property of the entity, sorted by name, from the highest
//   bit of the first byte. `ZTOMBSTONE0`, … of a deletion are the attributes that the model preserves, sorted by name.
// - `Z_PRIMARYKEY` counts the rows of all three.

import Foundation
import GRDB
package import ManagedObjects
import SQLSchema

/// Which of Core Data's tables for history a file has, and their columns.
struct CoreDataHistoryTables: Sendable {
  let transactionColumns: Set<String>
  let changeColumns: Set<String>
  /// Whether texts of transactions have a table of their own.
  let hasStrings: Bool
  /// The numbers of the tables' rows in `Z_PRIMARYKEY`.
  let counters: [String: Int64]

  /// nil for a file without history.
  init?(_ db: Database) throws {
    func columns(_ table: String) throws -> Set<String> {
      Set(try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table]))
    }
    (transactionColumns, changeColumns) = (try columns("ATRANSACTION"), try columns("ACHANGE"))
    hasStrings = try !columns("ATRANSACTIONSTRING").isEmpty
    guard transactionColumns.contains("ZTIMESTAMP"),
      changeColumns.isSuperset(of: ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"])
    else { return nil }
    let rows = try Row.fetchAll(
      db, sql: "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME IN ('CHANGE', 'TRANSACTION', 'TRANSACTIONSTRING')")
    counters = Dictionary(rows.map { ($0[0] as String, $0[1] as Int64) }) { first, _ in first }
    guard counters["CHANGE"] != nil, counters["TRANSACTION"] != nil else { return nil }
  }

  /// The number of the latest transaction, also after it was deleted.
  func lastTransaction(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db.cachedStatement(
        sql: "SELECT max(IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), "
          + "IFNULL((SELECT max(Z_PK) FROM ATRANSACTION), 0))"), arguments: [counters["TRANSACTION"]]) ?? 0
  }

  /// The stored properties of an entity, in the order of the bits of `ZCOLUMNS`; nil where that isn't known.
  static func properties(of entity: EntityDescription) -> [PropertyDescription]? {
    guard entity.compositeAttributesByName.isEmpty else { return nil }
    return entity.properties.filter { !$0.isTransient }.sorted { $0.name < $1.name }
  }

  /// The attributes whose values history keeps, in the order of the columns `ZTOMBSTONE0`, ….
  func preserved(of entity: EntityDescription) -> [(column: String, attribute: AttributeDescription)] {
    let attributes = entity.attributes.filter { $0.definition.preservesValueInHistoryOnDeletion && !$0.isTransient }
      .sorted { $0.name < $1.name }
    return attributes.enumerated().map { ("ZTOMBSTONE\($0.offset)", $0.element) }
      .filter { changeColumns.contains($0.column) }
  }
}

/// Records one transaction's changes in a Core Data store's history, within that transaction.
final class CoreDataHistoryWriter {
  private let db: Database
  private let tables: CoreDataHistoryTables
  private let entities: CoreDataTables
  private let author: String?
  private let contextName: String?
  /// The number of the transaction; nil before the first change.
  private(set) var transaction: Int64?

  init(
    _ db: Database, _ tables: CoreDataHistoryTables, _ entities: CoreDataTables, author: String?, contextName: String?
  ) {
    self.db = db
    self.tables = tables
    self.entities = entities
    self.author = author
    self.contextName = contextName
  }

  func noteInsertion(_ id: ManagedObjectID) throws { try note(0, id, [], []) }

  /// - Parameter slots: the properties that have changed.
  func noteUpdate(_ id: ManagedObjectID, slots: Set<Int>) throws {
    guard !slots.isEmpty, let properties = CoreDataHistoryTables.properties(of: id.entity) else {
      return try note(1, id, [], [])
    }
    var bits = [UInt8](repeating: 0, count: (properties.count + 7) / 8)
    for (place, property) in properties.enumerated() where slots.contains(property.slot) {
      bits[place / 8] |= 0x80 >> UInt8(place % 8)
    }
    try note(1, id, ["ZCOLUMNS"], [Data(bits).databaseValue])
  }

  func noteDeletion(_ row: StoreRow) throws {
    let preserved = tables.preserved(of: row.id.entity)
    try note(
      2, row.id, preserved.map(\.column),
      preserved.map { StoredForms.coreData.databaseValue(of: row.values[$0.attribute.slot], for: $0.attribute) })
  }

  private func note(_ kind: Int64, _ id: ManagedObjectID, _ columns: [String], _ values: [DatabaseValue]) throws {
    guard let entity = entities.numbers[id.entity] else { return }
    let transaction = try number()
    let names = ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"] + columns
    let head = [
      try next("CHANGE").databaseValue, tables.counters["CHANGE"].databaseValue, kind.databaseValue,
      entity.databaseValue, id.rowNumber.databaseValue, transaction.databaseValue,
    ]
    try insert("ACHANGE", names, head + values)
  }

  private func insert(_ table: String, _ columns: [String], _ values: [DatabaseValue]) throws {
    let marks = repeatElement("?", count: columns.count).joined(separator: ", ")
    try db.cachedStatement(sql: "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))")
      .execute(arguments: StatementArguments(values))
  }

  /// The next number of a table's rows.
  private func next(_ name: String) throws -> Int64 {
    let counter = tables.counters[name]
    try db.cachedStatement(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = IFNULL(Z_MAX, 0) + 1 WHERE Z_ENT = ?")
      .execute(arguments: [counter])
    let number = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?"), arguments: [counter])
    guard let number else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "Z_PRIMARYKEY has no \(name)") }
    return number
  }

  private func number() throws -> Int64 {
    if let transaction { return transaction }
    let process = ProcessInfo.processInfo.processName
    var (columns, values): ([String], [DatabaseValue]) = ([], [])
    let texts = [("ZAUTHOR", author), ("ZBUNDLEID", process), ("ZCONTEXTNAME", contextName), ("ZPROCESSID", process)]
    for (column, text) in texts {
      guard let text else { continue }
      if tables.hasStrings, tables.transactionColumns.contains(column + "TS") {
        columns.append(column + "TS")
        values.append(try string(text).databaseValue)
      } else if tables.transactionColumns.contains(column) {
        columns.append(column)
        values.append(text.databaseValue)
      }
    }
    let new = try next("TRANSACTION")
    try insert(
      "ATRANSACTION", ["Z_PK", "Z_ENT", "ZTIMESTAMP"] + columns,
      [
        new.databaseValue, tables.counters["TRANSACTION"].databaseValue,
        Date().timeIntervalSinceReferenceDate.databaseValue,
      ] + values)
    transaction = new
    return new
  }

  /// The number of a text that transactions share.
  private func string(_ text: String) throws -> Int64 {
    let known = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"), arguments: [text])
    if let known { return known }
    let new = try next("TRANSACTIONSTRING")
    try insert(
      "ATRANSACTIONSTRING", ["Z_PK", "Z_ENT", "ZNAME"],
      [new.databaseValue, tables.counters["TRANSACTIONSTRING"].databaseValue, text.databaseValue])
    return new
  }
}

extension InPlaceStore: HistoryKeeping {
  /// Whether the file has the tables for it. Core Data makes them when an app opens the store with
  /// `NSPersistentHistoryTrackingKey`.
  package var tracksHistory: Bool { map.history != nil }

  package func lastTransactionNumber() throws -> Int64 {
    guard let history = map.history else { return 0 }
    return try tables.translating { try writer.read { try history.lastTransaction($0) } }
  }

  package func transactions(_ query: HistoryQuery) throws -> [PersistentHistoryTransaction] {
    guard let history = map.history else { return [] }
    return try tables.translating {
      try writer.read { db in
        let earliest = try Int64.fetchOne(db, sql: "SELECT MIN(Z_PK) FROM ATRANSACTION")
        try query.bounds.check(earliest: earliest, latest: try history.lastTransaction(db), of: identifier)
        let (condition, arguments) = Self.condition(query.bounds)
        let rows = try Row.fetchCursor(
          db,
          sql: "SELECT t.Z_PK, t.ZTIMESTAMP, \(history.text("ZAUTHOR")), \(history.text("ZCONTEXTNAME")) "
            + "FROM ATRANSACTION AS t\(condition) ORDER BY t.Z_PK", arguments: StatementArguments(arguments))
        var found: [PersistentHistoryTransaction] = []
        while query.limit == 0 || found.count < query.limit, let row = try rows.next() {
          let (number, author): (Int64, String?) = (row[0], row[2])
          if let authors = query.authors, author.map(authors.contains) != true { continue }
          if let author, query.excludedAuthors.contains(author) { continue }
          let transaction = PersistentHistoryTransaction(
            transactionNumber: number, timestamp: Date(timeIntervalSinceReferenceDate: row[1] ?? 0), author: author,
            contextName: row[3], processID: 0, storeIdentifier: identifier,
            changes: query.includesChanges || query.selectsByChanges ? try changes(of: number, history, db) : nil)
          if let wanted = try query.selects(transaction) { found.append(wanted) }
        }
        return found
      }
    }
  }

  /// Leaves out changes of objects whose entity the model doesn't have.
  private func changes(
    of transaction: Int64, _ history: CoreDataHistoryTables, _ db: Database
  ) throws -> [PersistentHistoryChange] {
    let tombstones = history.changeColumns.filter { $0.hasPrefix("ZTOMBSTONE") }.sorted()
    let columns = ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK"]
    let columnBits = history.changeColumns.contains("ZCOLUMNS") ? "ZCOLUMNS" : "NULL"
    let statement = try db.cachedStatement(
      sql: "SELECT \((columns + [columnBits] + tombstones).joined(separator: ", ")) FROM ACHANGE "
        + "WHERE ZTRANSACTIONID = ? ORDER BY Z_PK")
    let rows = try Row.fetchCursor(statement, arguments: [transaction])
    var changes: [PersistentHistoryChange] = []
    while let row = try rows.next() {
      guard let entity = entitiesByNumber[row[2] ?? 0], let number: Int64 = row[3] else { continue }
      let kind: PersistentHistoryChange.ChangeType
      switch row[1] as Int64? {
      case 0: kind = .insert
      case 1: kind = .update
      case 2: kind = .delete
      default: continue
      }
      var tombstone: [String: Value] = [:]
      for (column, attribute) in kind == .delete ? history.preserved(of: entity) : [] {
        guard let place = tombstones.firstIndex(of: column) else { continue }
        let value = Self.value(row[columns.count + 1 + place], attribute)
        if !value.isNull { tombstone[attribute.name] = value }
      }
      changes.append(
        PersistentHistoryChange(
          changeID: row[0],
          changedObjectID: ManagedObjectID(
            scope: tables.layouts[entity.index]?.scope ?? tables.scope(of: entity), number: number),
          changeType: kind, updatedProperties: Self.properties(in: row[4], of: entity), tombstone: tombstone))
    }
    return changes
  }

  /// The names of the properties that an update's bits stand for; none where a bit stands for no property.
  private static func properties(in bits: Data?, of entity: EntityDescription) -> Set<String> {
    guard let bits, let properties = CoreDataHistoryTables.properties(of: entity) else { return [] }
    var names: Set<String> = []
    for (byte, value) in bits.enumerated() {
      for bit in 0..<8 where value & (0x80 >> UInt8(bit)) != 0 {
        guard byte * 8 + bit < properties.count else { return [] }
        names.insert(properties[byte * 8 + bit].name)
      }
    }
    return names
  }

  private static func value(_ stored: DatabaseValue, _ attribute: AttributeDescription) -> Value {
    switch (StoredForms.coreData.kind(of: attribute), stored.storage) {
    case (.integer?, .int64(let number)): .int(number)
    case (.boolean?, .int64(let number)): .bool(number != 0)
    case (.real?, .double(let number)): .double(number)
    case (.real?, .int64(let number)): .double(Double(number))
    case (.text?, .string(let text)): .string(text)
    case (.referenceDate?, .double(let seconds)): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (.referenceDate?, .int64(let seconds)): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
    case (.roundedDecimal?, .int64(let number)): .decimal(Decimal(number))
    case (.roundedDecimal?, .double(let number)): StoredForms.decimal(rounding: number).map(Value.decimal) ?? .null
    case (.blob?, .blob(let data)): .data(data)
    case (.uuidBytes?, .blob(let data)): StoredForms.uuid(of: data).map(Value.uuid) ?? .null
    case (.uri?, .string(let text)): URL(string: text).map(Value.uri) ?? .null
    default: .null
    }
  }

  package func deleteHistory(_ bounds: HistoryBounds) throws -> Int {
    guard map.history != nil else { return 0 }
    return try tables.translating {
      try writer.write { db in
        var (condition, arguments) = Self.condition(bounds)
        if let date = bounds.beforeDate {
          // What is left has no gaps, even after the clock was set back: a token tells by the earliest number whether it has
          // expired.
          condition +=
            " AND t.Z_PK < IFNULL((SELECT MIN(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?), 9223372036854775807)"
          arguments.append(date.timeIntervalSinceReferenceDate.databaseValue)
        }
        let doomed = "SELECT t.Z_PK FROM ATRANSACTION AS t\(condition)"
        try db.execute(
          sql: "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (\(doomed))", arguments: StatementArguments(arguments))
        try db.execute(
          sql: "DELETE FROM ATRANSACTION WHERE Z_PK IN (\(doomed))", arguments: StatementArguments(arguments))
        return db.changesCount
      }
    }
  }

  private static func condition(_ bounds: HistoryBounds) -> (String, [DatabaseValue]) {
    var (conditions, arguments): ([String], [DatabaseValue]) = ([], [])
    func add(_ condition: String, _ value: DatabaseValue?) {
      guard let value else { return }
      conditions.append(condition)
      arguments.append(value)
    }
    add("t.Z_PK > ?", bounds.after?.databaseValue)
    add("t.Z_PK < ?", bounds.before?.databaseValue)
    add("t.ZTIMESTAMP > ?", bounds.afterDate?.timeIntervalSinceReferenceDate.databaseValue)
    add("t.ZTIMESTAMP < ?", bounds.beforeDate?.timeIntervalSinceReferenceDate.databaseValue)
    return (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "), arguments)
  }
}

extension CoreDataHistoryTables {
  /// A text of a transaction `t`.
  fileprivate func text(_ column: String) -> String {
    let plain = transactionColumns.contains(column) ? "t.\(column)" : "NULL"
    guard hasStrings, transactionColumns.contains(column + "TS") else { return plain }
    return "IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = t.\(column)TS), \(plain))"
  }
}
