import ManagedObjects
import SQLSchema
import Synchronization

/// Where an entity's values are in its table, computed once for each entity of a store.
final class RowLayout: Sendable {
  /// One column beside the primary key.
  struct Column: Sendable {
    let slot: Int
    let name: String
    let kind: ColumnKind
    /// Whether the store derives the values, so that a change by others is no conflict.
    var isDerived = false
  }

  /// A column's slot, and how its value is bound.
  struct Binding: Sendable {
    let slot: Int
    let isISODate: Bool
    /// Whether large values are in files.
    let isExternal: Bool
  }

  let entity: EntityDescription
  let scope: IDScope
  let table: String
  /// The column that numbers the rows.
  let keyColumn: String
  /// The slot of the attribute that is the primary key, when the model names one.
  let keySlot: Int?
  /// The column with the name of a row's entity, in a table of several entities.
  let entityColumn: String?
  /// What stands there, as text.
  let entityMark: String
  let columns: [Column]
  /// The same for binding a row's values one after the other, without counted references.
  let bindings: ContiguousArray<Binding>
  /// The values of a row before its columns are read.
  let blank: ContiguousArray<Value>
  /// Whether any column is a reference to a row.
  let hasReferences: Bool
  /// Relationships whose pairs have a table of their own.
  let pairings: [RelationshipDescription]
  /// Statements that prepare the deletion of a row with a number: they remove its pairs and clear references to it, unless the
  /// other end's delete rule is to cascade or deny.
  let clearings: [String]
  /// The statement that deletes the row with a number.
  let deletion: String
  /// The indexes of columns whose values, alone or together, are unique.
  let uniqueColumns: [Int]
  /// Statements that change columns, by those columns. Cached: making their text takes longer than running them.
  private let updates = Mutex<[ColumnSet: String]>([:])
  /// Statements that insert rows, by the number of rows.
  private let insertions = Mutex<[Int: String]>([:])
  /// The look-up of one row by its number.
  private let look = Mutex<Look?>(nil)

  /// Reads a row of the entity by its number.
  struct Look: Sendable {
    let reader: RowReader
    let statement: String
  }

  init(
    _ entity: EntityDescription, schema: SchemaMap, scopes: [Int: IDScope], scope: IDScope,
    external: ExternalData? = nil
  ) {
    self.entity = entity
    self.scope = scope
    table = schema.table(of: entity)
    keyColumn = schema.primaryKeyColumn(of: entity)
    keySlot = entity.primaryKey?.slot
    entityColumn = schema.discriminatorColumn(of: entity)
    entityMark = schema.entityMark(of: entity)
    var columns: [Column] = []
    var blank = ContiguousArray(repeating: Value.null, count: entity.properties.count)
    for attribute in entity.attributes where attribute !== entity.primaryKey {
      guard var kind = schema.forms.kind(of: attribute) else { continue }
      let name = schema.column(of: attribute, in: entity)
      if let external, attribute.allowsFiles {
        let place = ExternalData.Place(table: table, key: keyColumn, column: name)
        kind = .external(ExternalColumn(external, attribute, place))
      }
      columns.append(
        Column(
          slot: attribute.slot, name: name, kind: kind,
          isDerived: attribute.isDerived))
    }
    for relationship in entity.relationships {
      if relationship.isToMany {
        blank[relationship.slot] = .unresolved
      } else if !relationship.isTransient, let destination = scopes[relationship.destinationEntity.index] {
        columns.append(
          Column(
            slot: relationship.slot, name: schema.column(of: relationship, in: entity), kind: .reference(destination)))
      }
    }
    self.columns = columns
    hasReferences = columns.contains { if case .reference = $0.kind { true } else { false } }
    bindings = ContiguousArray(
      columns.map { column in
        var isExternal = false
        if case .external = column.kind { isExternal = true }
        return Binding(slot: column.slot, isISODate: column.kind == .isoDate, isExternal: isExternal)
      })
    self.blank = blank
    pairings = entity.relationships.filter { $0.isManyToMany && !$0.isUnstored }
    clearings = schema.clearings(of: entity, number: "?")
    deletion = "DELETE FROM \(table.quotedName) WHERE \(keyColumn.quotedName) = ?"
    let unique = Set(entity.uniquenessConstraints.joined().map(\.slot))
    uniqueColumns = columns.indices.filter { unique.contains(columns[$0].slot) }
  }

  /// The column of a slot whose values may be in files; nil for any other.
  func externalColumn(_ slot: Int) -> ExternalColumn? {
    guard let column = columns.first(where: { $0.slot == slot }), case .external(let external) = column.kind else {
      return nil
    }
    return external
  }

  /// The columns in which two rows differ.
  func changedColumns(_ a: ContiguousArray<Value>, _ b: ContiguousArray<Value>) -> ColumnSet {
    var changed = ColumnSet()
    for place in bindings.indices where a[bindings[place].slot] != b[bindings[place].slot] { changed.insert(place) }
    return changed
  }

  /// The statement that sets columns of the row with a number, which is its last parameter.
  func updateStatement(_ changed: ColumnSet) -> String {
    updates.withLock { updates in
      if let known = updates[changed] { return known }
      let assignments = changed.map { columns[$0].name.quotedName + " = ?" }.joined(separator: ", ")
      let sql = "UPDATE \(table.quotedName) SET \(assignments) WHERE \(keyColumn.quotedName) = ?"
      updates[changed] = sql
      return sql
    }
  }

  /// The statement that inserts a number of rows.
  func insertStatement(rows: Int) -> String {
    insertions.withLock { insertions in
      if let known = insertions[rows] { return known }
      var names = [keyColumn.quotedName] + columns.map(\.name.quotedName)
      var values = Array(repeating: "?", count: names.count)
      if let entityColumn {
        names.append(entityColumn.quotedName)
        values.append(SQLText.literal(entityMark))
      }
      let row = "(\(values.joined(separator: ", ")))"
      let sql =
        "INSERT \(rows > 1 ? "OR FAIL " : "")INTO \(table.quotedName) (\(names.joined(separator: ", "))) "
        + "VALUES \(Array(repeating: row, count: rows).joined(separator: ", "))"
      insertions[rows] = sql
      return sql
    }
  }

  /// The look-up of a row by its number.
  func lookupByNumber() -> Look {
    look.withLock { look in
      if let look { return look }
      let reader = RowReader([self])
      let columns = reader.selection.map(\.quotedName).joined(separator: ", ")
      let made = Look(
        reader: reader,
        statement: "SELECT \(columns) FROM \(table.quotedName) WHERE \(keyColumn.quotedName) = ?")
      look = made
      return made
    }
  }
}

/// A set of a layout's columns, by their indexes.
struct ColumnSet: Hashable, Sequence {
  /// The first 64 indexes, and the others.
  private var bits: UInt64 = 0
  private var rest: Set<Int> = []

  var isEmpty: Bool { bits == 0 && rest.isEmpty }

  mutating func insert(_ place: Int) {
    if place < 64 { bits |= 1 << UInt64(place) } else { rest.insert(place) }
  }

  /// Calls the closure with each index, in ascending order.
  struct Iterator: IteratorProtocol {
    fileprivate var bits: UInt64
    fileprivate var rest: ArraySlice<Int>

    mutating func next() -> Int? {
      guard bits != 0 else { return rest.popFirst() }
      let place = bits.trailingZeroBitCount
      bits &= bits - 1
      return place
    }
  }

  func makeIterator() -> Iterator { Iterator(bits: bits, rest: rest.isEmpty ? [] : rest.sorted()[...]) }
}
