package import ManagedObjects

extension CoreDataLayout {
  /// The layout of a new file.
  ///
  /// It is computed only where it is known: not for to-many relationships without an inverse, elements of composites that
  /// share a name, derivations other than a count, nor for indexes over expressions, over a part of the rows, or of R-trees. For such models a store that the app
  /// wrote has to be the template, see ``init(_:of:)``.
  /// - Throws: ``CoreDataFileError/unknownLayout(place:reason:)``.
  package init(of model: ManagedObjectModel) throws(CoreDataFileError) {
    let numbers = CoreDataNaming.newNumbers(model)
    let roots = CoreDataNaming.roots(of: model, numbers)
    let tables = Dictionary(uniqueKeysWithValues: roots.map { ($0, CoreDataName.column($0.name)) })
    let naming = CoreDataNaming(model, numbers: numbers)
    let entities = model.entities.compactMap { entity -> CoreDataSchema.Entity? in
      numbers[entity].map { number in
        CoreDataSchema.Entity(
          number: number, name: entity.name, parent: entity.superentity.flatMap { numbers[$0] } ?? 0)
      }
    }.sorted { $0.number < $1.number }
    self.init(model, CoreDataSchema(entities: entities, columns: [:], items: []))
    for (entity, number) in numbers {
      self.entities[entity] = Entity(
        number: number, parent: entity.superentity.flatMap { numbers[$0] } ?? 0,
        table: tables[entity.rootEntity] ?? CoreDataName.column(entity.rootEntity.name))
    }
    columns = naming.columns
    for (relationship, reference) in naming.references { relationships[relationship] = .toOne(reference) }
    for (relationship, join) in naming.joins { relationships[relationship] = .join(join) }
    for relationship in model.entities.flatMap(\.storedOwnRelationships) where relationship.isToMany {
      guard let inverse = relationship.inverseRelationship else {
        throw .unknownLayout(
          place: "\(relationship.entity.name).\(relationship.name)",
          reason: "leads to several objects and has no inverse")
      }
      if let reference = naming.references[inverse] { relationships[relationship] = .toMany(reference) }
    }
    try refuseSharedElements()
    var statements = CoreDataStatements(self, naming)
    (schema.items, schema.columns) = try statements.all()
  }

  /// Elements of composites have columns of their own names; which of several of one name gets which digit isn't known.
  private func refuseSharedElements() throws(CoreDataFileError) {
    for root in model.entities where root.superentity == nil {
      let stored = root.selfAndDescendants.flatMap(\.storedOwnAttributes)
      for attribute in stored where attribute.name.contains(".") {
        let column = CoreDataName.column(attribute.name)
        guard stored.count(where: { CoreDataName.column($0.name) == column }) == 1 else {
          throw .unknownLayout(
            place: "\(attribute.entity.name).\(attribute.name)",
            reason: "is an element of a composite, and not the only one of its name")
        }
      }
    }
  }
}

/// The statements that make a new file, as a current framework orders and spells them.
struct CoreDataStatements {
  private let layout: CoreDataLayout
  private let naming: CoreDataNaming
  private var items: [CoreDataSchema.Item] = []
  private var columns: [String: [CoreDataSchema.Column]] = [:]

  init(_ layout: CoreDataLayout, _ naming: CoreDataNaming) {
    self.layout = layout
    self.naming = naming
  }

  /// The three tables that every store has.
  private static let fixed = [
    ("Z_PRIMARYKEY", "(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"),
    ("Z_METADATA", "(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)"),
    ("Z_MODELCACHE", "(Z_CONTENT BLOB)"),
  ]

  mutating func all() throws(CoreDataFileError) -> (
    items: [CoreDataSchema.Item], columns: [String: [CoreDataSchema.Column]]
  ) {
    let numbers = layout.entities.mapValues(\.number)
    let roots = CoreDataNaming.roots(of: layout.model, numbers)
    for root in roots {
      guard let table = layout.entities[root]?.table else { continue }
      addTable(table, naming.tableColumns(of: root), key: nil)
      for leader in naming.leaders where leader.entity.rootEntity === root {
        guard let join = naming.joins[leader] else { continue }
        addTable(join.table, naming.joinColumns(leader), key: "\(join.source), \(join.target)")
      }
    }
    for root in roots { try addIndexes(of: root) }
    for entity in layout.numberedEntities.map(\.description) { try addTriggers(of: entity) }
    for (name, definition) in Self.fixed { add("table", name, name, "CREATE TABLE \(name) \(definition)") }
    return (items, columns)
  }

  private mutating func add(_ type: String, _ name: String, _ table: String, _ sql: String) {
    items.append(CoreDataSchema.Item(type: type, name: name, table: table, sql: sql))
  }

  private mutating func addTable(_ name: String, _ columns: [CoreDataSchema.Column], key: String?) {
    var terms = columns.map { "\($0.name) \($0.type)" }
    if let key { terms.append("PRIMARY KEY (\(key))") }
    add("table", name, name, "CREATE TABLE \(name) ( \(terms.joined(separator: ", ")) )")
    self.columns[name] = columns.map { column in
      CoreDataSchema.Column(column.name, column.type == "INTEGER PRIMARY KEY" ? "INTEGER" : column.type)
    }
  }

