import ManagedObjects

/// How the rows of a hierarchy are looked up by their numbers. Made once for each: its text takes longer to make than a
/// row to read.
struct RowsByNumber: Sendable {
  let reader: RowReader
  /// The statement for one row.
  let ofOne: String
  /// The statement for several, up to their numbers in brackets.
  let ofSeveral: String

  init(_ layouts: [RowLayout]) {
    reader = RowReader(layouts)
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let start = "SELECT \(columns) FROM \(layouts[0].table.quotedName) WHERE \(reader.keyColumn.quotedName)"
    ofOne = start + " = ?"
    ofSeveral = start + " IN"
  }
}

extension SQLiteStore {
  /// How the rows of an entity's hierarchy are looked up.
  func rowsByNumber(of entity: EntityDescription) throws -> RowsByNumber {
    let root = entity.rootEntity.index
    if let known = rowsByNumber.withLock({ $0[root] }) { return known }
    let look = RowsByNumber(try layouts(of: entity.rootEntity))
    rowsByNumber.withLock { $0[root] = look }
    return look
  }
}
