import CoreDataStores
import ManagedObjects

/// The queries that read a Core Data store: one for each entity, with a column for each property of the store that an import
/// takes. Where the store keeps a property is said by its ``CoreDataLayout``.
struct CoreDataSelects {
  /// What one entity is read by.
  struct Select {
    var query: String
    /// How the columns become properties, besides what the recipe says.
    var rules: [String: PropertyRule] = [:]
  }

  private let connection: CoreDataReading
  private let layout: CoreDataLayout
  /// What isn't read, and why.
  private(set) var notes: [String] = []

  /// - Parameter model: the store's own model, or one of the same entities where it has none.
  init(_ store: CoreDataStore, _ model: ManagedObjectModel) throws {
    connection = store.connection
    layout = try CoreDataLayout(model, of: store.connection)
  }

  /// The query for the rows of an entity; nil if the store doesn't have it.
  /// - Throws: ``MappingError/badFeed(reason:)`` for what the store has and an import would lose.
  mutating func select(_ target: EntityDescription, _ options: MappingOptions) throws -> Select? {
    let names = [target.name, target.definition.renamingIdentifier].compactMap { $0 }
    let entities = names.compactMap { layout.model.entitiesByName[$0] }
    guard let entity = entities.first(where: { layout.entity($0) != nil }), let placed = layout.entity(entity)
    else { return nil }
    guard Set(layout.schema.columns[placed.table]?.map(\.name) ?? []).isSuperset(of: ["Z_PK", "Z_ENT"]) else {
      throw MappingError.badFeed(
        reason: "the store has no table \(placed.table), which the rows of \(entity.name) would be in")
    }
    var select = Select(query: "")
    var terms: [String] = []
    if let key = CoreDataRowNumbers.attribute(of: target) {
      terms.append("t.\"\(CoreDataRowNumbers.column)\" AS \"\(CoreDataRowNumbers.column)\"")
      select.rules[key.name] = PropertyRule(column: CoreDataRowNumbers.column)
    }
    for attribute in RecordMapping.attributes(of: target) {
      let rule = options.properties[attribute.name] ?? PropertyRule()
      guard select.rules[attribute.name] == nil, rule.constant == nil,
        let own: AttributeDescription = property(rule.column, attribute, of: entity), !own.isTransient,
        let term = try term(of: own, for: attribute)
      else { continue }
      terms.append("\(term) AS \(SQLiteDatabase.quoted(attribute.name))")
      select.rules[attribute.name] = Self.rule(rule, own.type, attribute)
    }
    for relationship in target.relationships where !relationship.definition.isTransient {
      let rule = options.properties[relationship.name]
      guard rule?.constant == nil,
        let own: RelationshipDescription = property(rule?.column, relationship, of: entity), !own.isTransient,
        let term = try term(of: own, for: relationship)
      else { continue }
      terms.append("\(term) AS \(SQLiteDatabase.quoted(relationship.name))")
      var merged = rule ?? PropertyRule()
      merged.column = relationship.name
      merged.key = CoreDataRowNumbers.attribute(of: relationship.destinationEntity)?.name
      if relationship.isToMany { merged.separator = " " }
      select.rules[relationship.name] = merged
    }
    guard !terms.isEmpty else { return nil }
    select.query =
      "SELECT \(terms.joined(separator: ", ")) FROM \(SQLiteDatabase.quoted(placed.table)) AS t "
      + "WHERE t.\"Z_ENT\" = \(placed.number) ORDER BY t.\"Z_PK\""
    return select
  }

  /// The property of the store's entity that has the first of these names: a recipe's, the target's, and its former one.
  private func property<Property: PropertyDescription>(
    _ column: String?, _ target: Property, of entity: EntityDescription
  ) -> Property? {
    for name in [column, target.name, target.renamingIdentifier].compactMap({ $0 }) {
      if let found = entity.propertiesByName[name] as? Property { return found }
    }
    return nil
  }

  private static func rule(_ rule: PropertyRule, _ type: AttributeType, _ target: AttributeDescription) -> PropertyRule
  {
    var rule = rule
    rule.column = target.name
    if type == .date, target.type == .date { rule.dateFormat = "UnixTime" }
    if target.type == .binaryData { rule.binaryEncoding = .base64 }
    return rule
  }

  /// How the columns of an entity's reject file become properties: as those of the query did.
  static func rules(ofRejectsOf target: EntityDescription, _ options: MappingOptions) -> [String: PropertyRule] {
    var rules: [String: PropertyRule] = [:]
    let key = CoreDataRowNumbers.attribute(of: target)?.name
    for attribute in RecordMapping.attributes(of: target) {
      let given = options.properties[attribute.name] ?? PropertyRule()
      if attribute.name == key {
        rules[attribute.name] = PropertyRule(column: CoreDataRowNumbers.column)
      } else if given.constant == nil {
        rules[attribute.name] = rule(given, attribute.type, attribute)
      }
    }
    for relationship in target.relationships where !relationship.definition.isTransient {
      var rule = options.properties[relationship.name] ?? PropertyRule()
      guard rule.constant == nil, let key = CoreDataRowNumbers.attribute(of: relationship.destinationEntity)
      else { continue }
      rule.column = relationship.name
      rule.key = key.name
      if relationship.isToMany { rule.separator = " " }
      rules[relationship.name] = rule
    }
    return rules
  }

