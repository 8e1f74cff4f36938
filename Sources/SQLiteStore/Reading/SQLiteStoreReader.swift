import Foundation
package import GRDB
import GRDBSQLite
package import ManagedObjects
import SQLSchema
import OrderedCollections

// The code for reading a store and its snapshots.

/// Reads a store's file: the store itself, on any free connection, or a snapshot on its own connection.
package protocol SQLiteStoreReader: StoreReader {
  /// The file's tables.
  var tables: StoreTables { get }
  /// Runs `body` on a connection that sees one state of the file.
  func read<T>(_ body: (Database) throws -> T) throws -> T
}

extension SQLiteStore: SQLiteStoreReader {
  package func read<T>(_ body: (Database) throws -> T) throws -> T {
    guard let external = tables.external else {
      return try writer.read { db in try db.interruptible { try body(db) } }
    }
    return try external.whileReading { try writer.read { db in try db.interruptible { try body(db) } } }
  }
}

extension SQLiteStoreReader {
  package func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    let reader = RowReader(
      try tables.layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities), slots: fetch.slots)
    return try stepping(fetch, reader, reader.read)
  }

  package func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    // The monitor counts the rows that are returned.
    guard fetch.monitor == nil else {
      for row in try rows(fetch) { take(row) }
      return
    }
    let reader = RowReader(
      try tables.layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities), slots: fetch.slots)
    try tables.translating {
      try read { db in
        let query = try select(fetch, reader, in: db)
        let statement = try db.cachedStatement(sql: query.sql)
        try statement.setArguments(StatementArguments(query.arguments))
        let handle = statement.sqliteStatement
        defer { sqlite3_reset(handle) }
        ReadingFailure.forget()
        guard reader.readAll(handle, take) == SQLITE_DONE else { throw db.lastError(sql: query.sql) }
        try ReadingFailure.throwIfAny()
      }
    }
  }

  package func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    let reader = RowReader(
      try tables.layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities), slots: [])
    return try stepping(fetch, reader, reader.readID)
  }

  package func count(_ fetch: StoreFetch) throws -> Int {
    let query = try compiler.count(fetch)
    return try tables.translating {
      try read { db in
        try Int.fetchOne(db.cachedStatement(sql: query.sql), arguments: StatementArguments(query.arguments)) ?? 0
      }
    }
  }

  package func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    let kinds = try query.columns.map { try ColumnKind($0, in: tables) }
    let compiled = try compiler.dictionaries(query)
    return try stepping(compiled.sql, compiled.arguments, query.fetch.monitor) { statement in
      ContiguousArray(kinds.indices.map { RowReader.value(statement, Int32($0), kinds[$0]) })
    }
  }

  package func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws {
    let kinds = try query.columns.map { try ColumnKind($0, in: tables) }
    let compiled = try compiler.dictionaries(query)
    var failure: (any Error)?
    try tables.translating {
      try read { db in
        // A statement of its own: `take` may read in between, and mustn't get the same cached one.
        let statement = try db.makeStatement(sql: compiled.sql)
        try statement.setArguments(StatementArguments(compiled.arguments))
        let handle = statement.sqliteStatement
        defer { sqlite3_reset(handle) }
        var row: ContiguousArray<Value> = []
        row.reserveCapacity(kinds.count)
        while true {
          switch sqlite3_step(handle) {
          case SQLITE_ROW:
            row.removeAll(keepingCapacity: true)
            for index in kinds.indices { row.append(RowReader.value(handle, Int32(index), kinds[index])) }
            do {
              try take(row)
            } catch {
              // Thrown by `take`, and so not to be translated as an error of the store.
              failure = error
              return
            }
          case SQLITE_DONE: return
          default: throw db.lastError(sql: compiled.sql)
          }
        }
      }
    }
    if let failure { throw failure }
  }

  package func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    guard let first = ids.first else { return [] }
    let look = try tables.rowsByNumber(of: first.entity)
    if ids.count == 1 { return try collect(look.reader, look.ofOne, [first.number.databaseValue]) }
    var found: [StoreRow] = []
    for part in ids.chunked(by: 500) {
      found += try collect(look.reader, "\(look.ofSeveral) (\(marks(part)))", part.map(\.number.databaseValue))
    }
    return found
  }

  package func relatedIDs(
    of id: ManagedObjectID, _ relationship: RelationshipDescription
  ) throws -> Value {
    // No relationship leads to another store.
    guard tables.holds(relationship.destinationEntity) else { return relationship.emptyValue }
    let reader = RowReader(try tables.layouts(of: relationship.destinationEntity), slots: [])
    guard let join = RelationshipJoin(relationship, columns: reader.selection, in: tables.schema) else {
      return relationship.emptyValue
    }
    let sql = "SELECT \(join.columns) FROM \(join.source) WHERE \(join.owner) = ?\(join.order)"
    let ids = try stepping(sql, [id.number.databaseValue], nil, reader.readID)
    return relationship.isOrdered ? .orderedObjects(OrderedSet(ids)) : .objects(Set(ids))
  }

  package func relatedRows(
    of ids: [ManagedObjectID], _ relationship: RelationshipDescription
  ) throws -> [RelatedRow] {
    guard tables.holds(relationship.destinationEntity) else { return [] }
    let reader = RowReader(try tables.layouts(of: relationship.destinationEntity))
    guard let join = RelationshipJoin(relationship, columns: reader.selection, in: tables.schema) else { return [] }
    let owners = Dictionary(ids.map { ($0.number, $0) }) { first, _ in first }
    let place = Int32(reader.selection.count)
    var found: [RelatedRow] = []
    for part in ids.chunked(by: 500) {
      let sql =
        "SELECT \(join.columns), \(join.owner) FROM \(join.source) WHERE \(join.owner) IN (\(marks(part)))\(join.order)"
      found += try stepping(sql, part.map(\.number.databaseValue), nil) { statement in
        guard let owner = owners[sqlite3_column_int64(statement, place)] else { return nil }
        return reader.read(statement).map { RelatedRow(owner: owner, row: $0) }
      }
    }
    return found
  }

  private var compiler: SQLCompiler { SQLCompiler(tables.schema, storeIdentifier: tables.identifier) }

  private func marks(_ part: ArraySlice<ManagedObjectID>) -> String {
    repeatElement("?", count: part.count).joined(separator: ",")
  }

  private func collect(
    _ reader: RowReader, _ sql: String, _ arguments: [DatabaseValue], _ monitor: FetchMonitor? = nil
  ) throws -> [StoreRow] {
    try stepping(sql, arguments, monitor, reader.read)
  }

  /// Runs a fetch. Returns the results of `item` for each row, without nils.
  private func stepping<T>(_ fetch: StoreFetch, _ reader: RowReader, _ item: (OpaquePointer) -> T?) throws -> [T] {
    try tables.translating {
      try read { db in
        let query = try select(fetch, reader, in: db)
        return try stepping(query.sql, query.arguments, fetch.monitor, in: db, item)
      }
    }
  }

  /// The statement of a fetch. Anything it depends on is read from the same state of the file.
  private func select(_ fetch: StoreFetch, _ reader: RowReader, in db: Database) throws -> CompiledQuery {
    var numbers: Set<AttributeDescription> = []
    if let order = compiler.decimalOrder(fetch),
      try Bool.fetchOne(db.cachedStatement(sql: order.sql)) == false
    {
      numbers = [order.attribute]
    }
    return try compiler.select(fetch, columns: reader.selection, numbers: numbers)
  }

  /// Runs a statement. Returns the results of `item` for each row, without nils.
  private func stepping<T>(
    _ sql: String, _ arguments: [DatabaseValue], _ monitor: FetchMonitor?, _ item: (OpaquePointer) -> T?
  ) throws -> [T] {
    try tables.translating {
      try read { db in try stepping(sql, arguments, monitor, in: db, item) }
    }
  }

  private func stepping<T>(
    _ sql: String, _ arguments: [DatabaseValue], _ monitor: FetchMonitor?, in db: Database,
    _ item: (OpaquePointer) -> T?
  ) throws -> [T] {
    let statement = try db.cachedStatement(sql: sql)
    try statement.setArguments(StatementArguments(arguments))
    guard let monitor else { return try statement.collect(in: db, item) }
    let connection = SendableConnection(db.sqliteConnection)
    return try monitor.watching(interrupt: { connection.interrupt() }) {
      try statement.collect(in: db, monitor: monitor, item)
    }
  }
}

