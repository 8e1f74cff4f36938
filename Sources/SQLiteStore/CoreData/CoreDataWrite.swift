import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// Writes one save's rows into a Core Data store, within a transaction, and keeps its bookkeeping.
///
/// The file has no foreign keys, and older ones no unique indexes, so that both are checked here.
final class CoreDataWrite {
  private let db: Database
  private let store: InPlaceStore
  private let tables: StoreTables
  private var numbered: [ManagedObjectID: Int64] = [:]
  /// Decimals that have more digits than a column holds, as they will be read.
  private var rounded: [StoreWriteResult.Refresh] = []
  /// Rows with changed references to entities that have subentities.
  private var referring: [ManagedObjectID] = []

  init(_ db: Database, of store: InPlaceStore) {
    self.db = db
    self.store = store
    tables = store.tables
  }

  /// - Throws: the errors of ``IncrementalStore/write(_:)``.
  func run(_ given: StoreChanges, isChecked: Bool) throws -> StoreWriteResult {
    var changes = given
    if isChecked {
      let conflicts = try changes.mergeConflicts { try row($0) }
      guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
    }
    _ = store.derived.take()
    var derivations = tables.hasDerivations ? DerivationWrite() : nil
    var keeper = DerivedTables(db: db, tables: tables)
    try derivations?.prepare(&changes, keeper)
    for row in changes.deleted { try delete(row.id) }
    let ids = try assignIDs(to: changes.inserted)
    try park(changes.updated)
    var clashes = UniquenessClashes()
    for update in changes.updated { try write(update, &clashes) }
    // The context has cleared what it knew of, which counts as one write of each row.
    for row in changes.deleted { try clearReferences(to: row.id) }
    for (row, id) in zip(changes.inserted, ids) { try insert(row, id, &clashes) }
    guard clashes.isEmpty else { throw ManagedObjectError.constraintConflicts(clashes.conflicts(changes, ids)) }
    try writeEntityColumns()
    try touchOwners(changes, ids)
    try writePairs(changes, ids)
    if tables.hasOrders {
      var orders = OrderTables(db: db, schema: tables.schema)
      try OrderWrite(changes, ids) { [self] in number($0) }.write(to: &orders)
    }
    var refreshed = try rounded + (derivations?.finish(changes, ids, number: number, to: &keeper) ?? [])
    try noteDerived(&refreshed)
    try checkReferences(changes, ids)
    return StoreWriteResult(ids: ids, refreshed: Self.merged(refreshed))
  }

  private func number(_ id: ManagedObjectID) -> Int64? { id.isTemporaryID ? numbered[id] : id.rowNumber }

  /// The row that the file holds under an ID, of whatever entity of the hierarchy.
  private func row(_ id: ManagedObjectID) throws -> StoreRow? {
    let look = try tables.rowsByNumber(of: id.entity)
    let statement = try db.cachedStatement(sql: look.ofOne)
    try statement.setArguments([id.rowNumber])
    return try statement.collect(look.reader, in: db).first
  }

  // MARK: Rows

  private func assignIDs(to rows: [StoreRow]) throws -> [ManagedObjectID] {
    var numbers = CoreDataNumbers(of: store)
    let ids = try rows.map { row in
      guard row.id.isTemporaryID else { return row.id }
      let id = ManagedObjectID(
        scope: try tables.layout(of: row.id.entity).scope, number: try numbers.next(row.id.entity, db))
      numbered[row.id] = id.rowNumber
      return id
    }
    try numbers.keep(db)
    return ids
  }

  /// A value as its column holds it.
  private func databaseValue(_ value: Value, _ property: PropertyDescription) -> DatabaseValue {
    if case .object(let id) = value { return number(id).databaseValue }
    guard let attribute = property as? AttributeDescription else { return .null }
    return tables.schema.forms.columnValue(of: value, for: attribute)
  }

