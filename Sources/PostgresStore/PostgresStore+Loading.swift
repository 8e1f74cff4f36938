package import ManagedObjects
import PostgreSQL
import SQLSchema

extension PostgresStore: BulkLoading {
  /// History and derived attributes need rows as objects have them.
  package var takesNewRows: Bool { !tables.hasDerivations && !options.persistentHistoryTracking }

  package func permanentNumbers(_ count: Int, of entity: EntityDescription) throws -> (scope: IDScope, first: Int64) {
    try tables.translating {
      let layout = try tables.layout(of: entity)
      return (layout.scope, try numbers.take(count, layout, within: writer.ownConnection))
    }
  }

  /// Joins the table with the keys, which are sent as arrays.
  package func matches(of rows: NewRows, by key: [Int], order: [Int32], slots: [Int]) throws -> RowMatches? {
    let layout = try tables.layout(of: rows.entity)
    guard layout.entityColumn == nil, !key.isEmpty else { return nil }
    func column(_ slot: Int) -> (name: String, kind: PostgresColumnKind)? {
      if slot == layout.keySlot { return (layout.keyColumn, .integer) }
      return layout.columns.first { $0.slot == slot }.map { ($0.name, $0.kind) }
    }
    let (keys, compared) = (key.compactMap(column), slots.compactMap(column))
    guard keys.count == key.count, compared.count == slots.count else { return nil }
    var parameters: [PostgresValue] = []
    for (slot, column) in zip(key, keys) {
      var values: [PostgresValue] = []
      values.reserveCapacity(order.count)
      for row in order {
        let value = rows.value(Int(row), slot)
        // No row has a text with a zero, or a date that the database doesn't have.
        if case .string(let text) = value, text.utf8.contains(0) { return nil }
        if case .date(let date) = value, PostgresColumnKind.instant(date) == nil { return nil }
        values.append(try column.kind.value(of: value) { $0.isTemporaryID ? nil : $0.number })
      }
      parameters.append(.array(column.kind.type, values))
    }
    let names = keys.indices.map { "k\($0)" }
    let list = ([layout.keyColumn] + compared.map(\.name)).map { "t.\(SQLText.name($0))" }.joined(separator: ", ")
    let condition = zip(keys, names).map { "t.\(SQLText.name($0.name)) = wanted.\($1)" }.joined(separator: " AND ")
    let sql =
      "SELECT wanted.place, \(list) FROM unnest(\(keys.indices.map { "$\($0 + 1)" }.joined(separator: ", "))) "
      + "WITH ORDINALITY AS wanted(\(names.joined(separator: ", ")), place) "
      + "JOIN \(SQLText.name(layout.table)) AS t ON \(condition)"
    return try tables.translating {
      try read(isOneState: false) { connection in
        var matches = RowMatches(count: rows.count)
        let found = try connection.query(sql, parameters)
        for index in 0..<found.count {
          let row = Int(order[Int(found.int(index, 0)) - 1])
          matches.numbers[row] = found.int(index, 1)
          matches.isSame[row] = slots.indices.allSatisfy { place in
            compared[place].kind.value(found, index, place + 2).isStoredAlike(rows.value(row, slots[place]))
          }
        }
        return matches
      }
    }
  }

  /// Nothing is removed: others may be reading and writing the table.
  package func postponeIndexes(of entity: EntityDescription, expecting rows: Int64) throws -> Bool { false }

  /// Nothing was removed.
  package func endPostponement(of entity: EntityDescription) {}

  /// Nothing was removed.
  package func makeIndexes(of entity: EntityDescription) throws {}
}