  /// Notes what isn't read.
  /// - Throws: ``MappingError/badFeed(reason:)`` for what could be read from several places.
  private mutating func note(_ property: PropertyDescription, isLost: Bool = false) throws {
    guard let problem = layout.problems[property] else {
      notes.append("\(property.entity.name).\(property.name) isn't read: the store doesn't keep it")
      return
    }
    if problem.isAmbiguous || isLost { throw MappingError.badFeed(reason: "\(problem.place): \(problem.reason)") }
    notes.append("\(problem.place) isn't read: \(problem.reason)")
  }

  // MARK: Attributes

  /// The value of an attribute's column; nil, after a note, if it can't be taken.
  private mutating func term(of own: AttributeDescription, for target: AttributeDescription) throws -> String? {
    let place = "\(own.entity.name).\(own.name)"
    guard let column = layout.column(of: own) else {
      try note(own)
      return nil
    }
    var value = "t.\(SQLiteDatabase.quoted(column))"
    if own.definition.allowsExternalBinaryDataStorage {
      value =
        "CASE substr(\(value), 1, 1) WHEN x'01' THEN substr(\(value), 2) "
        + "WHEN x'02' THEN \(CoreDataFileValues.function)(\(value)) ELSE \(value) END"
    }
    switch own.type {
    case .date where target.type == .date: return "\(value) + 978307200.0"
    // Core Data stores a double, which differs from the decimal it was in the last digits.
    case .decimal: return "CASE typeof(\(value)) WHEN 'real' THEN printf('%.15g', \(value)) ELSE \(value) END"
    case .uuid:
      let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(hex(\(value)), \($0.0), \($0.1))" }
      return "CASE typeof(\(value)) WHEN 'blob' THEN \(parts.joined(separator: " || '-' || ")) ELSE \(value) END"
    case .transformable, .objectID, .undefined:
      if target.type == .binaryData { return value }
      notes.append(
        "\(place) isn't read: it is \(own.type.rawValue), whose bytes only an attribute of type Binary takes")
      return nil
    default: return value
    }
  }

  // MARK: Relationships

  /// The row number of a related object, or several with spaces between; nil where the other end says it.
  private mutating func term(of own: RelationshipDescription, for target: RelationshipDescription) throws -> String? {
    let place = "\(own.entity.name).\(own.name)"
    guard CoreDataRowNumbers.attribute(of: target.destinationEntity) != nil else {
      notes.append(
        "\(place) isn't read: \(target.destinationEntity.name) has no attribute for row numbers, which "
          + "“ladectl model convert --row-numbers” adds")
      return nil
    }
    let inverse = own.inverseRelationship
    let leads =
      (own.entity.name, own.name) <= (own.destinationEntity.name, inverse?.name ?? "")
    switch layout.place(of: own) {
    case nil:
      // The other end of a set may well be there; a pair isn't anywhere else.
      try note(own, isLost: inverse?.isManyToMany == true)
      return nil
    case .toOne(let reference):
      // Both ends of a one-to-one relationship have a column, and both are set.
      return "t.\(SQLiteDatabase.quoted(reference.column))"
    case .toMany(let reference):
      return own.isOrdered ? try ordered(own, reference) : nil
    case .join(let join):
      guard let inverse else { return nil }
      if own.isOrdered == inverse.isOrdered ? !own.isOrdered && !leads : !own.isOrdered { return nil }
      let target = "c.\(SQLiteDatabase.quoted(join.target))"
      return list(target, join.table, join.source, join.order.map { "c.\(SQLiteDatabase.quoted($0))" } ?? target)
    }
  }

  /// The rows of an ordered relationship whose inverse is to-one: its foreign keys, by the order beside them.
  private mutating func ordered(
    _ own: RelationshipDescription, _ reference: CoreDataLayout.Reference
  ) throws -> String? {
    guard let order = reference.orderColumn, let child = layout.entity(own.destinationEntity) else {
      try note(own)
      return nil
    }
    return list("c.\"Z_PK\"", child.table, reference.column, "c.\(SQLiteDatabase.quoted(order))")
  }

  private func list(_ value: String, _ table: String, _ key: String, _ order: String) -> String {
    "(SELECT group_concat(k, ' ') FROM (SELECT \(value) AS k FROM \(SQLiteDatabase.quoted(table)) AS c "
      + "WHERE c.\(SQLiteDatabase.quoted(key)) = t.\"Z_PK\" ORDER BY \(order)))"
  }
}
