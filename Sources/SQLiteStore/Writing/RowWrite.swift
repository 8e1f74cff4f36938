import CoreDataStores
import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects
import SQLSchema

/// Writes one save's rows into the tables, within a transaction.
///
/// Conflicts are collected, so that the error holds all of them; the caller then rolls back.
final class RowWrite {
  let db: Database
  let store: SQLiteStore
  /// Targets of references that are known to be there; nil in a transaction of several writes, which may be rolled back later.
  private let known: KnownTargets?
  private let binder = RowBinder()
  private var numbers: RowNumbers
  /// Whether new rows may refer to each other, and whether some have pairs in tables of their own.
  private var hasReferences = false
  private var hasPairs = false
  private var numbered: [ManagedObjectID: Int64] = [:]
  private var clashes = UniquenessClashes()
  /// Finders of conflicting rows, by the entity's index.
  private var finders: [Int: ConflictFinder] = [:]
  /// Why a file of a large value couldn't be written. The statement has run without it, and is rolled back.
  private var externalFailure: (any Error)?

  init(_ db: Database, store: SQLiteStore, _ known: KnownTargets?) throws {
    self.db = db
    self.store = store
    self.known = known
    known?.begin(db)
    numbers = RowNumbers(of: store.writer)
  }

  // MARK: Identity

  /// The permanent ID of each new row, in order. Changed rows may refer to new ones as well.
  func assignIDs(to rows: [StoreRow], _ updates: [StoreChanges.Update]) throws -> [ManagedObjectID] {
    hasReferences = updates.contains { !$0.id.entity.relationships.isEmpty }
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(rows.count)
    while ids.count < rows.count {
      // By index, because a copy of each row would count references.
      let scope = rows[ids.count].id.scope
      var end = ids.count + 1
      while end < rows.count, rows[end].id.scope === scope { end += 1 }
      let layout = try store.layout(of: scope.entity)
      if !layout.entity.relationships.isEmpty { hasReferences = true }
      if !layout.pairings.isEmpty { hasPairs = true }
      try number(rows, ids.count..<end, layout, into: &ids)
    }
    if hasReferences {
      for (row, id) in zip(rows, ids) where row.id.isTemporaryID { numbered[row.id] = id.number }
      binder.permanentNumber = { [numbered] in numbered[$0] }
    }
    return ids
  }

  /// Adds the permanent IDs of rows of one scope.
  private func number(
    _ rows: [StoreRow], _ range: Range<Int>, _ layout: RowLayout, into ids: inout [ManagedObjectID]
  ) throws {
    guard rows[range.lowerBound].id.isTemporaryID else {
      for index in range { ids.append(rows[index].id) }
      return
    }
    let scope = layout.scope
    guard let slot = layout.keySlot else {
      let first = try numbers.take(range.count, layout, db)
      for number in first...first + Int64(range.count - 1) { ids.append(ManagedObjectID(scope: scope, number: number)) }
      return
    }
    for index in range {
      if case .int(let number) = rows[index].values[slot] {
        ids.append(ManagedObjectID(scope: scope, number: number))
      } else {
        ids.append(ManagedObjectID(scope: scope, number: try numbers.next(layout, db)))
      }
    }
  }

  func number(_ id: ManagedObjectID) -> Int64? { id.isTemporaryID ? numbered[id] : id.number }

  /// Stores the numbers that were given, and throws the uniqueness conflicts and broken references that were found.
  func finish(_ changes: StoreChanges, _ ids: [ManagedObjectID], _ savedRows: [SavedRows]) throws {
    if let externalFailure { throw externalFailure }
    try binder.check()
    guard clashes.isEmpty else { throw ManagedObjectError.constraintConflicts(clashes.conflicts(changes, ids)) }
    if let date = binder.unstorable {
      throw ManagedObjectError.store(
        StoreFailure(
          .outOfRange, path: store.url?.path ?? "",
          message: "a date \(date.timeIntervalSince1970) seconds from 1970 isn't in the years 0 to 9999"))
    }
    try checkReferences(changes, ids, savedRows)
    try numbers.keep(db)
    known?.end(db)
  }
}

// Optimistic locking: a row is changed or deleted only if it still holds the values that were read. All rows are checked
// before the first is written, because deleting one may clear a column of another.

