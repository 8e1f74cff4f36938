extension MemoryTables: DerivationKeeper {
  func id(of row: Int64, in entity: EntityDescription) -> ManagedObjectID? {
    rows[entity.rootEntity.index]?[row]?.id
  }

  func value(of property: PropertyDescription, row: Int64) -> Value {
    guard let row = rows[property.entity.rootEntity.index]?[row], row.id.entity.isKindOf(property.entity) else {
      return .null
    }
    return row.values[property.slot]
  }

  func count(of relationship: RelationshipDescription, owner: Int64) -> Int { held(by: relationship, owner).count }

  func values(of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64) -> [Value] {
    held(by: relationship, owner).map(\.number).sorted().map { value(of: attribute, row: $0) }
  }

  func owners(holding row: Int64, in relationship: RelationshipDescription) -> [Int64] {
    referring(to: row, by: relationship).map(\.number)
  }

  mutating func set(_ value: Value, of attribute: AttributeDescription, row: Int64) {
    guard var row = rows[attribute.entity.rootEntity.index]?[row] else { return }
    row.values[attribute.slot] = value
    put(row)
  }
}
