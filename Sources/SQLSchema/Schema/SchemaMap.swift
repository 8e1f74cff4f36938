package import ManagedObjects

/// The tables, columns and indexes of a model: the only place that chooses names in a database.
///
/// The names are a function of the model alone, so that two programs with the same model use the same tables:
/// 1. An entity hierarchy is one table with the root entity's name.
/// 2. The primary key is the attribute that the model names, otherwise `id` (`_id` beside an attribute of that name).
/// 3. A hierarchy of several entities has a column `entity` with the name of each row's entity.
/// 4. An attribute's column has its name, an element `address.city` of a composite `address_city`; a to-one
///    relationship's is `<relationship>_id`, or what `columnName` in its user info says: a foreign key.
/// 5. Properties of the same name and type in sibling entities share a column; with different types the later ones are
///    `<Entity>_<name>`.
/// 6. A many-to-many relationship is a table `<Entity>_<relationship>`, named for the side that sorts first, with the
///    columns `<Entity>_id` of both sides.
/// 7. An ordered relationship has a column with each member's position: `<relationship>_position`, named for the to-one
///    relationship beside whose column it stands, or for the ordered relationship in the join table.
/// 8. A name that is taken, in upper or lower case, gets a leading underscore. One that is too long for the database is
///    shortened.
///
/// Transient attributes and fetched properties have no column; the other side of a to-one relationship has none either.
package struct SchemaMap: Sendable {
  /// A table for each hierarchy, in the model's order.
  package let tables: [TableMap]
  /// A table for each many-to-many relationship.
  package let joinTables: [JoinTable]
  /// Every index, the unique ones first in each table.
  package let indexes: [IndexMap]
  /// Parts of the model without an equivalent in the file, for people.
  package let warnings: [String]

  /// The references between tables.
  package let foreignKeys: [ForeignKey]

  /// How the file keeps values.
  package let forms: StoredForms

  /// The numbers by which a Core Data store knows entities; empty for a file of this library, which names them.
  private let entityNumbers: [EntityDescription: Int64]
  private let tablesByRoot: [EntityDescription: TableMap]
  private let pairings: [RelationshipDescription: Pairing]

  /// Names the tables, columns and indexes of a store of `entities`.
  /// - Throws: ``SchemaError``.
  package init<Dialect: SQLDialect>(
    model: ManagedObjectModel, entities: [EntityDescription]? = nil, _: Dialect.Type
  ) throws(SchemaError) {
    var builder = SchemaBuilder<Dialect>(model: model, entities: entities ?? model.entities)
    try builder.build()
    self.init(builder)
  }

  /// A builder's result so far.
  init<Dialect>(_ builder: SchemaBuilder<Dialect>) {
    tables = builder.tables
    joinTables = builder.joinTables
    indexes = builder.indexes
    warnings = builder.warnings
    foreignKeys = builder.foreignKeys
    tablesByRoot = Dictionary(uniqueKeysWithValues: builder.tables.map { ($0.rootEntity, $0) })
    pairings = builder.pairings
    forms = .own
    entityNumbers = [:]
  }

  /// The tables of a Core Data store, which are there already.
  package init(
    coreData tables: [TableMap], _ pairings: [RelationshipDescription: Pairing], _ numbers: [EntityDescription: Int64]
  ) {
    self.tables = tables
    joinTables = []
    indexes = []
    warnings = []
    foreignKeys = []
    tablesByRoot = Dictionary(uniqueKeysWithValues: tables.map { ($0.rootEntity, $0) })
    self.pairings = pairings
    forms = .coreData
    entityNumbers = numbers
  }

  /// What ``discriminatorColumn(of:)`` holds for rows of that entity, as text: its name, or its number.
  package func entityMark(of entity: EntityDescription) -> String {
    entityNumbers[entity].map { String($0) } ?? entity.name
  }

  /// The same as SQL.
  package func entityLiteral(of entity: EntityDescription) -> String {
    entityNumbers[entity].map { String($0) } ?? SQLText.literal(entity.name)
  }

  /// The table of `entity`'s hierarchy. The entity must be one that the map was made for.
  package func map(of entity: EntityDescription) -> TableMap {
    guard let table = tablesByRoot[entity.rootEntity] else {
      preconditionFailure("\(entity.name) isn't an entity of this store: ask the coordinator which store holds it")
    }
    return table
  }

  /// Whether the store holds the entity's hierarchy.
  package func holds(_ entity: EntityDescription) -> Bool { tablesByRoot[entity.rootEntity] != nil }

  /// The name of the entity's table.
  package func table(of entity: EntityDescription) -> String { map(of: entity).name }

  /// The column that numbers the entity's rows.
  package func primaryKeyColumn(of entity: EntityDescription) -> String { map(of: entity).primaryKeyColumn }

  /// The column with the name of each row's entity, nil when the table holds one entity.
  package func discriminatorColumn(of entity: EntityDescription) -> String? { map(of: entity).discriminatorColumn }

  /// The column of an attribute or to-one relationship that is stored. `entity` is any that has the property.
  package func column(of property: PropertyDescription, in entity: EntityDescription) -> String {
    guard let name = columnIfStored(of: property, in: entity) else {
      preconditionFailure("\(property.entity.name).\(property.name) has no column: it is transient or to-many")
    }
    return name
  }

  /// The column of `property`, nil when it has none: transient, or to-many.
  package func columnIfStored(of property: PropertyDescription, in entity: EntityDescription) -> String? {
    map(of: entity).columnsByProperty[property]
  }

  /// The columns of a many-to-many relationship in its join table.
  package func pairing(of relationship: RelationshipDescription) -> Pairing {
    guard let pairing = pairings[relationship] else {
      preconditionFailure(
        "\(relationship.entity.name).\(relationship.name) isn't a many-to-many relationship of this store")
    }
    return pairing
  }

  /// The storage of an ordered to-many relationship's order; nil for any other.
  package func ordering(of relationship: RelationshipDescription) -> Ordering? {
    guard relationship.isToMany, relationship.isOrdered, !relationship.isTransient else { return nil }
    if relationship.isManyToMany {
      guard let pair = pairings[relationship], let position = pair.positionColumn else { return nil }
      return Ordering(
        table: pair.table, ownerColumn: pair.sourceColumn, memberColumn: pair.destinationColumn,
        positionColumn: position)
    }
    guard let inverse = relationship.inverseRelationship, let table = tablesByRoot[inverse.entity.rootEntity],
      let owner = table.columnsByProperty[inverse], let position = table.positionsByProperty[inverse]
    else { return nil }
    return Ordering(
      table: table.name, ownerColumn: owner, memberColumn: table.primaryKeyColumn, positionColumn: position)
  }

  /// Column names by table, join tables included.
  package var columnsByTable: [String: [String]] {
    var columns = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.columns.map(\.name)) })
    for table in joinTables {
      columns[table.name] = [table.sourceColumn, table.destinationColumn] + table.positionColumns
    }
    return columns
  }

  /// Names of the columns with positions by table.
  package var positionColumnsByTable: [String: [String]] {
    var columns = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, Array(Set($0.positionsByProperty.values))) })
    for table in joinTables { columns[table.name] = table.positionColumns }
    return columns.filter { !$0.value.isEmpty }
  }

  /// Statements that create everything that doesn't exist yet: tables, then join tables, then indexes.
  package var createStatements: [String] {
    tables.map(\.createStatement) + joinTables.map(\.createStatement) + indexes.map(\.createStatement)
  }
}
