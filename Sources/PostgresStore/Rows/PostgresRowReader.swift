import ManagedObjects
import PostgreSQL
import SQLSchema

/// Makes rows of what a statement returns. Its first columns are ``selection``.
struct PostgresRowReader: Sendable {
  private struct Entity: Sendable {
    let layout: PostgresLayout
    /// The values before any is read.
    let blank: ContiguousArray<Value>
    /// Where the values are: their place in the selection, and their slot.
    let columns: [(place: Int, slot: Int, kind: PostgresColumnKind)]
  }

  /// The columns to select, without quotes: the row's number, its entity if the table holds several, and values.
  let selection: [String]
  /// The same as SQL, and as columns of a fetch's table.
  let columns: String
  let fetchedColumns: String
  private let entities: [String: Entity]
  /// The only entity, of a table that holds one.
  private let single: Entity?

  /// - Parameters:
  ///   - layouts: of entities of one table; at least one.
  ///   - slots: the slots to read; nil for all.
  init(_ layouts: [PostgresLayout], slots: Set<Int>? = nil) {
    let first = layouts[0]
    var selection = [first.keyColumn] + (first.entityColumn.map { [$0] } ?? [])
    var places: [String: Int] = [:]
    var entities: [String: Entity] = [:]
    for layout in layouts {
      var blank = layout.blank
      var columns: [(place: Int, slot: Int, kind: PostgresColumnKind)] = []
      for column in layout.columns {
        if let slots, !slots.contains(column.slot) {
          blank[column.slot] = .unresolved
          continue
        }
        let place = places[column.name] ?? selection.count
        if place == selection.count {
          selection.append(column.name)
          places[column.name] = place
        }
        columns.append((place, column.slot, column.kind))
      }
      entities[layout.entity.name] = Entity(layout: layout, blank: blank, columns: columns)
    }
    self.selection = selection
    let quoted = selection.map(SQLText.name)
    columns = quoted.joined(separator: ", ")
    fetchedColumns = quoted.map { "\(PostgresBuilder.root).\($0)" }.joined(separator: ", ")
    self.entities = entities
    single = first.entityColumn == nil ? entities[first.entity.name] : nil
  }

  /// The row; nil for one of an entity that the reader doesn't know.
  func row(_ rows: PostgresRows, _ row: Int) -> StoreRow? {
    guard let entity = entity(rows, row) else { return nil }
    let number = rows.int(row, 0)
    var values = entity.blank
    for (place, slot, kind) in entity.columns { values[slot] = kind.value(rows, row, place) }
    if let slot = entity.layout.keySlot { values[slot] = .int(number) }
    return StoreRow(id: ManagedObjectID(scope: entity.layout.scope, number: number), values: values)
  }

  func id(_ rows: PostgresRows, _ row: Int) -> ManagedObjectID? {
    entity(rows, row).map { ManagedObjectID(scope: $0.layout.scope, number: rows.int(row, 0)) }
  }

  private func entity(_ rows: PostgresRows, _ row: Int) -> Entity? { single ?? entities[rows.text(row, 1)] }
}
