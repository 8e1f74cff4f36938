import Foundation
import ManagedObjects
import PostgreSQL
import OrderedCollections
import SQLSchema

// The code for reading a store and its generations.

/// Reads a store's tables: the store itself, on any free connection, or a generation on its own.
protocol PostgresReader: StoreReader {
  var tables: PostgresTables { get }
  /// Runs `body` on a connection, again if that is lost.
  /// - Parameter isOneState: whether all statements of `body` must see one state of the store.
  func read<T>(isOneState: Bool, _ body: (PostgresConnection) throws -> T) throws -> T
}

extension PostgresReader {
  package func rows(_ fetch: StoreFetch) throws -> [StoreRow] {
    var found: [StoreRow] = []
    guard let reader = try reader(of: fetch), let statement = try PostgresFetch(tables).select(fetch, reader) else {
      return try inMemory(fetch) { rows, source in try fetch.rows(among: rows, in: source) }
    }
    try watched(fetch.monitor) { connection in
      let rows = try connection.query(statement.sql, statement.parameters)
      found = []
      found.reserveCapacity(rows.count)
      for row in 0..<rows.count {
        if let made = reader.row(rows, row) { found.append(made) }
        if let monitor = fetch.monitor, (row + 1).isMultiple(of: FetchMonitor.stride) { try monitor.note(row + 1) }
      }
    }
    try fetch.monitor?.note(found.count)
    return found
  }

  package func eachRow(_ fetch: StoreFetch, _ take: (consuming StoreRow) -> Void) throws {
    // The monitor counts the rows that are returned.
    guard fetch.monitor == nil, let reader = try reader(of: fetch),
      let statement = try PostgresFetch(tables).select(fetch, reader)
    else {
      for row in try rows(fetch) { take(row) }
      return
    }
    try watched(nil) { connection in
      try Self.once { isTaken in
        try connection.each(statement.sql, statement.parameters) { rows in
          isTaken()
          if let row = reader.row(rows, 0) { take(row) }
        }
      } failure: {
        PostgresFailure.failure($0, tables.name)
      }
    }
  }

