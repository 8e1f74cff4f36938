import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// Derives, for the rows of a migrated file, the attributes whose derivation has changed. Others keep their values: the time of
/// the last change isn't the time of the migration.
struct MigratedDerivations: DerivationKeeper {
  private var tables: DerivedTables
  private let attributes: Set<AttributeDescription>

  /// Derives the attributes of all rows, within the transaction of `db`.
  static func run(_ attributes: Set<AttributeDescription>, of store: SQLiteStore, _ db: Database) throws {
    guard !attributes.isEmpty else { return }
    var keeper = MigratedDerivations(tables: DerivedTables(db: db, tables: store.tables), attributes: attributes)
    let entities = Set(attributes.flatMap { $0.entity.selfAndDescendants }).filter { !$0.isAbstract }
    for entity in entities {
      let layout = try store.layout(of: entity)
      var sql = "SELECT \(layout.keyColumn.quotedName) FROM \(layout.table.quotedName)"
      if let column = layout.entityColumn { sql += " WHERE \(column.quotedName) = \(SQLText.literal(entity.name))" }
      let numbers = try Int64.fetchAll(db, sql: sql)
      for part in numbers.chunked(by: 1000) {
        var write = DerivationWrite()
        for number in part { write.noteRow(ManagedObjectID(scope: layout.scope, number: number)) }
        _ = try write.finish(StoreChanges(), [], number: { $0.number }, to: &keeper)
      }
    }
  }

  func id(of row: Int64, in entity: EntityDescription) throws -> ManagedObjectID? { try tables.id(of: row, in: entity) }
  func value(of property: PropertyDescription, row: Int64) throws -> Value { try tables.value(of: property, row: row) }
  func count(of relationship: RelationshipDescription, owner: Int64) throws -> Int {
    try tables.count(of: relationship, owner: owner)
  }
  func values(
    of attribute: AttributeDescription, in relationship: RelationshipDescription, owner: Int64
  ) throws -> [Value] { try tables.values(of: attribute, in: relationship, owner: owner) }
  func owners(holding row: Int64, in relationship: RelationshipDescription) throws -> [Int64] {
    try tables.owners(holding: row, in: relationship)
  }
  mutating func set(_ value: Value, of attribute: AttributeDescription, row: Int64) throws {
    if attributes.contains(attribute) { try tables.set(value, of: attribute, row: row) }
  }
}

extension TableMigration {
  /// Attributes whose derivation has changed, or that are derived from rows of which some are gone.
  var derivedAnew: Set<AttributeDescription> {
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
