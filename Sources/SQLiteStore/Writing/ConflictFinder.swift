import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects
import SQLSchema

/// Finds the rows that already have an entity's unique values. Made at a write's first conflict of the entity: SQLite names
/// only one of the violated constraints, and not the conflicting row.
struct ConflictFinder {
  private struct Question {
    let constraint: [AttributeDescription]
    let isKey: Bool
    let statement: Statement
  }

  private let reader: RowReader
  private let questions: [Question]

  init(_ layout: RowLayout, _ store: SQLiteStore, _ db: Database) throws {
    let root: EntityDescription = layout.entity.rootEntity
    let reader = RowReader(try store.layouts(of: root))
    self.reader = reader
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    questions = try layout.entity.uniquenessConstraints.compactMap { constraint in
      let isKey = constraint == layout.entity.primaryKey.map { [$0] }
      if !isKey, constraint.contains(where: \.isTransient) { return nil }
      var conditions = constraint.map { "\(store.schema.column(of: $0, in: layout.entity).quotedName) = ?" }
      if !isKey { conditions.append("\(layout.keyColumn.quotedName) <> ?") }
      if !isKey, let column = layout.entityColumn {
        let entities = root.selfAndDescendants.filter { $0.uniquenessConstraints.contains(constraint) }
        let names = entities.map { "'\($0.name.replacingOccurrences(of: "'", with: "''"))'" }
        conditions.append("\(column.quotedName) IN (\(names.joined(separator: ", ")))")
      }
      return Question(
        constraint: constraint, isKey: isKey,
        statement: try db.cachedStatement(
          sql: "SELECT \(columns) FROM \(layout.table.quotedName) WHERE \(conditions.joined(separator: " AND "))"))
    }
  }

  /// The constraints that a row with that number would violate, each with the conflicting row.
  func clashes(
    of number: Int64, _ values: ContiguousArray<Value>, isNew: Bool, _ binder: RowBinder, in db: Database
  ) throws -> [(constraint: [AttributeDescription], row: StoreRow)] {
    var found: [(constraint: [AttributeDescription], row: StoreRow)] = []
    for question in questions where isNew || !question.isKey {
      let handle = question.statement.sqliteStatement
      binder.begin()
      var index: Int32 = 1
      for attribute in question.constraint {
        let isISODate = ColumnKind(attribute) == .isoDate
        binder.bind(values[attribute.slot], isISODate: isISODate, to: handle, at: index)
        index += 1
      }
      if !question.isKey { sqlite3_bind_int64(handle, index, number) }
      try binder.check()
      if let row = try question.statement.collect(reader, in: db).first { found.append((question.constraint, row)) }
    }
    return found
  }
}
