import ManagedObjects

/// Makes a ``SchemaMap``: first tables, because foreign keys refer to their names, then columns, join tables and indexes.
struct SchemaBuilder {
  let model: ManagedObjectModel
  /// The roots of the hierarchies that the store holds, in the model's order.
  let roots: [EntityDescription]
  var tables: [TableMap] = []
  var joinTables: [JoinTable] = []
  var pairings: [RelationshipDescription: Pairing] = [:]
  var indexes: [IndexMap] = []
  var warnings: [String] = []
  /// Names of tables and indexes, which share a namespace in SQLite.
  var names = SchemaNames()
  private var headers: [EntityDescription: Header] = [:]

  /// The targets of foreign keys.
  private struct Header {
    let table: String
    let primaryKey: String
    let discriminator: String?
  }

  init(model: ManagedObjectModel, entities: [EntityDescription]) {
    self.model = model
    let held = Set(entities.map(\.rootEntity))
    roots = model.entities.filter { $0.rootEntity === $0 && held.contains($0) }
  }

  mutating func build() throws(SchemaError) {
    for root in roots { headers[root] = header(of: root) }
    for root in roots { tables.append(try table(of: root)) }
    for root in roots {
      for entity in root.selfAndDescendants {
        for relationship in entity.relationships
        where relationship.entity === entity && relationship.isManyToMany && !relationship.isUnstored {
          addJoinTable(for: relationship)
        }
      }
    }
    for table in tables { addIndexes(to: table) }
    for table in joinTables {
      let columns = [table.destinationColumn, table.sourceColumn].map { IndexMap.Column(name: $0, isAscending: true) }
      indexes.append(
        IndexMap(
          name: names.take("\(table.name)_\(table.destinationColumn)"), table: table.name, columns: columns,
          isUnique: false, condition: nil))
    }
  }

  private mutating func header(of root: EntityDescription) -> Header {
    let family = root.selfAndDescendants
    var taken = SchemaNames(family.flatMap { $0.attributes.filter { !$0.isTransient }.map(\.name) })
    let table = names.take(root.name)
    let primaryKey = root.primaryKey?.name ?? taken.take("id")
    return Header(
      table: table, primaryKey: primaryKey, discriminator: family.count > 1 ? taken.take("entity") : nil)
  }

  private mutating func table(of root: EntityDescription) throws(SchemaError) -> TableMap {
    guard let header = headers[root] else { preconditionFailure("every root has a header before its table is made") }
    var columns = TableColumns(header.primaryKey, discriminator: header.discriminator)
    let family = root.selfAndDescendants
    // Attributes get their column names before relationships, whose names have a suffix anyway.
    for entity in family {
      for attribute in entity.attributes where attribute.entity === entity && !attribute.isTransient {
        if attribute === root.primaryKey {
          columns.assign(header.primaryKey, to: attribute)
        } else {
          let type = try ColumnType.declared(attribute)
          let isRequired = entity === root && !attribute.isOptional && !attribute.isDerived
          columns.add(
            attribute, as: String(attribute.name.map { $0 == "." ? "_" : $0 }), sharedBy: "\(type)/\(attribute.type)",
            isRequired ? "\(type) NOT NULL" : type
          )
        }
      }
    }
    for entity in family {
      for relationship in entity.relationships
      where relationship.entity === entity && !relationship.isToMany && !relationship.isTransient {
        let declaration = reference(from: relationship, to: relationship.destinationEntity)
        let wanted = relationship.definition.columnName ?? relationship.name + "_id"
        columns.add(relationship, as: wanted, sharedBy: declaration, declaration)
        if entity.orderedReferences.contains(relationship) { columns.addPosition(beside: relationship) }
      }
    }
    guard columns.definitions.count <= SchemaMap.maximumColumns else {
      throw .tooManyColumns(table: header.table, count: columns.definitions.count)
    }
    return TableMap(
      name: header.table, rootEntity: root, primaryKeyColumn: header.primaryKey,
      discriminatorColumn: header.discriminator, columns: columns.definitions,
      columnsByProperty: columns.namesByProperty, positionsByProperty: columns.positionsByProperty)
  }

  /// The type of a column with the numbers of `entity`'s rows, for `relationship`.
  private mutating func reference(from relationship: RelationshipDescription, to entity: EntityDescription) -> String {
    guard let destination = headers[entity.rootEntity] else {
      warnings.append(
        "\(relationship.entity.name).\(relationship.name) joins \(entity.name), which another store holds: its column "
          + "has no foreign key")
      return "INTEGER"
    }
    return "INTEGER " + ForeignKey.clause(to: destination.table, destination.primaryKey)
  }

