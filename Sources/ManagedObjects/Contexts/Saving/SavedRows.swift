/// Rows that were inserted without objects, with their permanent IDs.
package struct SavedRows: Sendable {
  /// The values.
  package let rows: NewRows
  /// The scope of their IDs.
  package let scope: IDScope
  /// The numbers of their IDs, in order.
  package let numbers: [Int64]

  /// The rows of one entity, with a number for each.
  package init(_ rows: NewRows, scope: IDScope, numbers: [Int64]) {
    self.rows = rows
    self.scope = scope
    self.numbers = numbers
  }

  /// The ID of a row.
  package func id(_ row: Int) -> ManagedObjectID { ManagedObjectID(scope: scope, number: numbers[row]) }

  /// Whether one of them may belong to another object's set.
  var joinsSets: Bool { rows.hasReferences && rows.entity.joinsSets }

  /// A row with its values.
  func row(_ row: Int) -> StoreRow { StoreRow(id: id(row), values: rows.values(row)) }
}
