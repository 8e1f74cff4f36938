import ManagedObjects
import PostgreSQL
import SQLSchema
import Synchronization

/// Where an entity's values are in its table, computed once for each entity of a store.
final class PostgresLayout: Sendable {
  /// One column beside the primary key.
  struct Column: Sendable {
    let slot: Int
    let name: String
    let kind: PostgresColumnKind
    /// Whether the store derives the values, so that a change by others is no conflict.
    let isDerived: Bool
  }

  let entity: EntityDescription
  let scope: IDScope
  let table: String
  let keyColumn: String
  /// The slot of the attribute that is the primary key, when the model names one.
  let keySlot: Int?
  /// The column with the name of a row's entity, in a table of several entities.
  let entityColumn: String?
  let columns: [Column]
  /// The values of a row before its columns are read.
  let blank: ContiguousArray<Value>
  let hasReferences: Bool
  /// Relationships whose pairs have a table of their own.
  let pairings: [RelationshipDescription]
  /// Statements that prepare the deletion of rows, whose numbers are the parameter.
  let clearings: [String]
  /// The indexes of columns whose values, alone or together, are unique.
  let uniqueColumns: Set<Int>
  /// Statements that change columns, by those columns.
  private let updates = Mutex<[[Int]: String]>([:])

  init(_ entity: EntityDescription, schema: SchemaMap, scopes: [Int: IDScope], scope: IDScope) {
    self.entity = entity
    self.scope = scope
    table = schema.table(of: entity)
    keyColumn = schema.primaryKeyColumn(of: entity)
    keySlot = entity.primaryKey?.slot
    entityColumn = schema.discriminatorColumn(of: entity)
    var columns: [Column] = []
    var blank = ContiguousArray(repeating: Value.null, count: entity.properties.count)
    for attribute in entity.attributes where attribute !== entity.primaryKey {
      guard let kind = PostgresColumnKind(attribute) else { continue }
      columns.append(
        Column(
          slot: attribute.slot, name: schema.column(of: attribute, in: entity), kind: kind,
          isDerived: attribute.isDerived))
    }
    for relationship in entity.relationships {
      if relationship.isToMany {
        blank[relationship.slot] = .unresolved
      } else if !relationship.isTransient, let destination = scopes[relationship.destinationEntity.index] {
        columns.append(
          Column(
            slot: relationship.slot, name: schema.column(of: relationship, in: entity), kind: .reference(destination),
            isDerived: false))
      }
    }
    self.columns = columns
    self.blank = blank
    hasReferences = columns.contains { if case .reference = $0.kind { true } else { false } }
    pairings = entity.relationships.filter { $0.isManyToMany && !$0.isUnstored }
    clearings = schema.clearings(of: entity, number: "ANY ($1)")
    let unique = Set(entity.uniquenessConstraints.joined().map(\.slot))
    uniqueColumns = Set(columns.indices.filter { unique.contains(columns[$0].slot) })
  }

  /// The indexes of the columns in which two rows differ.
  func changedColumns(_ a: ContiguousArray<Value>, _ b: ContiguousArray<Value>) -> [Int] {
    columns.indices.filter { a[columns[$0].slot] != b[columns[$0].slot] }
  }

  /// Changes columns of rows: the parameters are arrays of the rows' numbers and of the columns' values.
  func update(_ changed: [Int], table: String? = nil) -> String {
    let target = table ?? self.table
    func text() -> String {
      let names = changed.indices.map { "v\($0)" }
      let assignments = zip(changed, names).map { "\(SQLText.name(columns[$0].name)) = new.\($1)" }
      return "UPDATE \(SQLText.name(target)) AS old SET \(assignments.joined(separator: ", ")) "
        + "FROM \(Self.arrays(names.count + 1)) AS new(number\(names.map { ", " + $0 }.joined())) "
        + "WHERE old.\(SQLText.name(keyColumn)) = new.number"
    }
    guard table == nil else { return text() }
    return updates.withLock { updates in
      if let known = updates[changed] { return known }
      let made = text()
      updates[changed] = made
      return made
    }
  }

  /// The columns of an insertion, in the order of its parameters or fields.
  var insertedNames: String {
    ([keyColumn] + columns.map(\.name) + (entityColumn.map { [$0] } ?? [])).map(SQLText.name).joined(separator: ", ")
  }

  /// Inserts rows: the parameters are arrays of their numbers and of the columns' values.
  func insertion(skipsConflicts: Bool) -> String {
    let mark = entityColumn.map { _ in ", \(SQLText.literal(entity.name))" } ?? ""
    let names = (0...columns.count).map { "v\($0)" }.joined(separator: ", ")
    return "INSERT INTO \(SQLText.name(table)) (\(insertedNames)) SELECT \(names)\(mark) "
      + "FROM \(Self.arrays(columns.count + 1)) AS new(\(names))"
      + (skipsConflicts ? " ON CONFLICT DO NOTHING RETURNING \(SQLText.name(keyColumn))" : "")
  }

  /// Copies rows in binary form.
  var copy: String { "COPY \(SQLText.name(table)) (\(insertedNames)) FROM STDIN (FORMAT binary)" }

  private static func arrays(_ count: Int) -> String {
    "unnest(\((1...count).map { "$\($0)" }.joined(separator: ", ")))"
  }
}
