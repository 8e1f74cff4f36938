import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

/// One save's rows on their way into the tables, within a transaction.
///
/// Conflicts are collected, so that the caller learns of all of them; the transaction is then given up.
final class RowWrite {
  let db: Database
  let store: SQLiteStore
  let binder = RowBinder()
  private var numbers = RowNumbers()
  /// Whether new rows may refer to each other, and whether some have pairs in tables of their own.
  private var hasReferences = false
  private(set) var hasPairs = false
  private var numbered: [ManagedObjectID: Int64] = [:]
  private var mergeConflicts: [MergeConflict] = []
  private var constraintConflicts: [ConstraintConflict] = []

  init(_ db: Database, store: SQLiteStore) throws {
    self.db = db
    self.store = store
  }

  // MARK: Identity

  /// The permanent ID of each new row, in order.
  func assignIDs(to rows: [StoreRow]) throws -> [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(rows.count)
    var layout: RowLayout?
    for row in rows {
      if layout?.entity !== row.id.scope.entity {
        let next = try store.layout(of: row.id.scope.entity)
        if !next.entity.relationships.isEmpty { hasReferences = true }
        if !next.pairings.isEmpty { hasPairs = true }
        layout = next
      }
      guard let layout, row.id.isTemporaryID else {
        ids.append(row.id)
        continue
      }
      if let slot = layout.keySlot, case .int(let number) = row.values[slot] {
        ids.append(ManagedObjectID(scope: layout.scope, number: number))
      } else {
        ids.append(ManagedObjectID(scope: layout.scope, number: try numbers.next(layout, db)))
      }
    }
    if hasReferences {
      for (row, id) in zip(rows, ids) where row.id.isTemporaryID { numbered[row.id] = id.number }
      binder.permanentNumber = { [numbered] in numbered[$0] }
    }
    return ids
  }

  func number(_ id: ManagedObjectID) -> Int64? { id.isTemporaryID ? numbered[id] : id.number }