  // MARK: Many-to-many

  private mutating func addJoinTable(for relationship: RelationshipDescription) {
    guard pairings[relationship] == nil else { return }
    let inverse = relationship.inverseRelationship
    func key(_ side: RelationshipDescription) -> String { side.entity.name + side.name }
    let owner = inverse.map { key($0) < key(relationship) ? $0 : relationship } ?? relationship
    var taken = SchemaNames()
    let sourceColumn = taken.take(owner.entity.name + "_id")
    let ownName = owner.destinationEntity.name + "_id"
    let destinationColumn = taken.take(taken.contains(ownName) ? owner.name + "_id" : ownName)
    let sides = inverse === relationship ? [owner] : [owner, owner.inverseRelationship].compactMap { $0 }
    var positions: [RelationshipDescription: String] = [:]
    for side in sides where side.isOrdered { positions[side] = taken.take(side.name + "_position") }
    let table = JoinTable(
      name: names.take("\(owner.entity.name)_\(owner.name)"), relationship: owner, sourceColumn: sourceColumn,
      destinationColumn: destinationColumn, sourceReference: reference(from: owner, to: owner.entity),
      destinationReference: reference(from: owner, to: owner.destinationEntity),
      positionColumns: sides.compactMap { positions[$0] })
    joinTables.append(table)
    if let inverse = owner.inverseRelationship {
      pairings[inverse] = Pairing(
        table: table.name, sourceColumn: destinationColumn, destinationColumn: sourceColumn,
        positionColumn: positions[inverse])
    }
    // Last, so that a relationship that is its own inverse keeps the forward direction.
    pairings[owner] = Pairing(
      table: table.name, sourceColumn: sourceColumn, destinationColumn: destinationColumn,
      positionColumn: positions[owner])
  }
}

/// The columns of one table while it is built.
private struct TableColumns {
  private(set) var definitions: [ColumnDefinition] = []
  private(set) var namesByProperty: [PropertyDescription: String] = [:]
  private(set) var positionsByProperty: [PropertyDescription: String] = [:]
  /// The position column of each foreign key: siblings that share the key share it too.
  private var positions: [String: String] = [:]
  private var taken: SchemaNames
  /// Columns that properties of siblings can share: by requested name, with the attributes that must be equal.
  private var shareable: [String: (column: String, agreement: String)] = [:]

  init(_ primaryKey: String, discriminator: String?) {
    definitions.append(ColumnDefinition(name: primaryKey, declaration: "INTEGER PRIMARY KEY"))
    if let discriminator { definitions.append(ColumnDefinition(name: discriminator, declaration: "TEXT NOT NULL")) }
    taken = SchemaNames([primaryKey] + (discriminator.map { [$0] } ?? []))
  }

  mutating func assign(_ column: String, to property: PropertyDescription) { namesByProperty[property] = column }

  mutating func add(
    _ property: PropertyDescription, as wanted: String, sharedBy agreement: String, _ declaration: String
  ) {
    let kind = property is RelationshipDescription ? "relationship" : "attribute"
    if let other = shareable["\(kind) \(property.name)"] {
      if other.agreement == agreement {
        namesByProperty[property] = other.column
      } else {
        define(property, taken.take("\(property.entity.name)_\(wanted)"), declaration)
      }
      return
    }
    let column = taken.take(wanted)
    shareable["\(kind) \(property.name)"] = (column, agreement)
    define(property, column, declaration)
  }

  /// Adds the column for a row's position among those that refer to the same object.
  mutating func addPosition(beside relationship: RelationshipDescription) {
    guard let foreignKey = namesByProperty[relationship] else { return }
    let column = positions[foreignKey] ?? taken.take(relationship.name + "_position")
    if positions.updateValue(column, forKey: foreignKey) == nil {
      definitions.append(ColumnDefinition(name: column, declaration: "INTEGER"))
    }
    positionsByProperty[relationship] = column
  }

  private mutating func define(_ property: PropertyDescription, _ column: String, _ declaration: String) {
    definitions.append(ColumnDefinition(name: column, declaration: declaration))
    namesByProperty[property] = column
  }
}

