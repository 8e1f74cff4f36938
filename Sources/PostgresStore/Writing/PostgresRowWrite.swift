import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// Writes one save's rows into the tables, within a transaction.
///
/// It is tried in the fast form first: many rows in each statement, and many statements sent together, which fail with the first
/// conflict. In the careful form it collects all conflicts, and rows may exchange unique values.
final class PostgresRowWrite {
  private let connection: PostgresConnection
  private let writer: PostgresWriter
  private let tables: PostgresTables
  private let numbers: PostgresNumbers
  private let fetch: PostgresFetch
  private var numbered: [ManagedObjectID: Int64] = [:]
  private var clashes = UniquenessClashes()

  init(
    _ connection: PostgresConnection, of writer: PostgresWriter, _ tables: PostgresTables, _ numbers: PostgresNumbers
  ) {
    self.connection = connection
    self.writer = writer
    self.tables = tables
    self.numbers = numbers
    fetch = PostgresFetch(tables)
  }

  /// The greatest number of rows in a statement with arrays; more are copied.
  private static let rowsOfStatement = 500
  /// From this number of new rows on they are copied.
  private static let copiedRows = 50

  // MARK: Identity

  /// The permanent ID of each new row, in order.
  func assignIDs(to rows: [StoreRow]) throws -> [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    ids.reserveCapacity(rows.count)
    while ids.count < rows.count {
      let start = ids.count
      let scope = rows[start].id.scope
      var end = start + 1
      while end < rows.count, rows[end].id.scope === scope { end += 1 }
      let layout = try tables.layout(of: scope.entity)
      guard rows[start].id.isTemporaryID else {
        for index in start..<end { ids.append(rows[index].id) }
        continue
      }
      var given: [Int64?] = Array(repeating: nil, count: end - start)
      if let slot = layout.keySlot {
        for index in start..<end {
          if case .int(let number) = rows[index].values[slot] { given[index - start] = number }
        }
      }
      let missing = given.count { $0 == nil }
      var next = missing > 0 ? try numbers.take(missing, layout, within: connection) : 0
      for number in given {
        if let number {
          ids.append(ManagedObjectID(scope: layout.scope, number: number))
        } else {
          ids.append(ManagedObjectID(scope: layout.scope, number: next))
          next += 1
        }
      }
    }
    for (row, id) in zip(rows, ids) where row.id.isTemporaryID { numbered[row.id] = id.number }
    return ids
  }

  func number(_ id: ManagedObjectID) -> Int64? { id.isTemporaryID ? numbered[id] : id.number }

  // MARK: Optimistic locking

  /// Locks the rows to change or delete, before the first is written, because deleting one may clear a column of another.
  /// - Throws: ``ManagedObjectError/mergeConflicts(_:)`` with every row that isn't as it was read.
  func check(_ changes: StoreChanges) throws {
    var wanted: [EntityDescription: [Int64]] = [:]
    for id in changes.updated.lazy.map(\.id) { wanted[id.entity.rootEntity, default: []].append(id.number) }
    for row in changes.deleted { wanted[row.id.entity.rootEntity, default: []].append(row.id.number) }
    guard !wanted.isEmpty else { return }
    var stored: [ManagedObjectID: StoreRow] = [:]
    var parts: [PostgresFetch.Rows] = []
    func lock() throws {
      for row in try fetch.rows(parts, connection) { stored[row.id] = row }
      parts = []
    }
    // In one order, so that two saves don't wait for each other.
    for (root, numbers) in wanted.sorted(by: { $0.key.index < $1.key.index }) {
      let reader = try tables.rowReader(of: root)
      let sorted = numbers.sorted()
      for start in stride(from: 0, to: sorted.count, by: 5000) {
        let part = Array(sorted[start..<min(start + 5000, sorted.count)])
        parts.append(PostgresFetch.Rows(reader: reader, entity: root, numbers: part, isLocked: true))
        if part.count == 5000 { try lock() }
      }
    }
    try lock()
    let conflicts = changes.mergeConflicts { stored[$0] }
    guard conflicts.isEmpty else { throw ManagedObjectError.mergeConflicts(conflicts) }
  }

  // MARK: Rows

