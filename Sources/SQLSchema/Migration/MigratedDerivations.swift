package import ManagedObjects

/// Derives, for the rows of a migrated store, the attributes whose derivation has changed. Others keep their values: the time of
/// the last change isn't the time of the migration.
package struct MigratedDerivations<Tables: DerivationKeeper>: DerivationKeeper {
  private var tables: Tables
  private let attributes: Set<AttributeDescription>

  /// Derives the attributes of all rows.
  /// - Parameters:
  ///   - tables: the columns that values are derived from and written to.
  ///   - scope: the scope of an entity's exact IDs.
  ///   - numbers: the numbers of the rows of an entity itself.
  package static func run(
    _ attributes: Set<AttributeDescription>, _ tables: Tables, scope: (EntityDescription) throws -> IDScope,
    numbers: (EntityDescription) throws -> [Int64]
  ) throws {
    guard !attributes.isEmpty else { return }
    var keeper = MigratedDerivations(tables: tables, attributes: attributes)
    let entities = Set(attributes.flatMap { $0.entity.selfAndDescendants }).filter { !$0.isAbstract }
    for entity in entities {
      let exact = try scope(entity)
      let rows = try numbers(entity)
      for start in stride(from: 0, to: rows.count, by: 1000) {
        var write = DerivationWrite()
        for number in rows[start..<min(start + 1000, rows.count)] {
          write.noteRow(ManagedObjectID(scope: exact, number: number))
        }
        _ = try write.finish(StoreChanges(), [], number: { $0.number }, to: &keeper)
      }
    }
  }

  package func id(of row: Int64, in entity: EntityDescription) throws -> ManagedObjectID? {
    try tables.id(of: row, in: entity)
  }
  package func value(of property: PropertyDescription, row: Int64) throws -> Value {
    try tables.value(of: property, row: row)
  }
  package func count(of relationship: RelationshipDescription, owner: Int64) throws -> Int {
    try tables.count(of: relationship, owner: owner)
  }
  package func values(
    of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64
  ) throws -> [Value] { try tables.values(of: attribute, in: relationship, owner: owner) }
  package func owners(holding row: Int64, in relationship: RelationshipDescription) throws -> [Int64] {
    try tables.owners(holding: row, in: relationship)
  }
  package mutating func set(_ value: Value, of attribute: AttributeDescription, row: Int64) throws {
    if attributes.contains(attribute) { try tables.set(value, of: attribute, row: row) }
  }
}

extension TableMigration {
  /// Attributes whose derivation has changed, or that are derived from rows of which some are gone.
  package var derivedAnew: Set<AttributeDescription> {
    let losesRows = sources.contains { !$0.isAbstract && images[$0] == nil }
    var found: Set<AttributeDescription> = []
    for entity in destinations {
      guard let origin = origins[entity] else { continue }
      let mappings = mapping[destination: entity.name]?.attributeMappings ?? []
      for attribute in entity.attributes where attribute.isDerived && !attribute.isTransient {
        let former = mappings.first { $0.name == attribute.name }?.sourceName.flatMap { origin.attributesByName[$0] }
        let expression = attribute.definition.derivationExpression
        let isNow = expression?.hasPrefix("now") == true
        if former?.definition.derivationExpression != expression || (losesRows && !isNow) { found.insert(attribute) }
      }
    }
    return found
  }
}