extension SchemaBuilder {
  /// Unique indexes for the constraints, then the model's own indexes, then one for each to-one column that none of
  /// these begins with: foreign keys are looked up from their other end.
  mutating func addIndexes(to table: TableMap) {
    for entity in table.rootEntity.selfAndDescendants {
      for names in uniqueGroups(of: entity) { addUnique(names, of: entity, to: table) }
    }
    for entity in table.rootEntity.selfAndDescendants {
      for index in entity.definition.indexes { add(index, of: entity, to: table) }
    }
    for entity in table.rootEntity.selfAndDescendants {
      for relationship in entity.relationships where relationship.entity === entity {
        guard let column = table.columnsByProperty[relationship] else { continue }
        let begins = indexes.contains { $0.table == table.name && $0.condition == nil && $0.columns[0].name == column }
        guard !begins else { continue }
        let columns = [column] + (table.positionsByProperty[relationship].map { [$0] } ?? [])
        append(
          "\(table.name)_\(columns.joined(separator: "_"))", table, columns.map { .init(name: $0, isAscending: true) })
      }
    }
  }

  private mutating func append(
    _ name: String, _ table: TableMap, _ columns: [IndexMap.Column], isUnique: Bool = false, condition: String? = nil
  ) {
    let same = indexes.contains { $0.table == table.name && $0.columns == columns && $0.condition == condition }
    guard !same else { return }
    indexes.append(
      IndexMap(name: names.take(name), table: table.name, columns: columns, isUnique: isUnique, condition: condition))
  }

  /// The constraints that `entity` declares itself.
  private func uniqueGroups(of entity: EntityDescription) -> [[AttributeDescription]] {
    let inherited = entity.superentity?.uniquenessConstraints ?? []
    return entity.uniquenessConstraints.filter { !inherited.contains($0) && $0 != entity.primaryKey.map { [$0] } }
  }

  private mutating func addUnique(
    _ attributes: [AttributeDescription], of entity: EntityDescription, to table: TableMap
  ) {
    let columns = attributes.compactMap { table.columnsByProperty[$0] }
    guard columns.count == attributes.count else {
      warnings.append("\(entity.name)'s uniqueness constraint names a transient attribute, and isn't kept by the table")
      return
    }
    append(
      "\(entity.name)_\(columns.joined(separator: "_"))_unique", table,
      columns.map { .init(name: $0, isAscending: true) }, isUnique: true,
      condition: restriction(to: entity, columns, in: table))
  }

  /// The condition that excludes other entities' rows from a subentity's constraint; nil when they are excluded anyway,
  /// because they have NULL in a column that only this entity uses.
  private func restriction(to entity: EntityDescription, _ columns: [String], in table: TableMap) -> String? {
    guard entity !== table.rootEntity, let discriminator = table.discriminatorColumn else { return nil }
    let family = Set(entity.selfAndDescendants)
    let usedByOthers = columns.allSatisfy { column in
      table.columnsByProperty.contains { $0.value == column && !family.contains($0.key.entity) }
    }
    guard usedByOthers else { return nil }
    let names = entity.selfAndDescendants.map { SQLText.literal($0.name) }.joined(separator: ", ")
    return "\(SQLText.name(discriminator)) IN (\(names))"
  }

  private mutating func add(_ index: FetchIndexDefinition, of entity: EntityDescription, to table: TableMap) {
    let writer = IndexWriter(schema: SchemaMap(self), entity: entity)
    do {
      let condition = try index.partialPredicateFormat.map { try writer.condition($0) }
      var columns: [IndexMap.Column] = []
      for element in index.elements { columns.append(try writer.column(element, of: table)) }
      // The primary key is the table's own order.
      guard !columns.isEmpty, columns.map(\.name) != [table.primaryKeyColumn] else { return }
      append("\(entity.name)_\(index.name)", table, columns, condition: condition)
    } catch {
      warnings.append("\(entity.name)'s index \(index.name) isn't made: \(error)")
    }
  }
}

/// Why a model can't be stored in SQLite's tables.
public enum SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Attributes of a type that has no column: undefined ones that aren't transient, and composites without elements.
  case unsupportedAttribute(entity: String, attribute: String, type: String)
  /// A table would have more columns than SQLite allows.
  case tooManyColumns(table: String, count: Int)

  /// What can't be stored, and what to do.
  public var description: String {
    switch self {
    case .unsupportedAttribute(let entity, let attribute, let type):
      return
        "\(entity).\(attribute) is \(type), which has no column in SQLite: give it another type or make it transient"
    case .tooManyColumns(let table, let count):
      return
        "\(table) would be a table of \(count) columns, and SQLite's have at most \(SchemaMap.maximumColumns): leave "
        + "attributes out of the model, or move some to an entity of their own"
    }
  }
}