  /// Deletes rows with their pairs, and clears references to them.
  func delete(_ rows: [StoreRow]) throws {
    var start = 0
    while start < rows.count {
      let entity = rows[start].id.entity
      var end = start + 1
      while end < rows.count, rows[end].id.entity === entity { end += 1 }
      let layout = try tables.layout(of: entity)
      let numbers = PostgresValue.array(
        .int8, rows[start..<end].filter { !$0.id.isTemporaryID }.map { .int($0.id.number) })
      for sql in layout.clearings { try connection.enqueue(sql, [numbers]) }
      try connection.enqueue(
        "DELETE FROM \(SQLText.name(layout.table)) WHERE \(SQLText.name(layout.keyColumn)) = ANY ($1)", [numbers])
      start = end
    }
  }

  private struct UpdateKey: Hashable {
    let entity: EntityDescription
    let columns: [Int]
  }

  /// Writes changed columns.
  func update(_ updates: [StoreChanges.Update], isCareful: Bool) throws {
    var groups: [UpdateKey: [Int]] = [:]
    var order: [UpdateKey] = []
    var parked: [EntityDescription: [Int]] = [:]
    for (index, update) in updates.enumerated() {
      let layout = try tables.layout(of: update.id.entity)
      let changed = layout.changedColumns(update.values, update.committed)
      if changed.isEmpty { continue }
      let key = UpdateKey(entity: layout.entity, columns: changed)
      if groups.updateValue(groups[key, default: []] + [index], forKey: key) == nil { order.append(key) }
      if isCareful, changed.contains(where: layout.uniqueColumns.contains) {
        parked[layout.entity.rootEntity, default: []].append(index)
      }
    }
    let aside = try park(parked, updates)
    for key in order {
      let layout = try tables.layout(of: key.entity)
      let indexes = groups[key] ?? []
      // Rows that were moved aside are no more in their table.
      for table in [nil] + (aside[key.entity.rootEntity].map { [$0] } ?? []) {
        let sql = layout.update(key.columns, table: table)
        for start in stride(from: 0, to: indexes.count, by: Self.rowsOfStatement) {
          let part = indexes[start..<min(start + Self.rowsOfStatement, indexes.count)]
          var parameters = [PostgresValue.array(.int8, part.map { .int(updates[$0].id.number) })]
          for place in key.columns {
            let column = layout.columns[place]
            parameters.append(
              .array(
                column.kind.type,
                try part.map { try column.kind.value(of: updates[$0].values[column.slot], number: number) }))
          }
          try connection.enqueue(sql, parameters)
        }
      }
    }
    try unpark(aside, parked, updates)
  }

  // Rows that exchange unique values, in a ring or a chain, conflict on the way although the result is valid. In the careful form
  // they are moved to a table of their own, changed there, and come back when all have left: what still conflicts then does so
  // with a row that keeps its values.

  /// Moves rows aside. Returns the tables by the roots of hierarchies.
  private func park(
    _ parked: [EntityDescription: [Int]], _ updates: [StoreChanges.Update]
  ) throws -> [EntityDescription: String] {
    var aside: [EntityDescription: String] = [:]
    for (root, indexes) in parked {
      let layout = try tables.layouts(of: root)[0]
      let name = "lade_parked_\(UUID().uuidString.prefix(8).lowercased())"
      let numbers = indexes.map { String(updates[$0].id.number) }.joined(separator: ", ")
      let condition = "WHERE \(SQLText.name(layout.keyColumn)) IN (\(numbers))"
      try connection.run(
        """
        CREATE TEMPORARY TABLE \(name) ON COMMIT DROP AS SELECT * FROM \(SQLText.name(layout.table)) \(condition);
        DELETE FROM \(SQLText.name(layout.table)) \(condition)
        """)
      aside[root] = name
    }
    return aside
  }

  private func unpark(
    _ aside: [EntityDescription: String], _ parked: [EntityDescription: [Int]], _ updates: [StoreChanges.Update]
  ) throws {
    for (root, name) in aside {
      let layout = try tables.layouts(of: root)[0]
      let (table, key) = (SQLText.name(layout.table), SQLText.name(layout.keyColumn))
      let order = (parked[root] ?? []).map { updates[$0] }
      let numbers = PostgresValue.array(.int8, order.map { .int($0.id.number) })
      let back = try connection.query(
        "INSERT INTO \(table) SELECT parked.* FROM \(name) AS parked JOIN unnest($1) WITH ORDINALITY AS wanted(number, place) "
          + "ON parked.\(key) = wanted.number ORDER BY wanted.place ON CONFLICT DO NOTHING RETURNING \(key)", [numbers])
      let written = Set((0..<back.count).map { back.int($0, 0) })
      for update in order where !written.contains(update.id.number) {
        try noteConflict(
          StoreRow(id: update.id, values: update.values), update.id.number, tables.layout(of: update.id.entity),
          isNew: false)
      }
      try connection.run("DROP TABLE \(name)")
    }
  }