  /// A value as its column is to hold it: a large one may be written into a file.
  private func stored(_ value: Value, _ column: RowLayout.Column, of id: ManagedObjectID) throws -> DatabaseValue {
    if case .external(let external) = column.kind, case .data(let data) = value {
      return try external.stored(data, row: id.rowNumber)
    }
    return databaseValue(value, id.entity.properties[column.slot])
  }

  /// Notes which of the values to be written a column doesn't hold in full.
  private func noteRounding(_ values: ContiguousArray<Value>, _ columns: [RowLayout.Column], of id: ManagedObjectID) {
    for column in columns where column.kind == .roundedDecimal {
      guard case .decimal(let number) = values[column.slot],
        case .double(let double) = databaseValue(values[column.slot], id.entity.properties[column.slot]).storage,
        let stored = StoredForms.decimal(rounding: double), stored != number
      else { continue }
      rounded.append(StoreWriteResult.Refresh(id: id, values: [column.slot: .decimal(stored)]))
    }
  }

  private func insert(_ row: StoreRow, _ id: ManagedObjectID, _ clashes: inout UniquenessClashes) throws {
    let layout = try tables.layout(of: id.entity)
    let found = try self.clashes(of: row.values, id, among: id.entity.uniquenessConstraints)
    if !found.isEmpty { return clashes.note(row, found) }
    let columns = layout.columns
    let names = (["Z_PK", "Z_ENT", "Z_OPT"] + columns.map(\.name)).map(\.quotedName).joined(separator: ", ")
    let marks = repeatElement(", ?", count: columns.count).joined()
    var arguments = [id.rowNumber.databaseValue, store.map.numbers[id.entity].databaseValue]
    arguments += try columns.map { try stored(row.values[$0.slot], $0, of: id) }
    try db.cachedStatement(sql: "INSERT INTO \(layout.table.quotedName) (\(names)) VALUES (?, ?, 1\(marks))")
      .execute(arguments: StatementArguments(arguments))
    noteRounding(row.values, columns, of: id)
    try nameEntities(id)
  }

  private func write(_ update: StoreChanges.Update, _ clashes: inout UniquenessClashes) throws {
    let layout = try tables.layout(of: update.id.entity)
    let changed = layout.columns.filter { update.values[$0.slot] != update.committed[$0.slot] }
    let slots = Set(changed.map(\.slot))
    let constraints = update.id.entity.uniquenessConstraints.filter { $0.contains { slots.contains($0.slot) } }
    let found = try self.clashes(of: update.values, update.id, among: constraints)
    if !found.isEmpty { return clashes.note(StoreRow(id: update.id, values: update.values), found) }
    let assignments = changed.map { ", \($0.name.quotedName) = ?" }.joined()
    var arguments = try changed.map { try stored(update.values[$0.slot], $0, of: update.id) }
    arguments.append(update.id.rowNumber.databaseValue)
    try db.cachedStatement(
      sql: "UPDATE \(layout.table.quotedName) SET \(Self.nextVersion)\(assignments) WHERE \"Z_PK\" = ?"
    ).execute(arguments: StatementArguments(arguments))
    noteRounding(update.values, changed, of: update.id)
    if changed.contains(where: { if case .reference = $0.kind { true } else { false } }) { try nameEntities(update.id) }
  }

  /// What tells Core Data that a row was written.
  private static let nextVersion = "\"Z_OPT\" = IFNULL(\"Z_OPT\", 0) + 1"

  private func nameEntities(_ id: ManagedObjectID) throws {
    if store.map.entityColumns[id.entity] != nil { referring.append(id) }
  }

  /// Writes the entities of the rows that references lead to, once all of these are there.
  private func writeEntityColumns() throws {
    for id in referring {
      let table = tables.schema.table(of: id.entity).quotedName
      for column in store.map.entityColumns[id.entity] ?? [] {
        let target = "SELECT t.\"Z_ENT\" FROM \(column.target.quotedName) AS t "
        try db.cachedStatement(
          sql: "UPDATE \(table) SET \(column.column.quotedName) = "
            + "(\(target)WHERE t.\"Z_PK\" = \(table).\(column.reference.quotedName)) WHERE \"Z_PK\" = ?"
        ).execute(arguments: [id.rowNumber])
      }
    }
    referring = []
  }

