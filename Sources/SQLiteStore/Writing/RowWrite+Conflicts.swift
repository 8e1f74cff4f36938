import GRDB
import GRDBSQLite
import ManagedObjects

extension RowWrite {
  /// Notes a row that clashes with another, by every constraint that it breaks; any other error ends the write.
  func noteConflict(
    _ id: ManagedObjectID, _ number: Int64, _ values: ContiguousArray<Value>, _ layout: RowLayout, isNew: Bool
  ) throws {
    try throwUnlessUniqueness()
    try note(clashes(of: number, values, layout, isNew: isNew), id)
  }

  func note(_ constraints: [[String]], _ id: ManagedObjectID) {
    constraintConflicts += constraints.map { .init(objectID: id, constraint: $0) }
  }

  /// Throws what the last statement failed with, unless it was a uniqueness constraint.
  func throwUnlessUniqueness() throws {
    let error = db.lastError()
    switch error.extendedResultCode {
    case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: return
    default: throw error
    }
  }

  /// The constraints that a row breaks, SQLite tells but one, each by the names of its attributes.
  func clashes(
    of number: Int64, _ values: ContiguousArray<Value>, _ layout: RowLayout, isNew: Bool
  ) throws -> [[String]] {
    var broken: [[String]] = []
    for constraint in layout.entity.uniquenessConstraints {
      let isKey = constraint == layout.entity.primaryKey.map { [$0] }
      if isKey, !isNew { continue }
      var conditions = constraint.map {
        "\(store.schema.column(of: $0, in: layout.entity).quotedName) = ?"
      }
      if !isKey { conditions.append("\(layout.keyColumn.quotedName) <> ?") }
      if !isKey, let column = layout.entityColumn {
        let entities = layout.entity.rootEntity.selfAndDescendants.filter {
          $0.uniquenessConstraints.contains(constraint)
        }
        let names = entities.map { "'\($0.name.replacingOccurrences(of: "'", with: "''"))'" }
        conditions.append("\(column.quotedName) IN (\(names.joined(separator: ", ")))")
      }
      let sql = "SELECT 1 FROM \(layout.table.quotedName) WHERE \(conditions.joined(separator: " AND "))"
      let handle = try db.cachedStatement(sql: sql).sqliteStatement
      defer { sqlite3_reset(handle) }
      binder.begin()
      var index: Int32 = 1
      for attribute in constraint {
        let isISODate = ColumnKind(attribute) == .isoDate
        binder.bind(values[attribute.slot], isISODate: isISODate, to: handle, at: index)
        index += 1
      }
      if !isKey { sqlite3_bind_int64(handle, index, number) }
      if sqlite3_step(handle) == SQLITE_ROW { broken.append(constraint.map(\.name)) }
    }
    // A row number that is taken breaks no constraint of the model's.
    return broken.isEmpty ? [[layout.entity.primaryKey?.name ?? layout.keyColumn]] : broken
  }
}