  /// Keeps the numbers given, and throws the conflicts found.
  func finish() throws {
    guard constraintConflicts.isEmpty else { throw ManagedObjectError.constraintConflicts(constraintConflicts) }
    if let date = binder.unstorable {
      throw ManagedObjectError.store(
        path: store.url?.path ?? "", code: SQLITE_RANGE,
        message: "a date \(date.timeIntervalSince1970) seconds from 1970 isn't in the years 0 to 9999")
    }
    guard mergeConflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(mergeConflicts) }
    try numbers.keep(db)
  }

  // MARK: Rows

  func insert(_ rows: [StoreRow], _ ids: [ManagedObjectID]) throws {
    var layout: RowLayout?
    var handle: OpaquePointer?
    defer { if let handle { sqlite3_reset(handle) } }
    for (row, id) in zip(rows, ids) {
      if layout?.entity !== row.id.scope.entity {
        if let handle { sqlite3_reset(handle) }
        let next = try store.layout(of: row.id.entity)
        layout = next
        handle = try db.cachedStatement(sql: insertStatement(next)).sqliteStatement
      }
      guard let layout, let handle else { continue }
      binder.begin()
      sqlite3_bind_int64(handle, 1, id.number)
      row.values.withUnsafeBufferPointer { values in
        var index: Int32 = 2
        for binding in layout.bindings {
          binder.bind(values[binding.slot], isISODate: binding.isISODate, to: handle, at: index)
          index += 1
        }
      }
      let code = sqlite3_step(handle)
      if code != SQLITE_DONE { try noteConflict(row.id, layout) }
      sqlite3_reset(handle)
    }
  }

  /// Writes changed columns, after a look at the row: it must still have the values that were read.
  func update(_ updates: [StoreChanges.Update]) throws {
    for update in updates {
      let layout = try store.layout(of: update.id.entity)
      guard try isAsRead(update.id, update.committed, layout) else { continue }
      let changed = layout.columns.filter { update.values[$0.slot] != update.committed[$0.slot] }
      if changed.isEmpty { continue }
      let assignments = changed.map { $0.name.quotedName + " = ?" }.joined(separator: ", ")
      let sql = "UPDATE \(layout.table.quotedName) SET \(assignments) WHERE \(layout.keyColumn.quotedName) = ?"
      let handle = try db.cachedStatement(sql: sql).sqliteStatement
      defer { sqlite3_reset(handle) }
      binder.begin()
      var index: Int32 = 1
      for column in changed {
        binder.bind(update.values[column.slot], isISODate: column.kind == .isoDate, to: handle, at: index)
        index += 1
      }
      sqlite3_bind_int64(handle, index, update.id.number)
      if sqlite3_step(handle) != SQLITE_DONE { try noteConflict(update.id, layout) }
    }
  }

  func delete(_ rows: [StoreRow]) throws {
    for row in rows where !row.id.isTemporaryID {
      let layout = try store.layout(of: row.id.entity)
      for relationship in layout.pairings {
        let pair = store.schema.pairing(of: relationship)
        try db.cachedStatement(
          sql: "DELETE FROM \(pair.table.quotedName) WHERE \(pair.sourceColumn.quotedName) = ?"
        ).execute(arguments: [row.id.number])
      }
      try db.cachedStatement(
        sql: "DELETE FROM \(layout.table.quotedName) WHERE \(layout.keyColumn.quotedName) = ?"
      ).execute(arguments: [row.id.number])
      if db.changesCount == 0 { mergeConflicts.append(.init(objectID: row.id, isDeleted: true)) }
    }
  }

  private func insertStatement(_ layout: RowLayout) -> String {
    var names = [layout.keyColumn.quotedName] + layout.columns.map(\.name.quotedName)
    var values = Array(repeating: "?", count: names.count)
    if let column = layout.entityColumn {
      names.append(column.quotedName)
      values.append("'\(layout.entity.name.replacingOccurrences(of: "'", with: "''"))'")
    }
    return
      "INSERT INTO \(layout.table.quotedName) (\(names.joined(separator: ", "))) "
      + "VALUES (\(values.joined(separator: ", ")))"
  }

  private func isAsRead(
    _ id: ManagedObjectID, _ committed: ContiguousArray<Value>, _ layout: RowLayout
  ) throws -> Bool {
    let reader = RowReader([layout])
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let statement = try db.cachedStatement(
      sql: "SELECT \(columns) FROM \(layout.table.quotedName) WHERE \(layout.keyColumn.quotedName) = ?")
    try statement.setArguments([id.number])
    guard let row = try statement.collect(reader, in: db).first else {
      mergeConflicts.append(.init(objectID: id, isDeleted: true))
      return false
    }
    for column in layout.columns where !isStored(committed[column.slot], as: row.values[column.slot]) {
      mergeConflicts.append(.init(objectID: id, isDeleted: false))
      return false
    }
    return true
  }

  /// Whether a value that an object was saved with is what the store gives back for it: dates are kept to the
  /// microsecond, and NaN as nothing.
  private func isStored(_ value: Value, as stored: Value) -> Bool {
    if value == stored { return true }
    switch (value, stored) {
    case (.date(let value), .date(let stored)): return ISODate.microseconds(of: value) == ISODate.microseconds(of: stored)
    case (.double(let value), .null): return value.isNaN
    default: return false
    }
  }

  /// Notes a row that clashes with another; any other error ends the write.
  private func noteConflict(_ id: ManagedObjectID, _ layout: RowLayout) throws {
    let error = db.lastError()
    let code = error.extendedResultCode
    guard code == .SQLITE_CONSTRAINT_UNIQUE || code == .SQLITE_CONSTRAINT_PRIMARYKEY || code == .SQLITE_CONSTRAINT_ROWID
    else { throw error }
    // SQLite names the columns: "UNIQUE constraint failed: Person.email, Person.country".
    let clashing = Set(
      (error.message ?? "").split(separator: ":").last.map { $0.split(separator: ",") }?.compactMap {
        $0.split(separator: ".").last.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
      } ?? [])
    let constraint = layout.entity.uniquenessConstraints.first { constraint in
      Set(constraint.map { store.schema.column(of: $0, in: layout.entity).lowercased() }) == clashing
    }
    constraintConflicts.append(.init(objectID: id, constraint: constraint?.map(\.name) ?? clashing.sorted()))
  }
}