extension RowWrite {
  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)`` with every row that isn't as it was read.
  func check(_ changes: StoreChanges) throws {
    var conflicts: [MergeConflict] = []
    var look: RowLookup?
    func check(_ id: ManagedObjectID, _ object: ContiguousArray<Value>?, _ read: ContiguousArray<Value>) throws {
      let layout = try store.layout(of: id.entity)
      if look?.layout !== layout { look = try RowLookup(layout, db) }
      guard let row = try look?.row(id.number, in: db) else {
        conflicts.append(.init(id, object: object, cached: read, persisted: nil))
        return
      }
      for column in layout.columns
      where !column.isDerived && !row.values[column.slot].isStoredAlike(read[column.slot]) {
        conflicts.append(.init(id, object: object, cached: read, persisted: row.values))
        return
      }
    }
    for update in changes.updated { try check(update.id, update.values, update.committed) }
    for row in changes.deleted { try check(row.id, nil, row.values) }
    guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
  }
}

/// Reads rows of one entity by their numbers.
private struct RowLookup {
  let layout: RowLayout
  private let reader: RowReader
  private let statement: Statement

  init(_ layout: RowLayout, _ db: Database) throws {
    self.layout = layout
    let look = layout.lookupByNumber()
    reader = look.reader
    statement = try db.cachedStatement(sql: look.statement)
  }

  func row(_ number: Int64, in db: Database) throws -> StoreRow? {
    try statement.setArguments([number])
    return try statement.collect(reader, in: db).first
  }
}

// Rows that exchange unique values, in a ring or a chain, conflict on the way although the result is valid. When one does, the
// values of all of them are parked: each is replaced by random bytes, which conflict with nothing, and then all are written
// again. A row that still conflicts then does so with one that keeps its values.

extension RowWrite {
  /// Writes changed columns.
  func update(_ updates: [StoreChanges.Update]) throws {
    guard try write(updates, isLastTry: false) else {
      let unique = try updates.filter { try !parked(by: $0).isEmpty }
      try park(unique)
      _ = try write(unique, isLastTry: true)
      return
    }
  }

  /// Writes rows. Returns false at a conflict, except at the last attempt, which collects it.
  private func write(_ updates: [StoreChanges.Update], isLastTry: Bool) throws -> Bool {
    var clashes = false
    var statements: [UpdateKey: OpaquePointer] = [:]
    var last: (key: UpdateKey, handle: OpaquePointer)?
    for update in updates {
      let layout = try store.layout(of: update.id.entity)
      let changed = layout.changedColumns(update.values, update.committed)
      if changed.isEmpty { continue }
      let key = UpdateKey(layout: layout, columns: changed)
      let handle: OpaquePointer
      if let last, last.key == key {
        handle = last.handle
      } else {
        handle = try statements[key] ?? db.cachedStatement(sql: layout.updateStatement(changed)).sqliteStatement
        statements[key] = handle
        last = (key, handle)
      }
      defer { sqlite3_reset(handle) }
      binder.begin()
      var index: Int32 = 1
      for place in changed {
        let column = layout.bindings[place]
        if column.isExternal, case .data(let data) = update.values[column.slot] {
          bindLarge(data, column.slot, layout, update.id.number, to: handle, at: index)
        } else {
          binder.bind(update.values[column.slot], isISODate: column.isISODate, to: handle, at: index)
        }
        index += 1
      }
      sqlite3_bind_int64(handle, index, update.id.number)
      if sqlite3_step(handle) == SQLITE_DONE { continue }
      if isLastTry {
        let row = StoreRow(id: update.id, values: update.values)
        try noteConflict(row, update.id.number, layout, isNew: false)
      } else {
        try throwUnlessUniqueness()
        clashes = true
      }
    }
    return !clashes
  }

  /// The changed columns of unique values.
  private func parked(by update: StoreChanges.Update) throws -> [Int] {
    let layout = try store.layout(of: update.id.entity)
    return layout.uniqueColumns.filter { place in
      let slot = layout.bindings[place].slot
      return update.values[slot] != update.committed[slot]
    }
  }