  /// Inserts new rows.
  func insert(_ rows: [StoreRow], _ ids: [ManagedObjectID], isCareful: Bool) throws {
    var start = 0
    while start < rows.count {
      let scope = rows[start].id.scope
      var end = start + 1
      while end < rows.count, rows[end].id.scope === scope { end += 1 }
      let layout = try tables.layout(of: scope.entity)
      if !isCareful, end - start >= Self.copiedRows {
        try copy(layout, start..<end) { index, bytes in
          bytes.appendField(ids[index].number)
          for column in layout.columns {
            bytes.appendField(try column.kind.value(of: rows[index].values[column.slot], number: self.number))
          }
        }
      } else {
        try insert(layout, start..<end, isCareful: isCareful) { index, column in
          try column.kind.value(of: rows[index].values[column.slot], number: self.number)
        } number: {
          ids[$0].number
        } row: {
          rows[$0]
        }
      }
      start = end
    }
  }

  /// Inserts and numbers rows without objects.
  func insert(_ rows: NewRows, isCareful: Bool) throws -> SavedRows {
    let layout = try tables.layout(of: rows.entity)
    let given = try numbersOf(rows, layout)
    if isCareful {
      try insert(layout, 0..<rows.count, isCareful: true) { index, column in
        try column.kind.value(of: rows.value(index, column.slot), number: self.number)
      } number: {
        given[$0]
      } row: {
        rows.row($0)
      }
    } else {
      try copy(layout, 0..<rows.count) { index, bytes in
        bytes.appendField(given[index])
        let cells = rows.cells(index)
        for column in layout.columns { try append(cells[column.slot], index, column, of: rows, to: &bytes) }
      }
    }
    return SavedRows(rows, scope: layout.scope, numbers: given)
  }

  /// Appends a cell as a field. Plain cells need no `Value`.
  private func append(
    _ cell: NewRows.Cell, _ row: Int, _ column: PostgresLayout.Column, of rows: NewRows, to bytes: inout PostgresBytes
  ) throws {
    switch (column.kind, cell.kind) {
    case (_, .null): bytes.appendNull()
    case (.integer, .int), (.reference, .reference): bytes.appendField(cell.bits)
    case (.real, .double):
      let double = Double(bitPattern: UInt64(bitPattern: cell.bits))
      if double.isNaN { bytes.appendNull() } else { bytes.appendField(cell.bits) }
    case (.text, .text):
      let text = rows.bytes(of: cell)
      guard !text.contains(0) else { throw PostgresColumnKind.zeroInText }
      bytes.appendField(text)
    default:
      bytes.appendField(try column.kind.value(of: rows.value(row, column.slot), number: number))
    }
  }

  /// The numbers of rows: those that they have been given, or have in their key, or the next ones.
  private func numbersOf(_ rows: NewRows, _ layout: PostgresLayout) throws -> [Int64] {
    if !rows.givenNumbers.isEmpty || rows.count == 0 { return rows.givenNumbers }
    guard let slot = layout.keySlot else {
      let first = try numbers.take(rows.count, layout, within: connection)
      return Array(first...first + Int64(rows.count - 1))
    }
    return try (0..<rows.count).map { row in
      let cell = rows.cell(row, slot)
      return cell.kind == .int ? cell.bits : try numbers.take(1, layout, within: connection)
    }
  }

  private func copy(
    _ layout: PostgresLayout, _ range: Range<Int>, _ fill: (Int, inout PostgresBytes) throws -> Void
  ) throws {
    guard !range.isEmpty else { return }
    let fields = layout.columns.count + (layout.entityColumn == nil ? 1 : 2)
    try connection.copy(layout.copy) { copy in
      for index in range {
        try copy.row(fields: fields) { bytes in
          try fill(index, &bytes)
          if layout.entityColumn != nil { bytes.appendField(layout.entity.name) }
        }
      }
    }
  }

