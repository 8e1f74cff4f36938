import CoreDataStores
import Foundation
import GRDB
import ManagedObjects
import SQLSchema

/// The tables of a Core Data store as the store in place needs them: where a model's properties are, and Core Data's
/// bookkeeping.
struct CoreDataTables: Sendable {
  /// A to-one relationship's second column, which names the entity of the row that it leads to, and that row's table.
  struct EntityColumn: Sendable {
    let column: String
    let reference: String
    let target: String
  }

  let schema: SchemaMap
  /// The number of each entity of the model.
  let numbers: [EntityDescription: Int64]
  /// The number of the row in `Z_PRIMARYKEY` whose `Z_MAX` counts an entity's rows: the root's.
  let counters: [EntityDescription: Int64]
  /// The second columns of references, by entity.
  let entityColumns: [EntityDescription: [EntityColumn]]
  /// nil for a file without history.
  let history: CoreDataHistoryTables?

  /// - Throws: ``CoreDataStoreError`` for what a Core Data store doesn't have, and for what the file has elsewhere.
  init(_ db: Database, _ model: ManagedObjectModel, _ held: [EntityDescription], path: String) throws {
    let layout = try CoreDataLayout(model, of: CoreDataFile(db))
    try Self.check(held, layout, path: path)
    let byNumber = Dictionary(layout.schema.entities.map { ($0.number, $0) }) { first, _ in first }
    var (numbers, counters): ([EntityDescription: Int64], [EntityDescription: Int64]) = ([:], [:])
    for (description, entity) in layout.numberedEntities {
      numbers[description] = entity.number
      var (root, seen): (Int64, Set<Int64>) = (entity.number, [])
      while let parent = byNumber[root]?.parent, byNumber[parent] != nil, seen.insert(root).inserted { root = parent }
      counters[description] = root
    }
    var entityColumns: [EntityDescription: [EntityColumn]] = [:]
    var (tables, pairings): ([TableMap], [RelationshipDescription: Pairing]) = ([], [:])
    var seen: Set<EntityDescription> = []
    for root in held.compactMap(\.rootEntity) where seen.insert(root).inserted {
      var (columns, positions): ([PropertyDescription: String], [PropertyDescription: String]) = ([:], [:])
      for entity in root.selfAndDescendants {
        for attribute in entity.attributes { columns[attribute] = layout.column(of: attribute) }
        for relationship in entity.relationships {
          switch layout.place(of: relationship) {
          case .toOne(let reference)?:
            columns[relationship] = reference.column
            positions[relationship] = reference.orderColumn
            if let column = reference.entityColumn, let target = layout.entity(relationship.destinationEntity)?.table {
              entityColumns[entity, default: []].append(
                EntityColumn(column: column, reference: reference.column, target: target))
            }
          case .join(let join)?:
            pairings[relationship] = Pairing(
              table: join.table, sourceColumn: join.source, destinationColumn: join.target, positionColumn: join.order)
          case .toMany?, nil: break
          }
        }
      }
      guard let table = layout.entity(root)?.table else { continue }
      tables.append(
        TableMap(
          name: table, rootEntity: root, primaryKeyColumn: "Z_PK", discriminatorColumn: "Z_ENT",
          columns: (layout.schema.columns[table] ?? []).map { ColumnDefinition(name: $0.name, declaration: $0.type) },
          columnsByProperty: columns, positionsByProperty: positions))
    }
    schema = SchemaMap(coreData: tables, pairings, numbers)
    (self.numbers, self.counters, self.entityColumns) = (numbers, counters, entityColumns)
    history = try CoreDataHistoryTables(db)
  }

  private static func check(_ held: [EntityDescription], _ layout: CoreDataLayout, path: String) throws {
    func unsupported(_ place: String, _ reason: String) -> CoreDataStoreError {
      .unsupported(path: path, place: place, reason: reason)
    }
    var differences: [String] = []
    for entity in held {
      if let key = entity.primaryKey {
        throw unsupported(
          "\(entity.name).\(key.name)", "numbers the rows, which Core Data does itself: leave the primary key out")
      }
      if layout.entity(entity) == nil { differences.append("the file has no entity \(entity.name)") }
      for attribute in entity.attributes
      where !attribute.isTransient && [.undefined, .objectID, .composite].contains(attribute.type) {
        throw unsupported("\(entity.name).\(attribute.name)", "is \(attribute.type.rawValue), which has no column")
      }
      for relationship in entity.relationships
      where relationship.isToMany && relationship.inverseRelationship == nil && !relationship.isTransient {
        throw unsupported(
          "\(entity.name).\(relationship.name)",
          "leads to several objects and has no inverse, and how Core Data keeps it isn't known: give it an inverse in "
            + "the app's model")
      }
      for relationship in entity.relationships
      where !relationship.isUnstored && relationship.isToMany && relationship.isOrdered {
        switch layout.place(of: relationship) {
        case .join(let join)? where join.order == nil: differences.append(noOrder(relationship, join.table))
        default: break
        }
      }
    }
    for problem in layout.problems.values.sorted(by: { $0.place < $1.place }) {
      if problem.isAmbiguous {
        throw CoreDataStoreError.ambiguous(path: path, place: problem.place, reason: problem.reason)
      }
      differences.append("\(problem.place): \(problem.reason)")
    }
    guard differences.isEmpty else { throw CoreDataStoreError.otherModel(path: path, differences: differences) }
  }

  private static func noOrder(_ relationship: RelationshipDescription, _ table: String) -> String {
    "\(table) has no column for the order of \(relationship.entity.name).\(relationship.name)"
  }
}

/// A Core Data store's file on a connection of GRDB.
struct CoreDataFile: CoreDataConnection {
  private let db: Database

  init(_ db: Database) { self.db = db }

  func rows(_ sql: String) throws -> [[Value]] {
    try Row.fetchAll(db, sql: sql).map { row in
      row.databaseValues.map { value in
        switch value.storage {
        case .null: .null
        case .int64(let number): .int(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .blob(let data): .data(data)
        }
      }
    }
  }

  func declaredColumns(of table: String) throws -> [CoreDataSchema.Column] {
    try db.columns(in: table).map { CoreDataSchema.Column($0.name, $0.type) }
  }
}