  private func park(_ updates: [StoreChanges.Update]) throws {
    for update in updates {
      let layout = try store.layout(of: update.id.entity)
      let assignments = try parked(by: update).map { "\(layout.columns[$0].name.quotedName) = randomblob(16)" }
      try db.cachedStatement(
        sql: "UPDATE \(layout.table.quotedName) SET \(assignments.joined(separator: ", ")) "
          + "WHERE \(layout.keyColumn.quotedName) = ?"
      ).execute(arguments: [update.id.number])
    }
  }

  /// Deletes rows with their pairs, and clears references to them.
  func delete(_ rows: [StoreRow]) throws {
    if !rows.isEmpty { known?.forget() }
    for row in rows where !row.id.isTemporaryID {
      let layout = try store.layout(of: row.id.entity)
      for sql in layout.clearings { try db.cachedStatement(sql: sql).execute(arguments: [row.id.number]) }
      try db.cachedStatement(sql: layout.deletion).execute(arguments: [row.id.number])
    }
  }
}

/// Identifies the statement that changes a row.
private struct UpdateKey: Hashable {
  let layout: RowLayout
  let columns: ColumnSet

  static func == (a: UpdateKey, b: UpdateKey) -> Bool { a.layout === b.layout && a.columns == b.columns }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(layout))
    hasher.combine(columns)
  }
}

// Many rows in each statement, which SQLite begins and ends only once for them. `OR FAIL` spares the journal that would undo half
// a statement: the rows before the failing one stay, and their number is known.

extension RowWrite {
  /// The greatest numbers of rows and of parameters in a statement. More don't make it faster.
  private static let rowsOfStatement = 50
  private static let parametersOfStatement = 1000

  /// Inserts new rows, and collects those that violate the table's constraints.
  func insert(_ rows: [StoreRow], _ ids: [ManagedObjectID]) throws {
    var start = 0
    while start < rows.count {
      let scope = rows[start].id.scope
      var end = start + 1
      while end < rows.count, rows[end].id.scope === scope { end += 1 }
      try insert(rows, ids, start..<end, try store.layout(of: scope.entity))
      start = end
    }
  }

  /// Inserts rows of one entity.
  private func insert(_ rows: [StoreRow], _ ids: [ManagedObjectID], _ range: Range<Int>, _ layout: RowLayout) throws {
    try insert(range, layout) { index, handle, parameter in
      bind(rows[index], ids[index], layout, to: handle, at: &parameter)
    } conflict: { index in
      try noteConflict(rows[index], ids[index].number, layout, isNew: true)
    }
  }

  /// Inserts and numbers rows without objects.
  func insert(_ rows: NewRows) throws -> SavedRows {
    let layout = try store.layout(of: rows.entity)
    let given = try numbersOf(rows, layout)
    if layout.hasReferences, let known, try known.areThere(for: rows, layout, store, db) {
      try known.withoutChecks(db) { try insert(rows, given, layout) }
    } else {
      try insert(rows, given, layout)
    }
    return SavedRows(rows, scope: layout.scope, numbers: given)
  }

  /// The numbers of rows: those that they have been given, or have in their key, or the next ones.
  private func numbersOf(_ rows: NewRows, _ layout: RowLayout) throws -> [Int64] {
    if !rows.givenNumbers.isEmpty { return rows.givenNumbers }
    guard let slot = layout.keySlot else {
      if rows.count == 0 { return [] }
      let first = try numbers.take(rows.count, layout, db)
      return Array(first...first + Int64(rows.count - 1))
    }
    return try (0..<rows.count).map { row in
      let cell = rows.cell(row, slot)
      return cell.kind == .int ? cell.bits : try numbers.next(layout, db)
    }
  }

  private func insert(_ rows: NewRows, _ numbers: [Int64], _ layout: RowLayout) throws {
    try insert(0..<rows.count, layout) { index, handle, parameter in
      bind(rows, index, numbers[index], layout, to: handle, at: &parameter)
    } conflict: { index in
      try noteConflict(rows.row(index), numbers[index], layout, isNew: true)
    }
  }