  /// Deletes a row with its pairs.
  private func delete(_ id: ManagedObjectID) throws {
    guard !id.isTemporaryID else { return }
    for relationship in id.entity.references where relationship.isManyToMany && !relationship.isUnstored {
      guard tables.holds(relationship.entity) else { continue }
      let pair = tables.schema.pairing(of: relationship)
      var columns = [pair.destinationColumn]
      if relationship.inverseRelationship === relationship { columns.append(pair.sourceColumn) }
      for column in columns {
        try db.cachedStatement(sql: "DELETE FROM \(pair.table.quotedName) WHERE \(column.quotedName) = ?")
          .execute(arguments: [id.rowNumber])
      }
    }
    try db.cachedStatement(sql: "DELETE FROM \(tables.schema.table(of: id.entity).quotedName) WHERE \"Z_PK\" = ?")
      .execute(arguments: [id.rowNumber])
  }

  /// Clears references to a deleted row, unless the other end's delete rule is to cascade or deny.
  private func clearReferences(to id: ManagedObjectID) throws {
    guard !id.isTemporaryID else { return }
    for relationship in id.entity.references where !relationship.isToMany && !relationship.isUnstored {
      guard tables.holds(relationship.entity) else { continue }
      switch relationship.inverseRelationship?.deleteRule {
      case .cascade, .deny: continue
      case .nullify, .noAction, nil: try clear(relationship, id)
      }
    }
  }

  /// Clears references to a row, with the columns beside them.
  private func clear(_ relationship: RelationshipDescription, _ id: ManagedObjectID) throws {
    let column = tables.schema.column(of: relationship, in: relationship.entity)
    var columns = [column]
    if let position = tables.schema.map(of: relationship.entity).positionsByProperty[relationship] {
      columns.append(position)
    }
    columns += (store.map.entityColumns[relationship.entity] ?? []).filter { $0.reference == column }.map(\.column)
    let assignments = columns.map { ", \($0.quotedName) = NULL" }.joined()
    try db.cachedStatement(
      sql: "UPDATE \(tables.schema.table(of: relationship.entity).quotedName) SET \(Self.nextVersion)\(assignments) "
        + "WHERE \(column.quotedName) = ?"
    ).execute(arguments: [id.rowNumber])
  }

  // MARK: Relationships

  /// Counts a write of the owners of one-to-many sets whose members change, as Core Data does.
  private func touchOwners(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    var known = Set(changes.updated.map(\.id)).union(changes.deleted.map(\.id)).union(ids)
    for owner in OwnerChanges(changes).sets.keys where !owner.isTemporaryID {
      guard known.insert(owner).inserted, tables.holds(owner.entity) else { continue }
      try db.cachedStatement(
        sql: "UPDATE \(tables.schema.table(of: owner.entity).quotedName) SET \(Self.nextVersion) WHERE \"Z_PK\" = ?"
      ).execute(arguments: [owner.rowNumber])
    }
  }

  /// Writes the changes of many-to-many relationships. Both ends may hold the same change; writing it twice is harmless.
  private func writePairs(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    for (row, id) in zip(changes.inserted, ids) { try writePairs(of: id, row.values, former: nil) }
    for update in changes.updated { try writePairs(of: update.id, update.values, former: update.committed) }
  }