  private func insert(
    _ layout: PostgresLayout, _ range: Range<Int>, isCareful: Bool,
    _ value: (Int, PostgresLayout.Column) throws -> PostgresValue, number: (Int) -> Int64, row: (Int) -> StoreRow
  ) throws {
    let sql = layout.insertion(skipsConflicts: isCareful)
    for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.rowsOfStatement) {
      let part = start..<min(start + Self.rowsOfStatement, range.upperBound)
      var parameters = [PostgresValue.array(.int8, part.map { .int(number($0)) })]
      for column in layout.columns {
        parameters.append(.array(column.kind.type, try part.map { try value($0, column) }))
      }
      guard isCareful else {
        try connection.enqueue(sql, parameters)
        continue
      }
      let written = try connection.query(sql, parameters)
      guard written.count < part.count else { continue }
      // Of several rows with one number, the first was written.
      var present = Set((0..<written.count).map { written.int($0, 0) })
      for index in part where present.remove(number(index)) == nil {
        try noteConflict(row(index), number(index), layout, isNew: true)
      }
    }
  }

  // MARK: Conflicts

  /// Collects a row's conflicts, one for each violated constraint.
  private func noteConflict(_ row: StoreRow, _ number: Int64, _ layout: PostgresLayout, isNew: Bool) throws {
    let root: EntityDescription = layout.entity.rootEntity
    let reader = try tables.rowReader(of: root)
    var found: [(constraint: [String], row: StoreRow?)] = []
    for constraint in layout.entity.uniquenessConstraints {
      let isKey = constraint == layout.entity.primaryKey.map { [$0] }
      if isKey ? !isNew : constraint.contains(where: \.isTransient) { continue }
      var conditions: [String] = []
      var parameters: [PostgresValue] = []
      for attribute in constraint {
        guard let kind = PostgresColumnKind(attribute) else { continue }
        parameters.append(try kind.value(of: row.values[attribute.slot], number: self.number))
        conditions.append(
          "\(SQLText.name(tables.schema.column(of: attribute, in: layout.entity))) = $\(parameters.count)")
      }
      if !isKey {
        parameters.append(.int(number))
        conditions.append("\(SQLText.name(layout.keyColumn)) <> $\(parameters.count)")
        if let column = layout.entityColumn {
          let entities = root.selfAndDescendants.filter { $0.uniquenessConstraints.contains(constraint) }
          conditions.append(
            "\(SQLText.name(column)) IN (\(entities.map { SQLText.literal($0.name) }.joined(separator: ", ")))")
        }
      }
      let rows = try connection.query(
        "SELECT \(reader.columns) FROM \(SQLText.name(layout.table)) WHERE \(conditions.joined(separator: " AND "))",
        parameters)
      if rows.count > 0, let inTheWay = reader.row(rows, 0) { found.append((constraint.map(\.name), inTheWay)) }
    }
    // A taken row number violates no constraint of the model.
    if found.isEmpty { found = [([layout.entity.primaryKey?.name ?? layout.keyColumn], nil)] }
    clashes.note(row, found)
  }

  /// - Throws: ``ManagedObjectError/constraintConflicts(_:)`` with those that were collected.
  func throwConflicts(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    guard clashes.isEmpty else { throw ManagedObjectError.constraintConflicts(clashes.conflicts(changes, ids)) }
  }

  // MARK: Pairs and orders

  /// Writes the changes of many-to-many relationships. Both ends may hold the same change; writing it twice is harmless.
  func writePairs(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    var removed = PostgresPairs()
    var added = PostgresPairs()
    func note(
      _ relationship: RelationshipDescription, of owner: Int64, old: Set<ManagedObjectID>, new: Value
    ) {
      guard let members = new.objectIDs else { return }
      let pair = tables.schema.pairing(of: relationship)
      let isOwnInverse = relationship.inverseRelationship === relationship
      for id in old.subtracting(members) { removed.add(pair, owner, number(id), bothWays: isOwnInverse) }
      for id in members.subtracting(old) { added.add(pair, owner, number(id), bothWays: isOwnInverse) }
    }
    for (row, id) in zip(changes.inserted, ids) {
      for relationship in try tables.layout(of: row.id.entity).pairings {
        note(relationship, of: id.number, old: [], new: row.values[relationship.slot])
      }
    }
    for update in changes.updated {
      for relationship in try tables.layout(of: update.id.entity).pairings
      where update.values[relationship.slot] != update.committed[relationship.slot] {
        note(
          relationship, of: update.id.number, old: update.committed[relationship.slot].objectIDs ?? [],
          new: update.values[relationship.slot])
      }
    }
    try removed.each { pair, sources, destinations in
      try connection.enqueue(
        "DELETE FROM \(SQLText.name(pair.table)) AS old USING unnest($1, $2) AS pair(a, b) "
          + "WHERE old.\(SQLText.name(pair.sourceColumn)) = pair.a AND old.\(SQLText.name(pair.destinationColumn)) = pair.b",
        [sources, destinations])
    }
    try added.each { pair, sources, destinations in
      try connection.enqueue(
        "INSERT INTO \(SQLText.name(pair.table)) (\(SQLText.name(pair.sourceColumn)), "
          + "\(SQLText.name(pair.destinationColumn))) SELECT a, b FROM unnest($1, $2) AS pair(a, b) ON CONFLICT DO NOTHING",
        [sources, destinations])
    }
  }

  /// Writes the changed order of ordered relationships.
  func writeOrders(_ changes: StoreChanges, _ ids: [ManagedObjectID]) throws {
    guard tables.hasOrders else { return }
    var keeper = PostgresOrders(connection: connection, schema: tables.schema)
    try OrderWrite(changes, ids) { [self] in number($0) }.write(to: &keeper)
  }

  // Foreign keys are checked at the end, so the order among rows doesn't matter.

  /// Runs what is still queued, and checks references.
  /// - Throws: ``ManagedObjectError/brokenReferences(_:)`` with every relationship of this write that leads nowhere.
  func checkReferences(_ changes: StoreChanges, _ ids: [ManagedObjectID], _ savedRows: [SavedRows]) throws {
    guard !tables.schema.foreignKeys.isEmpty else { return try writer.runQueue(of: connection) }
    do {
      try connection.begin(part: "lade_references")
      try connection.enqueue("SET CONSTRAINTS ALL IMMEDIATE")
      try connection.enqueue("SET CONSTRAINTS ALL DEFERRED")
      try writer.runQueue(of: connection)
    } catch let error as PostgresError where error.state == "23503" {
      // A constraint that another program has added may be checked earlier.
      do { try connection.rollBack(part: "lade_references") } catch is PostgresError { throw error }
      let found = try changes.brokenReferences(ids, savedRows, holds: tables.holds) { target in
        guard let number = number(target) else { return false }
        let layout = try tables.layouts(of: target.entity.rootEntity)[0]
        return try connection.query(
          "SELECT 1 FROM \(SQLText.name(layout.table)) WHERE \(SQLText.name(layout.keyColumn)) = $1", [.int(number)]
        ).count == 0
      } referrers: { id, relationship in
        let layouts = try tables.layouts(of: relationship.entity)
        let reader = PostgresRowReader(layouts, slots: [])
        let column = SQLText.name(tables.schema.column(of: relationship, in: relationship.entity))
        let rows = try connection.query(
          "SELECT \(reader.columns) FROM \(SQLText.name(layouts[0].table)) WHERE \(column) = $1", [.int(id.number)])
        return (0..<rows.count).compactMap { reader.id(rows, $0) }
      }
      guard found.isEmpty else { throw ManagedObjectError.brokenReferences(found) }
      throw error
    }
  }
}

/// Pairs of join tables that are to be written, by table.
private struct PostgresPairs {
  private var pairs: [Pairing: (sources: [PostgresValue], destinations: [PostgresValue])] = [:]

  mutating func add(_ pair: Pairing, _ source: Int64, _ destination: Int64?, bothWays: Bool) {
    guard let destination else { return }
    pairs[pair, default: ([], [])].sources.append(.int(source))
    pairs[pair, default: ([], [])].destinations.append(.int(destination))
    // A relationship that is its own inverse holds in both directions, and so do its pairs.
    if bothWays { add(pair, destination, source, bothWays: false) }
  }

  func each(_ body: (Pairing, PostgresValue, PostgresValue) throws -> Void) throws {
    for (pair, columns) in pairs {
      try body(pair, .array(.int8, columns.sources), .array(.int8, columns.destinations))
    }
  }
}