  // MARK: Indexes

  private mutating func addIndexes(of root: EntityDescription) throws(CoreDataFileError) {
    guard let table = layout.entities[root]?.table else { return }
    let members = naming.members(of: root)
    func addIndex(_ name: String, on table: String, _ columns: String, isUnique: Bool = false) {
      add("index", name, table, "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(table) (\(columns))")
    }
    for relationship in members.flatMap(\.storedOwnRelationships) {
      if let column = naming.references[relationship]?.column {
        addIndex("\(table)_\(column)_INDEX", on: table, column)
      }
    }
    if members.count > 1 { addIndex("\(table)_Z_ENT_INDEX", on: table, "Z_ENT") }
    for entity in members {
      for index in entity.definition.indexes {
        let place = "the index \(index.name) of \(entity.name)"
        guard index.partialPredicateFormat == nil else {
          throw .unknownLayout(place: place, reason: "has a condition")
        }
        var terms: [String] = []
        for element in index.elements {
          guard element.collation != "RTree" else { throw .unknownLayout(place: place, reason: "is an R-tree") }
          guard let name = element.property, let column = column(name, of: entity) else {
            throw .unknownLayout(place: place, reason: "is over something other than a stored property")
          }
          terms.append("\(column) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")")
        }
        addIndex("Z_\(entity.name)_\(index.name)", on: table, terms.joined(separator: ", "))
      }
      for names in entity.definition.uniquenessConstraints {
        let terms = names.compactMap { name in column(name, of: entity).map { "\($0) COLLATE BINARY ASC" } }
        guard terms.count == names.count else { continue }
        addIndex(
          "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))", on: table, terms.joined(separator: ", "),
          isUnique: true)
      }
    }
    for leader in naming.leaders where leader.entity.rootEntity === root {
      guard let join = naming.joins[leader] else { continue }
      addIndex("\(join.table)_\(join.target)_INDEX", on: join.table, "\(join.target), \(join.source)")
    }
  }

  private func column(_ name: String, of entity: EntityDescription) -> String? {
    switch entity.propertiesByName[name] {
    case let attribute as AttributeDescription: naming.columns[attribute]
    case let relationship as RelationshipDescription: naming.references[relationship]?.column
    default: nil
    }
  }

  // MARK: Triggers

  /// Derived attributes are kept by triggers, which tell Core Data by functions that only its own process has.
  private mutating func addTriggers(of entity: EntityDescription) throws(CoreDataFileError) {
    for attribute in entity.storedOwnAttributes {
      guard let expression = attribute.definition.derivationExpression else { continue }
      let parts = expression.split(separator: ".")
      guard parts.count == 2, parts[1] == "@count", entity.superentity == nil,
        let counted = entity.propertiesByName[String(parts[0])] as? RelationshipDescription,
        let reference = counted.inverseRelationship.flatMap({ naming.references[$0] }),
        let table = layout.entities[entity]?.table, let from = layout.entities[counted.destinationEntity]?.table,
        let column = naming.columns[attribute]
      else {
        throw .unknownLayout(
          place: "\(entity.name).\(attribute.name)",
          reason: "is derived by “\(expression)”, whose triggers aren't known")
      }
      addCount(
        Count(
          name: "\(entity.name)_\(attribute.name)", attribute: attribute.name, table: table, column: column, from: from,
          key: reference.column))
    }
  }

  /// What counts the rows of a table that refer to a row.
  private struct Count {
    let name: String
    let attribute: String
    let table: String
    let column: String
    let from: String
    let key: String
  }

  private mutating func addCount(_ count: Count) {
    let (table, column, key) = (count.table, count.column, count.key)
    func tell(_ function: String, _ row: String) -> String {
      "SELECT \(function)('\(table)', Z_ENT, Z_PK, '\(count.attribute)', \(column)) FROM \(table) WHERE Z_PK = \(row);"
    }
    let updated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    func parameter(_ suffix: String, _ event: String, _ row: String, _ value: String) {
      let name = "Z_DA_\(count.from)_\(count.name)_PARAMETER_\(suffix)"
      add(
        "trigger", name, count.from,
        "CREATE TRIGGER \(name) AFTER \(event) ON \(count.from) FOR EACH ROW WHEN (\(row).\(key) NOT NULL) BEGIN "
          + "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(key); \(tell(updated, "\(row).\(key)")) END"
      )
    }
    parameter("INSERT", "INSERT", "NEW", "IFNULL(\(column), 0) + 1")
    parameter("UPDATE_INCREMENT", "UPDATE OF \(key)", "NEW", "\(column) + 1")
    parameter("UPDATE_DECREMENT", "UPDATE OF \(key)", "OLD", "\(column) - 1")
    parameter("DELETE", "DELETE", "OLD", "\(column) - 1")
    let name = "Z_DA_\(table)_\(count.name)_SOURCE_INSERT"
    add(
      "trigger", name, table,
      "CREATE TRIGGER \(name) AFTER INSERT ON \(table) FOR EACH ROW BEGIN UPDATE \(table) SET \(column) = "
        + "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(count.from) WHERE \(key) = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; "
        + "\(tell("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NEW.Z_PK")) END")
  }
}
