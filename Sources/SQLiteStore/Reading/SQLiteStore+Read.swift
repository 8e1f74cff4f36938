import Foundation
import GRDB
import GRDBSQLite
package import ManagedObjects
import OrderedCollections

extension SQLiteStore {
  package func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    let reader = RowReader(try layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities))
    let query = try SQLCompiler(schema, storeIdentifier: identifier).select(fetch, columns: reader.selection)
    return try collect(reader, query.sql, query.arguments)
  }

  package func count(_ fetch: StoreFetch) throws -> Int {
    let query = try SQLCompiler(schema, storeIdentifier: identifier).count(fetch)
    return try translating {
      try pool.read { db in
        try Int.fetchOne(db.cachedStatement(sql: query.sql), arguments: StatementArguments(query.arguments)) ?? 0
      }
    }
  }

  package func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    guard let first = ids.first else { return [] }
    let reader = RowReader(try layouts(of: first.entity.rootEntity))
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let start = "SELECT \(columns) FROM \(try layout(of: first.entity).table.quotedName)"
    let key = reader.keyColumn.quotedName
    if ids.count == 1 { return try collect(reader, "\(start) WHERE \(key) = ?", [first.number.databaseValue]) }
    var found: [StoreRow] = []
    for part in ids.chunked(by: 500) {
      let marks = repeatElement("?", count: part.count).joined(separator: ",")
      found += try collect(reader, "\(start) WHERE \(key) IN (\(marks))", part.map(\.number.databaseValue))
    }
    return found
  }

  package func relatedIDs(
    of id: ManagedObjectID, _ relationship: RelationshipDescription
  ) throws -> Value {
    let reader = RowReader(try layouts(of: relationship.destinationEntity), onlyIDs: true)
    let table = try layout(of: relationship.destinationEntity).table.quotedName
    let key = reader.keyColumn.quotedName
    if let ordering = schema.ordering(of: relationship) {
      return try orderedIDs(of: id, ordering, reader, table)
    }
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let condition: String
    if relationship.isManyToMany {
      let pair = schema.pairing(of: relationship)
      condition =
        "\(key) IN (SELECT \(pair.destinationColumn.quotedName) FROM \(pair.table.quotedName) "
        + "WHERE \(pair.sourceColumn.quotedName) = ?)"
    } else if let inverse = relationship.inverseRelationship {
      condition = "\(schema.column(of: inverse, in: inverse.entity).quotedName) = ?"
    } else {
      return relationship.emptyValue
    }
    let sql = "SELECT \(columns) FROM \(table) WHERE \(condition)"
    return relationship.value(holding: Set(try collect(reader, sql, [id.number.databaseValue]).map(\.id)))
  }

  private func orderedIDs(
    of id: ManagedObjectID, _ ordering: Ordering, _ reader: RowReader, _ table: String
  ) throws -> Value {
    let columns = reader.selection.map { "m.\($0.quotedName)" }.joined(separator: ", ")
    let position = "o.\(ordering.positionColumn.quotedName)"
    let key = "m.\(reader.keyColumn.quotedName)"
    let sql =
      "SELECT \(columns) FROM \(ordering.table.quotedName) AS o JOIN \(table) AS m "
      + "ON \(key) = o.\(ordering.memberColumn.quotedName) WHERE o.\(ordering.ownerColumn.quotedName) = ? "
      + "ORDER BY \(position) IS NULL, \(position), \(key)"
    return .orderedObjects(OrderedSet(try collect(reader, sql, [id.number.databaseValue]).map(\.id)))
  }

  private func collect(_ reader: RowReader, _ sql: String, _ arguments: [DatabaseValue]) throws -> [StoreRow] {
    try translating {
      try pool.read { db in
        let statement = try db.cachedStatement(sql: sql)
        try statement.setArguments(StatementArguments(arguments))
        return try statement.collect(reader, in: db)
      }
    }
  }
}

extension Statement {
  /// Runs the statement and reads its rows.
  func collect(_ reader: RowReader, in db: Database) throws -> [StoreRow] {
    let handle = sqliteStatement
    defer { sqlite3_reset(handle) }
    var rows: [StoreRow] = []
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: if let row = reader.read(handle) { rows.append(row) }
      case SQLITE_DONE: return rows
      default: throw db.lastError(sql: sql)
      }
    }
  }
}

extension Database {
  /// The error that the connection's last call ended with.
  func lastError(sql: String? = nil) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection)),
      message: sqlite3_errmsg(sqliteConnection).map { String(cString: $0) }, sql: sql)
  }
}

extension Array {
  /// Its parts of at most `size` elements.
  func chunked(by size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}

extension String {
  /// The name between SQL's quotes.
  var quotedName: String {
    let quote = UInt8(ascii: "\"")
    if !utf8.contains(quote) { return "\"" + self + "\"" }
    return "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