/// A connection for another thread to interrupt.
private struct SendableConnection: @unchecked Sendable {
  // Sendable: SQLite lets any thread interrupt an open connection. The monitor or interruption calls it under its lock while
  // the statement runs, never afterwards.
  private let connection: OpaquePointer?

  init(_ connection: OpaquePointer?) { self.connection = connection }

  func interrupt() { sqlite3_interrupt(connection) }
}

extension Database {
  /// Runs `body`, whose statements an ``Interruption`` of this thread ends.
  func interruptible<T>(_ body: () throws -> T) throws -> T {
    let connection = SendableConnection(sqliteConnection)
    return try Interruption.reading(endedBy: { connection.interrupt() }, body)
  }
}

extension Statement {
  /// Runs the statement and reads its rows.
  func collect(_ reader: RowReader, in db: Database) throws -> [StoreRow] { try collect(in: db, reader.read) }

  /// Runs the statement. Returns the results of `item` for each row, without nils.
  func collect<T>(
    in db: Database, monitor: FetchMonitor? = nil, _ item: (OpaquePointer) -> T?
  ) throws -> [T] {
    let handle = sqliteStatement
    defer { sqlite3_reset(handle) }
    ReadingFailure.forget()
    var items: [T] = []
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW:
        if let item = item(handle) { items.append(item) }
        if let monitor, items.count.isMultiple(of: FetchMonitor.stride) { try monitor.note(items.count) }
      case SQLITE_DONE:
        try monitor?.note(items.count)
        try ReadingFailure.throwIfAny()
        return items
      default: throw db.lastError(sql: sql)
      }
    }
  }
}

extension Database {
  /// The error of the connection's last call.
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
    // Few names contain a quote, and Foundation's search costs more than some statements.
    utf8.contains(UInt8(ascii: "\"")) ? "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" : "\"\(self)\""
  }
}

/// One state of a store's file, on a connection of its own that keeps a read transaction open.
///
/// While it exists, SQLite can't reset its write-ahead log: the log grows until the snapshot is released and the next
/// checkpoint comes.
final class SQLiteSnapshot: SQLiteStoreReader {
  package let tables: StoreTables
  private let snapshot: DatabaseSnapshot

  init(of tables: StoreTables, _ pool: DatabasePool) throws {
    self.tables = tables
    try tables.external?.beginReading()
    do {
      snapshot = try tables.translating { try pool.makeSnapshot() }
    } catch {
      tables.external?.endReading()
      throw error
    }
  }

  deinit { tables.external?.endReading() }

  /// Reentrant: a caller may run another query while it reads the rows of one.
  func read<T>(_ body: (Database) throws -> T) throws -> T {
    try snapshot.unsafeReentrantRead { db in try db.interruptible { try body(db) } }
  }
}