  private func writePairs(
    of id: ManagedObjectID, _ values: ContiguousArray<Value>, former: ContiguousArray<Value>?
  ) throws {
    for relationship in try tables.layout(of: id.entity).pairings {
      guard former?[relationship.slot] != values[relationship.slot], let now = values[relationship.slot].objectIDs
      else {
        continue
      }
      let old = former?[relationship.slot].objectIDs ?? []
      let pair = tables.schema.pairing(of: relationship)
      let (table, source) = (pair.table.quotedName, pair.sourceColumn.quotedName)
      let destination = pair.destinationColumn.quotedName
      func execute(_ sql: String, _ other: ManagedObjectID) throws {
        guard let number = number(other) else { return }
        let statement = try db.cachedStatement(sql: sql)
        try statement.execute(arguments: [id.rowNumber, number])
        // A relationship that is its own inverse holds in both directions, and so do its pairs.
        if relationship.inverseRelationship === relationship {
          try statement.execute(arguments: [number, id.rowNumber])
        }
      }
      for other in old.subtracting(now) {
        try execute("DELETE FROM \(table) WHERE \(source) = ? AND \(destination) = ?", other)
      }
      for other in now.subtracting(old) {
        try execute("INSERT OR IGNORE INTO \(table) (\(source), \(destination)) VALUES (?, ?)", other)
      }
    }
  }

  /// - Throws: ``ManagedObjectError/brokenReferences(_:)`` with every relationship of this write that leads nowhere.
  private func checkReferences(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    var found: [BrokenReference] = []
    for (row, id) in zip(changes.inserted, ids) { try find(row.values, former: nil, of: id, as: row.id, &found) }
    for update in changes.updated {
      try find(update.values, former: update.committed, of: update.id, as: update.id, &found)
    }
    for row in changes.deleted { try findReferrers(of: row.id, &found) }
    guard found.isEmpty else { throw ManagedObjectError.brokenReferences(found) }
  }

