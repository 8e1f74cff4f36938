import ManagedObjects
import SQLSchema

/// The statements that look up a hierarchy's rows by their numbers. Cached: making their text takes longer than reading a
/// row.
struct RowsByNumber: Sendable {
  let reader: RowReader
  /// The statement for one row.
  let ofOne: String
  /// The statement for several rows, up to the parenthesised list of numbers.
  let ofSeveral: String

  init(_ layouts: [RowLayout]) {
    reader = RowReader(layouts)
    let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
    let start = "SELECT \(columns) FROM \(layouts[0].table.quotedName) WHERE \(reader.keyColumn.quotedName)"
    ofOne = start + " = ?"
    ofSeveral = start + " IN"
  }
}
