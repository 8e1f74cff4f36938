import ManagedObjects

/// Makes a ``SchemaMap``: first tables, because foreign keys refer to their names, then columns, join tables and indexes.
struct SchemaBuilder<Dialect: SQLDialect> {
  let model: ManagedObjectModel
  /// The roots of the hierarchies that the store holds, in the model's order.
  let roots: [EntityDescription]
  var tables: [TableMap] = []
  var joinTables: [JoinTable] = []
  var pairings: [RelationshipDescription: Pairing] = [:]
  var indexes: [IndexMap] = []
  var warnings: [String] = []
  var foreignKeys: [ForeignKey] = []
  /// Names of tables and indexes, which share a namespace.
  var names: SchemaNames
  private var headers: [EntityDescription: Header] = [:]
  private var rules: SchemaRules { Dialect.rules }

  /// The targets of foreign keys.
  private struct Header {
    let table: String
    let primaryKey: String
    let discriminator: String?
  }

  init(model: ManagedObjectModel, entities: [EntityDescription]) {
    self.model = model
    names = SchemaNames(prefixes: Dialect.rules.reservedPrefixes, maximumLength: Dialect.rules.maximumNameLength)
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
          isUnique: false, condition: nil,
          ordersNulls: rules.ordersNulls, numberColumn: nil))
    }
  }

  private mutating func header(of root: EntityDescription) -> Header {
    let family = root.selfAndDescendants
    var taken = columnNames(family.flatMap { $0.attributes.filter { !$0.isTransient }.map(\.name) })
    let table = names.take(root.name)
    let primaryKey = root.primaryKey?.name ?? taken.take("id")
    return Header(
      table: table, primaryKey: primaryKey, discriminator: family.count > 1 ? taken.take("entity") : nil)
  }

  private mutating func table(of root: EntityDescription) throws(SchemaError) -> TableMap {
    guard let header = headers[root] else { preconditionFailure("every root has a header before its table is made") }
    var columns = TableColumns(header.primaryKey, discriminator: header.discriminator, rules)
    let family = root.selfAndDescendants
    // Attributes get their column names before relationships, whose names have a suffix anyway.
    for entity in family {
      for attribute in entity.attributes where attribute.entity === entity && !attribute.isTransient {
        if attribute === root.primaryKey {
          columns.assign(header.primaryKey, to: attribute)
        } else {
          let type = try Dialect.columnType(attribute)
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
        let (declaration, target) = reference(from: relationship, to: relationship.destinationEntity)
        let wanted = relationship.definition.columnName ?? relationship.name + "_id"
        let column = columns.add(
          relationship, as: wanted, sharedBy: "\(declaration) \(target?.table ?? "")", declaration)
        if let target, let column {
          foreignKeys.append(
            ForeignKey(table: header.table, column: column, target: target.table, targetColumn: target.primaryKey))
        }
        if entity.orderedReferences.contains(relationship) { columns.addPosition(beside: relationship) }
      }
    }
    guard columns.definitions.count <= rules.maximumColumns else {
      throw .tooManyColumns(
        table: header.table, count: columns.definitions.count, limit: rules.maximumColumns, database: rules.database)
    }
    return TableMap(
      name: header.table, rootEntity: root, primaryKeyColumn: header.primaryKey,
      discriminatorColumn: header.discriminator, columns: columns.definitions,
      columnsByProperty: columns.namesByProperty, positionsByProperty: columns.positionsByProperty)
  }

  /// The type of a column with the numbers of `entity`'s rows, for `relationship`, and the table that it refers to.
  private mutating func reference(
    from relationship: RelationshipDescription, to entity: EntityDescription
  ) -> (declaration: String, target: Header?) {
    guard let destination = headers[entity.rootEntity] else {
      warnings.append(
        "\(relationship.entity.name).\(relationship.name) joins \(entity.name), which another store holds: its column "
          + "has no foreign key")
      return (rules.numberType, nil)
    }
    guard rules.declaresForeignKeys else { return (rules.numberType, destination) }
    return ("\(rules.numberType) \(ForeignKey.clause(to: destination.table, destination.primaryKey))", destination)
  }

  private func columnNames(_ taken: [String] = []) -> SchemaNames {
    SchemaNames(taken + rules.reservedColumns, maximumLength: rules.maximumNameLength)
  }

  // MARK: Many-to-many

  private mutating func addJoinTable(for relationship: RelationshipDescription) {
    guard pairings[relationship] == nil else { return }
    let inverse = relationship.inverseRelationship
    func key(_ side: RelationshipDescription) -> String { side.entity.name + side.name }
    let owner = inverse.map { key($0) < key(relationship) ? $0 : relationship } ?? relationship
    var taken = columnNames()
    let sourceColumn = taken.take(owner.entity.name + "_id")
    let ownName = owner.destinationEntity.name + "_id"
    let destinationColumn = taken.take(taken.contains(ownName) ? owner.name + "_id" : ownName)
    let sides = inverse === relationship ? [owner] : [owner, owner.inverseRelationship].compactMap { $0 }
    var positions: [RelationshipDescription: String] = [:]
    for side in sides where side.isOrdered { positions[side] = taken.take(side.name + "_position") }
    let (source, destination) = (
      reference(from: owner, to: owner.entity), reference(from: owner, to: owner.destinationEntity)
    )
    let table = JoinTable(
      name: names.take("\(owner.entity.name)_\(owner.name)"), relationship: owner, sourceColumn: sourceColumn,
      destinationColumn: destinationColumn, sourceReference: source.declaration,
      destinationReference: destination.declaration, positionColumns: sides.compactMap { positions[$0] },
      positionType: rules.numberType, options: rules.joinTableOptions)
    for (column, target) in [(sourceColumn, source.target), (destinationColumn, destination.target)] {
      guard let target else { continue }
      foreignKeys.append(
        ForeignKey(table: table.name, column: column, target: target.table, targetColumn: target.primaryKey))
    }
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
  private let rules: SchemaRules
  /// Columns that properties of siblings can share: by requested name, with the attributes that must be equal.
  private var shareable: [String: (column: String, agreement: String)] = [:]

  init(_ primaryKey: String, discriminator: String?, _ rules: SchemaRules) {
    self.rules = rules
    definitions.append(ColumnDefinition(name: primaryKey, declaration: rules.primaryKey))
    if let discriminator {
      definitions.append(ColumnDefinition(name: discriminator, declaration: "\(rules.markType) NOT NULL"))
    }
    taken = SchemaNames(
      [primaryKey] + (discriminator.map { [$0] } ?? []) + rules.reservedColumns,
      maximumLength: rules.maximumNameLength)
  }

  mutating func assign(_ column: String, to property: PropertyDescription) { namesByProperty[property] = column }

  /// Adds a property's column. Returns its name; nil when the property shares the column of another.
  @discardableResult
  mutating func add(
    _ property: PropertyDescription, as wanted: String, sharedBy agreement: String, _ declaration: String
  ) -> String? {
    let kind = property is RelationshipDescription ? "relationship" : "attribute"
    if let other = shareable["\(kind) \(property.name)"] {
      if other.agreement == agreement {
        namesByProperty[property] = other.column
        return nil
      }
      let column = taken.take("\(property.entity.name)_\(wanted)")
      define(property, column, declaration)
      return column
    }
    let column = taken.take(wanted)
    shareable["\(kind) \(property.name)"] = (column, agreement)
    define(property, column, declaration)
    return column
  }

  /// Adds the column for a row's position among those that refer to the same object.
  mutating func addPosition(beside relationship: RelationshipDescription) {
    guard let foreignKey = namesByProperty[relationship] else { return }
    let column = positions[foreignKey] ?? taken.take(relationship.name + "_position")
    if positions.updateValue(column, forKey: foreignKey) == nil {
      definitions.append(ColumnDefinition(name: column, declaration: rules.numberType))
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
    _ name: String, _ table: TableMap, _ columns: [IndexMap.Column], isUnique: Bool = false, condition: String? = nil,
    sortsPages: Bool = false
  ) {
    let same = indexes.contains { $0.table == table.name && $0.columns == columns && $0.condition == condition }
    guard !same else { return }
    indexes.append(
      IndexMap(
        name: names.take(name), table: table.name, columns: columns, isUnique: isUnique, condition: condition,
        ordersNulls: rules.ordersNulls,
        numberColumn: sortsPages && rules.endsIndexesWithNumber ? table.primaryKeyColumn : nil))
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
    let writer = IndexWriter<Dialect>(schema: SchemaMap(self), entity: entity)
    do {
      let condition = try index.partialPredicateFormat.map { try writer.condition($0) }
      var columns: [IndexMap.Column] = []
      for element in index.elements { columns.append(try writer.column(element, of: table)) }
      // The primary key is the table's own order.
      guard !columns.isEmpty, columns.map(\.name) != [table.primaryKeyColumn] else { return }
      append("\(entity.name)_\(index.name)", table, columns, condition: condition, sortsPages: true)
    } catch {
      warnings.append("\(entity.name)'s index \(index.name) isn't made: \(error)")
    }
  }
}