  private func find(
    _ values: ContiguousArray<Value>, former: ContiguousArray<Value>?, of id: ManagedObjectID,
    as given: ManagedObjectID, _ found: inout [BrokenReference]
  ) throws {
    for relationship in id.entity.relationships
    where !relationship.isUnstored && former?[relationship.slot] != values[relationship.slot] {
      let targets: Set<ManagedObjectID>
      switch values[relationship.slot] {
      case .object(let target): targets = [target]
      case let set where relationship.isManyToMany:
        targets = (set.objectIDs ?? []).subtracting(former?[relationship.slot].objectIDs ?? [])
      default: continue
      }
      guard tables.holds(relationship.destinationEntity) else { continue }
      let table = tables.schema.table(of: relationship.destinationEntity).quotedName
      for target in targets {
        let isThere = try Int.fetchOne(
          db.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE \"Z_PK\" = ?"), arguments: [number(target)])
        if isThere == nil {
          found.append(.init(objectID: given, relationship: relationship.name, missingObjectID: target))
        }
      }
    }
  }

  /// Rows that refer to a deleted one and that aren't cleared: had the context known them, the delete rule would have
  /// deleted them too or denied the deletion.
  private func findReferrers(of id: ManagedObjectID, _ found: inout [BrokenReference]) throws {
    for relationship in id.entity.references
    where !relationship.isToMany && !relationship.isUnstored && tables.holds(relationship.entity) {
      let reader = RowReader(try tables.layouts(of: relationship.entity), slots: [])
      let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
      let column = tables.schema.column(of: relationship, in: relationship.entity).quotedName
      let statement = try db.cachedStatement(
        sql: "SELECT \(columns) FROM \(tables.schema.table(of: relationship.entity).quotedName) WHERE \(column) = ?")
      try statement.setArguments([id.rowNumber])
      for row in try statement.collect(reader, in: db) {
        found.append(
          .init(objectID: row.id, relationship: relationship.name, missingObjectID: id, isDeletedBySave: true))
      }
    }
  }

  // MARK: Uniqueness

  /// Clears unique values that change, so that rows can exchange theirs.
  private func park(_ updates: [StoreChanges.Update]) throws {
    for update in updates {
      let layout = try tables.layout(of: update.id.entity)
      let columns = layout.uniqueColumns.map { layout.columns[$0] }
        .filter { update.values[$0.slot] != update.committed[$0.slot] }
      if columns.isEmpty { continue }
      let assignments = columns.map { "\($0.name.quotedName) = NULL" }.joined(separator: ", ")
      try db.cachedStatement(sql: "UPDATE \(layout.table.quotedName) SET \(assignments) WHERE \"Z_PK\" = ?")
        .execute(arguments: [update.id.rowNumber])
    }
  }

  /// The constraints that a row would violate, each with the row in the way.
  private func clashes(
    of values: ContiguousArray<Value>, _ id: ManagedObjectID, among constraints: [[AttributeDescription]]
  ) throws -> [(constraint: [String], row: StoreRow?)] {
    var found: [(constraint: [String], row: StoreRow?)] = []
    for constraint in constraints where !constraint.contains(where: \.isTransient) {
      let stored = constraint.map { databaseValue(values[$0.slot], $0) }
      if stored.contains(where: \.isNull) { continue }
      let reader = try tables.rowsByNumber(of: id.entity).reader
      let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
      let conditions = constraint.map { "\(tables.schema.column(of: $0, in: id.entity).quotedName) = ?" }
      let statement = try db.cachedStatement(
        sql: "SELECT \(columns) FROM \(tables.schema.table(of: id.entity).quotedName) "
          + "WHERE \(conditions.joined(separator: " AND ")) AND \"Z_PK\" <> ? LIMIT 1")
      try statement.setArguments(StatementArguments(stored + [id.rowNumber.databaseValue]))
      if let row = try statement.collect(reader, in: db).first { found.append((constraint.map(\.name), row)) }
    }
    return found
  }

  // MARK: What was derived

  /// Adds what triggers have derived.
  private func noteDerived(_ refreshed: inout [StoreWriteResult.Refresh]) throws {
    var known: Set<String> = []
    for change in store.derived.take() {
      guard known.insert("\(change.entity)/\(change.row)/\(change.name)").inserted,
        let entity = store.entitiesByNumber[change.entity], let slot = entity.slot(of: change.name)
      else { continue }
      let id = ManagedObjectID(scope: try tables.layout(of: entity).scope, number: change.row)
      guard let row = try row(id) else { continue }
      refreshed.append(StoreWriteResult.Refresh(id: id, values: [slot: row.values[slot]]))
    }
  }

  /// One for each row, with the last of several values.
  private static func merged(_ refreshed: [StoreWriteResult.Refresh]) -> [StoreWriteResult.Refresh] {
    var places: [ManagedObjectID: Int] = [:]
    var merged: [StoreWriteResult.Refresh] = []
    for refresh in refreshed {
      if let place = places[refresh.id] {
        merged[place].values.merge(refresh.values) { $1 }
      } else {
        places[refresh.id] = merged.count
        merged.append(refresh)
      }
    }
    return merged
  }

  // MARK: History

  /// Records a save in the order in which this library's own files do: deletions, updates, then insertions.
  func record(
    _ changes: StoreChanges, _ ids: [ManagedObjectID], isChecked: Bool, in history: CoreDataHistoryWriter
  ) throws {
    var sets = isChecked ? OwnerChanges(changes).sets : [:]
    for row in changes.deleted { sets[row.id] = nil }
    for id in ids { sets[id] = nil }
    for row in changes.deleted where !row.id.isTemporaryID { try history.noteDeletion(row) }
    for update in changes.updated {
      var slots = Set((sets.removeValue(forKey: update.id) ?? [:]).keys)
      for property in update.id.entity.properties where !property.isTransient {
        if let set = property as? RelationshipDescription, set.isToMany, !set.isManyToMany, !set.isOrdered { continue }
        if update.values[property.slot] != update.committed[property.slot] { slots.insert(property.slot) }
      }
      if !slots.isEmpty { try history.noteUpdate(update.id, slots: slots) }
    }
    for (owner, members) in sets where !owner.isTemporaryID && tables.holds(owner.entity) {
      guard let exact = try row(owner)?.id else { continue }
      try history.noteUpdate(exact, slots: Set(members.keys))
    }
    for id in ids { try history.noteInsertion(id) }
  }
}
