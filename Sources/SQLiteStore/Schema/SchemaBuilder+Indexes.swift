import ManagedObjects

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