  /// Inserts a number of rows of one entity.
  /// - Parameters:
  ///   - bind: binds a row's number and values to the parameters from an index on, and advances the index.
  ///   - conflict: collects a row that violates a uniqueness constraint; throws any other error.
  @inline(__always)
  private func insert(
    _ range: Range<Int>, _ layout: RowLayout, bind: (Int, OpaquePointer, inout Int32) -> Void,
    conflict: (Int) throws -> Void
  ) throws {
    var next = range.lowerBound
    let count = min(Self.rowsOfStatement, Self.parametersOfStatement / (layout.bindings.count + 1))
    if count > 1, range.count >= count, try !hasTriggers(layout) {
      let handle = try db.cachedStatement(sql: layout.insertStatement(rows: count)).sqliteStatement
      defer { sqlite3_reset(handle) }
      while next + count <= range.upperBound {
        binder.begin()
        var parameter: Int32 = 1
        for index in next..<next + count { bind(index, handle, &parameter) }
        if sqlite3_step(handle) == SQLITE_DONE {
          next += count
        } else {
          try throwUnlessUniqueness()
          // The rows before the one that failed.
          next += min(Int(sqlite3_changes(db.sqliteConnection)), count - 1)
          try conflict(next)
          next += 1
        }
        sqlite3_reset(handle)
      }
    }
    guard next < range.upperBound else { return }
    let handle = try db.cachedStatement(sql: layout.insertStatement(rows: 1)).sqliteStatement
    defer { sqlite3_reset(handle) }
    for index in next..<range.upperBound {
      binder.begin()
      var parameter: Int32 = 1
      bind(index, handle, &parameter)
      if sqlite3_step(handle) != SQLITE_DONE { try conflict(index) }
      sqlite3_reset(handle)
    }
  }

  @inline(__always)
  private func bind(
    _ row: StoreRow, _ id: ManagedObjectID, _ layout: RowLayout, to handle: OpaquePointer, at parameter: inout Int32
  ) {
    sqlite3_bind_int64(handle, parameter, id.number)
    parameter += 1
    row.values.withUnsafeBufferPointer { values in
      for binding in layout.bindings {
        if binding.isExternal, case .data(let data) = values[binding.slot] {
          bindLarge(data, binding.slot, layout, id.number, to: handle, at: parameter)
        } else {
          binder.bind(values[binding.slot], isISODate: binding.isISODate, to: handle, at: parameter)
        }
        parameter += 1
      }
    }
  }

  @inline(__always)
  private func bind(
    _ rows: NewRows, _ row: Int, _ number: Int64, _ layout: RowLayout, to handle: OpaquePointer,
    at parameter: inout Int32
  ) {
    sqlite3_bind_int64(handle, parameter, number)
    parameter += 1
    let cells = rows.cells(row)
    for binding in layout.bindings {
      if binding.isExternal, cells[binding.slot].kind == .other, case .data(let data) = rows.other(cells[binding.slot])
      {
        bindLarge(data, binding.slot, layout, number, to: handle, at: parameter)
      } else {
        binder.bind(cells[binding.slot], of: rows, isISODate: binding.isISODate, to: handle, at: parameter)
      }
      parameter += 1
    }
  }

  /// Binds a value of an attribute that allows external storage: large ones are written into files.
  private func bindLarge(
    _ data: Data, _ slot: Int, _ layout: RowLayout, _ number: Int64, to handle: OpaquePointer, at index: Int32
  ) {
    guard data.count > ExternalFolder.threshold, externalFailure == nil, let column = layout.externalColumn(slot) else {
      return binder.bind(.data(data), isISODate: false, to: handle, at: index)
    }
    do {
      switch try column.stored(data, row: number).storage {
      case .string(let reference): sqlite3_bind_text(handle, index, reference, -1, SQLITE_TRANSIENT)
      case .blob, .int64, .double, .null: binder.bind(.data(data), isISODate: false, to: handle, at: index)
      }
    } catch {
      externalFailure = error
      sqlite3_bind_zeroblob(handle, index, 0)
    }
  }

  /// Whether the table has triggers of others: `OR FAIL` would apply to their statements too.
  private func hasTriggers(_ layout: RowLayout) throws -> Bool {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?)"),
      arguments: [layout.table]) ?? false
  }
}

extension RowWrite {
  /// Writes the changed order of ordered relationships.
  func writeOrders(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    guard store.hasOrders else { return }
    var keeper = OrderTables(db: db, schema: store.schema)
    try OrderWrite(changes, ids) { [self] in number($0) }.write(to: &keeper)
  }