  package func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] {
    let reader = PostgresRowReader(
      try tables.layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities), slots: [])
    guard let statement = try PostgresFetch(tables).select(fetch, reader) else { return try rows(fetch).map(\.id) }
    var found: [ManagedObjectID] = []
    try watched(fetch.monitor) { connection in
      let rows = try connection.query(statement.sql, statement.parameters)
      found = (0..<rows.count).compactMap { reader.id(rows, $0) }
    }
    try fetch.monitor?.note(found.count)
    return found
  }

  package func count(_ fetch: StoreFetch) throws -> Int {
    guard let statement = try PostgresFetch(tables).count(fetch) else { return try rows(fetch).count }
    return try watched(nil) { Int(try $0.query(statement.sql, statement.parameters).int(0, 0)) }
  }

  package func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] {
    var found: [ContiguousArray<Value>] = []
    guard let selection = try PostgresFetch(tables).dictionaries(query) else {
      // Every column may read any value.
      return try inMemory(query.fetch) { rows, source in try query.dictionaries(among: rows, in: source) }
    }
    let (statement, kinds) = selection
    try watched(query.fetch.monitor) { connection in
      let rows = try connection.query(statement.sql, statement.parameters)
      found = (0..<rows.count).map { row in
        ContiguousArray(kinds.indices.map { kinds[$0].value(rows, row, $0) })
      }
    }
    return found
  }

  package func eachDictionary(_ query: StoreQuery, _ take: (ContiguousArray<Value>) throws -> Void) throws {
    guard let selection = try PostgresFetch(tables).dictionaries(query) else {
      for row in try dictionaries(query) { try take(row) }
      return
    }
    let (statement, kinds) = selection
    var failure: (any Error)?
    // By a cursor: `take` may read on the same connection.
    let cursor = "lade_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "_")
    try tables.translating {
      try read(isOneState: true) { connection in
        try Self.once { isTaken in
          try connection.query("DECLARE \(cursor) NO SCROLL CURSOR FOR \(statement.sql)", statement.parameters)
          defer { _ = Result { try connection.run("CLOSE \(cursor)") } }
          while true {
            let rows = try connection.rows("FETCH 500 FROM \(cursor)")
            if rows.count == 0 { return }
            for row in 0..<rows.count {
              isTaken()
              do {
                try take(ContiguousArray(kinds.indices.map { kinds[$0].value(rows, row, $0) }))
              } catch {
                failure = error
                return
              }
            }
          }
        } failure: {
          PostgresFailure.failure($0, tables.name)
        }
      }
    }
    if let failure { throw failure }
  }

  package func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] {
    guard let first = ids.first else { return [] }
    let reader = try tables.rowReader(of: first.entity.rootEntity)
    return try watched(nil) {
      try PostgresFetch(tables).rows(
        [PostgresFetch.Rows(reader: reader, entity: first.entity, numbers: ids.map(\.number))], $0)
    }
  }

  package func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value {
    try watched(nil) { try PostgresFetch(tables).relatedIDs(of: id, relationship, $0) }
  }

  package func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    guard tables.holds(relationship.destinationEntity) else { return [] }
    let reader = PostgresRowReader(try tables.layouts(of: relationship.destinationEntity))
    guard let join = RelationshipJoin(relationship, columns: reader.selection, in: tables.schema) else { return [] }
    let owners = Dictionary(ids.map { ($0.number, $0) }) { first, _ in first }
    let sql =
      "SELECT \(join.columns), \(join.owner) FROM \(join.source) WHERE \(join.owner) = ANY ($1)\(join.order)"
    return try watched(nil) { connection in
      let rows = try connection.query(sql, [.array(.int8, owners.keys.sorted().map { .int($0) })])
      return (0..<rows.count).compactMap { row in
        guard let owner = owners[rows.int(row, reader.selection.count)] else { return nil }
        return reader.row(rows, row).map { RelatedRow(owner: owner, row: $0) }
      }
    }
  }

  // MARK: In memory

  /// Selects rows in memory: reads those that fulfil the part of the predicate that is SQL.
  private func inMemory<T>(
    _ fetch: StoreFetch, _ select: ([StoreRow], any StoreRowSource) throws -> T
  ) throws -> T {
    let reader = PostgresRowReader(
      try tables.layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities))
    let statement = try PostgresFetch(tables).superset(fetch, reader)
    return try tables.translating {
      try read(isOneState: true) { connection in
        let rows = try connection.query(statement.sql, statement.parameters)
        let made = (0..<rows.count).compactMap { reader.row(rows, $0) }
        tables.log?.noteSelection(in: fetch.entity.name, among: made.count)
        let source = PostgresRowSource(tables, connection, made)
        let selected = try select(made, source)
        if let failure = source.failure { throw failure }
        return selected
      }
    }
  }

  private func reader(of fetch: StoreFetch) throws -> PostgresRowReader? {
    if fetch.slots == nil, fetch.includesSubentities { return try tables.rowReader(of: fetch.entity) }
    return PostgresRowReader(
      try tables.layouts(of: fetch.entity, includesSubentities: fetch.includesSubentities), slots: fetch.slots)
  }

  /// Runs a read that an ``Interruption`` or a monitor may end.
  private func watched<T>(_ monitor: FetchMonitor?, _ body: (PostgresConnection) throws -> T) throws -> T {
    try tables.translating {
      try read(isOneState: false) { connection in
        let cancellation = connection.cancellation
        return try Interruption.reading(endedBy: { cancellation.cancel() }) {
          guard let monitor else { return try body(connection) }
          return try monitor.watching(interrupt: { cancellation.cancel() }) { try body(connection) }
        }
      }
    }
  }

  /// Runs a read that can't run again once it has passed something on: an error is then final.
  private static func once(
    _ body: (_ isTaken: () -> Void) throws -> Void, failure: (PostgresError) -> StoreFailure
  ) throws {
    var isTaken = false
    do {
      try body { isTaken = true }
    } catch let error as PostgresError where isTaken {
      throw ManagedObjectError.store(failure(error))
    }
  }
}

/// The rows that predicates reach, read when they are asked for.
private final class PostgresRowSource: StoreRowSource {
  private let tables: PostgresTables
  private let connection: PostgresConnection
  private var rows: [ManagedObjectID: StoreRow?]
  private var related: [ManagedObjectID: [Int: Value]] = [:]
  /// The first error: predicates can't throw.
  private(set) var failure: (any Error)?

  init(_ tables: PostgresTables, _ connection: PostgresConnection, _ known: [StoreRow]) {
    self.tables = tables
    self.connection = connection
    rows = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
  }

  func row(with id: ManagedObjectID) -> StoreRow? {
    if let known = rows[id] { return known }
    let found = reading(StoreRow?.none) {
      guard tables.holds(id.entity.rootEntity) else { return nil }
      let reader = try tables.rowReader(of: id.entity.rootEntity)
      return try PostgresFetch(tables).rows(
        [PostgresFetch.Rows(reader: reader, entity: id.entity, numbers: [id.number])], connection
      ).first
    }
    rows[id] = .some(found)
    return found
  }

  func objects(of id: ManagedObjectID, by relationship: RelationshipDescription) -> Value {
    if let known = related[id]?[relationship.slot] { return known }
    let found = reading(relationship.emptyValue) {
      try PostgresFetch(tables).relatedIDs(of: id, relationship, connection)
    }
    related[id, default: [:]][relationship.slot] = found
    return found
  }

  private func reading<T>(_ empty: T, _ body: () throws -> T) -> T {
    if failure != nil { return empty }
    do {
      return try body()
    } catch {
      failure = error
      return empty
    }
  }
}