  /// Writes the changes of many-to-many relationships. Both ends may hold the same change; writing it twice is harmless.
  func writePairs(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    if hasPairs {
      for (row, id) in zip(changes.inserted, ids) {
        for relationship in try store.layout(of: row.id.entity).pairings {
          try writePairs(relationship, of: id.number, old: [], new: row.values[relationship.slot])
        }
      }
    }
    for update in changes.updated {
      for relationship in try store.layout(of: update.id.entity).pairings {
        guard update.values[relationship.slot] != update.committed[relationship.slot] else { continue }
        let old = update.committed[relationship.slot].objectIDs ?? []
        try writePairs(relationship, of: update.id.number, old: old, new: update.values[relationship.slot])
      }
    }
  }

  private func writePairs(
    _ relationship: RelationshipDescription, of owner: Int64, old: Set<ManagedObjectID>, new: Value
  ) throws {
    guard let ids = new.objectIDs else { return }
    let pair = store.schema.pairing(of: relationship)
    let columns = (pair.sourceColumn.quotedName, pair.destinationColumn.quotedName)
    let delete = "DELETE FROM \(pair.table.quotedName) WHERE \(columns.0) = ? AND \(columns.1) = ?"
    let insert = "INSERT OR IGNORE INTO \(pair.table.quotedName) (\(columns.0), \(columns.1)) VALUES (?, ?)"
    func execute(_ sql: String, _ id: ManagedObjectID) throws {
      try db.cachedStatement(sql: sql).execute(arguments: [owner, number(id)])
      // A relationship that is its own inverse holds in both directions, and so do its pairs.
      guard relationship.inverseRelationship === relationship else { return }
      try db.cachedStatement(sql: sql).execute(arguments: [number(id), owner])
    }
    for id in old.subtracting(ids) { try execute(delete, id) }
    for id in ids.subtracting(old) { try execute(insert, id) }
  }
}

extension RowWrite {
  /// Collects a row's conflicts, one for each violated constraint. Any other error ends the write.
  func noteConflict(_ row: StoreRow, _ number: Int64, _ layout: RowLayout, isNew: Bool) throws {
    try throwUnlessUniqueness()
    let look = try finders[layout.entity.index] ?? ConflictFinder(layout, store, db)
    finders[layout.entity.index] = look
    let found = try look.clashes(of: number, row.values, isNew: isNew, binder, in: db)
    // A taken row number violates no constraint of the model.
    let own = (constraint: [layout.entity.primaryKey?.name ?? layout.keyColumn], row: nil as StoreRow?)
    clashes.note(row, found.isEmpty ? [own] : found.map { ($0.constraint.map(\.name), $0.row) })
  }

  /// Throws the last statement's error, unless it was a uniqueness constraint.
  func throwUnlessUniqueness() throws {
    try binder.check()
    let error = db.lastError()
    switch error.extendedResultCode {
    case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: return
    default: throw error
    }
  }
}

// Foreign keys are deferred: SQLite counts broken references and refuses the commit without naming one. When the count
// isn't zero, the rows of this write are searched for them before the commit.

extension RowWrite {
  /// - Throws: ``ManagedObjectError/brokenReferences(_:)`` with every relationship of this write that leads nowhere.
  func checkReferences(_ changes: StoreChanges, _ ids: [ManagedObjectID], _ savedRows: [SavedRows]) throws {
    var (broken, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &broken, &highest, 0)
    guard broken != 0 else { return }
    let found = try changes.brokenReferences(ids, savedRows, holds: store.holds) { target in
      guard let number = number(target) else { return false }
      let layout = try store.layouts(of: target.entity.rootEntity)[0]
      let sql = "SELECT 1 FROM \(layout.table.quotedName) WHERE \(layout.keyColumn.quotedName) = ?"
      return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: [number]) == nil
    } referrers: { id, relationship in
      let layouts = try store.layouts(of: relationship.entity)
      let reader = RowReader(layouts, slots: [])
      let table = layouts[0].table.quotedName
      let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
      let column = store.schema.column(of: relationship, in: relationship.entity).quotedName
      let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM \(table) WHERE \(column) = ?")
      try statement.setArguments([id.number])
      return try statement.collect(reader, in: db).map(\.id)
    }
    // None was found: the commit fails with SQLite's own error.
    guard found.isEmpty else { throw ManagedObjectError.brokenReferences(found) }
  }
}
