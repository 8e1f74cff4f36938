import ManagedObjects

/// The queries that read a Core Data store: one for each entity, with a column for each property of the store that an import
/// takes.
///
/// - A row belongs to one entity by `Z_ENT`, whose numbers come from `Z_PRIMARYKEY`.
/// - A column is `Z` and the property's name. Siblings with a property of the same name have columns with digits behind it: the
///   one that has values in the entity's rows is the entity's, since the others are empty there.
/// - A join table is found by its columns: `Z_<number><RELATIONSHIP>` for each end, where the number is that of the entity
///   whose rows it names. The name of the table differs between versions of a model.
/// - Dates are seconds since 2001, UUIDs have 16 bytes.
struct CoreDataSelects {
  /// What one entity is read by.
  struct Select {
    var query: String
    /// How the columns become properties, besides what the recipe says.
    var rules: [String: PropertyRule] = [:]
  }

  private let store: CoreDataStore
  /// The entities of the store's model, by name.
  private let definitions: [String: EntityDefinition]
  /// The store's entities, by their names in the model.
  private let entities: [String: CoreDataStore.Entity]
  /// What isn't read, and why.
  private(set) var notes: [String] = []

  /// - Parameter definitions: the store's own model, or one of the same entities where it has none.
  init(_ store: CoreDataStore, _ definitions: [EntityDefinition]) {
    self.store = store
    self.definitions = Dictionary(definitions.map { ($0.name, $0) }) { first, _ in first }
    var entities = store.entities
    // A store may have been migrated without its list of entities getting a new name.
    for definition in definitions where store.entities[definition.name] == nil {
      guard let former = definition.renamingIdentifier, self.definitions[former] == nil,
        let found = store.entities[former]
      else { continue }
      entities[definition.name] = CoreDataStore.Entity(
        number: found.number, name: definition.name, parent: found.parent)
    }
    self.entities = entities
  }

  /// The query for the rows of an entity; nil if the store doesn't have it.
  /// - Throws: ``MappingError/badFeed(reason:)`` for what the store has and an import would lose.
  mutating func select(_ target: EntityDescription, _ options: MappingOptions) throws -> Select? {
    guard let entity = entities[target.name] ?? target.definition.renamingIdentifier.flatMap({ entities[$0] })
    else { return nil }
    let table = try table(of: entity.name)
    var select = Select(query: "")
    var terms: [String] = []
    if let key = CoreDataRowNumbers.attribute(of: target) {
      terms.append("t.\"\(CoreDataRowNumbers.column)\" AS \"\(CoreDataRowNumbers.column)\"")
      select.rules[key.name] = PropertyRule(column: CoreDataRowNumbers.column)
    }
    for attribute in RecordMapping.attributes(of: target) {
      let rule = options.properties[attribute.name] ?? PropertyRule()
      guard select.rules[attribute.name] == nil, rule.constant == nil,
        let own = property(rule.column, attribute.name, attribute.definition.renamingIdentifier, of: entity.name)
      else { continue }
      guard let term = try term(of: own, for: attribute, entity, table) else { continue }
      terms.append("\(term) AS \(SQLiteDatabase.quoted(attribute.name))")
      select.rules[attribute.name] = Self.rule(rule, own.attribute.type, attribute)
    }
    for relationship in target.relationships where !relationship.definition.isTransient {
      let rule = options.properties[relationship.name]
      guard rule?.constant == nil,
        let (own, owner) = relationshipOfStore(rule?.column, relationship, of: entity.name),
        let term = try term(of: own, owner, for: relationship, entity, table)
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
      "SELECT \(terms.joined(separator: ", ")) FROM \(SQLiteDatabase.quoted(table)) AS t "
      + "WHERE t.\"Z_ENT\" = \(entity.number) ORDER BY t.\"Z_PK\""
    return select
  }

  private static func rule(_ rule: PropertyRule, _ type: AttributeType, _ target: AttributeDescription) -> PropertyRule
  {
    var rule = rule
    rule.column = target.name
    if type == .date, target.type == .date { rule.dateFormat = "UnixTime" }
    if target.type == .binaryData { rule.binaryEncoding = .base64 }
    return rule
  }

  // MARK: Attributes

  /// An attribute of the store, and the name of its column without digits.
  private struct OwnAttribute {
    let attribute: AttributeDefinition
    let owner: String
    let columns: [String]
  }

  /// The attribute of the store's entity that has the first of these names; an element of a composite is `address.city`.
  private func property(_ column: String?, _ name: String, _ former: String?, of entity: String) -> OwnAttribute? {
    for wanted in [column, name, former].compactMap({ $0 }) {
      let names = wanted.split(separator: ".").map(String.init)
      for owner in ancestry(of: entity) {
        guard let first = names.first, var found = definitions[owner]?.attributes.first(where: { $0.name == first })
        else { continue }
        var isThere = true
        for name in names.dropFirst() {
          guard let element = found.compositeElements.first(where: { $0.name == name }) else {
            isThere = false
            break
          }
          found = element
        }
        guard isThere, !found.isTransient, found.type != .composite else { continue }
        let columns = [names.joined(separator: "_"), names.joined()].map { "Z" + $0.uppercased() }
        return OwnAttribute(attribute: found, owner: owner, columns: names.count == 1 ? [columns[0]] : columns)
      }
    }
    return nil
  }

  /// The value of an attribute's column; nil, after a note, if it can't be taken.
  private mutating func term(
    of own: OwnAttribute, for target: AttributeDescription, _ entity: CoreDataStore.Entity, _ table: String
  ) throws -> String? {
    let place = "\(entity.name).\(own.attribute.name)"
    var found: String?
    for column in own.columns where found == nil { found = try self.column(column, own.attribute.name, entity, table) }
    guard let column = found else {
      notes.append("\(place) isn't read: the table \(table) has no column \(own.columns[0]) for it")
      return nil
    }
    if own.attribute.allowsExternalBinaryDataStorage, try store.hasValues(column, of: entity, in: table) {
      throw MappingError.badFeed(
        reason: "\(place) may be kept in files beside the store, which aren't read: leave the attribute out of the "
          + "importing store's model")
    }
    let value = "t.\(SQLiteDatabase.quoted(column))"
    switch own.attribute.type {
    case .date where target.type == .date: return "\(value) + 978307200.0"
    // Core Data stores a double, which differs from the decimal it was in the last digits.
    case .decimal: return "CASE typeof(\(value)) WHEN 'real' THEN printf('%.15g', \(value)) ELSE \(value) END"
    case .uuid:
      let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(hex(\(value)), \($0.0), \($0.1))" }
      return "CASE typeof(\(value)) WHEN 'blob' THEN \(parts.joined(separator: " || '-' || ")) ELSE \(value) END"
    case .transformable, .objectID, .undefined:
      if target.type == .binaryData { return value }
      notes.append(
        "\(place) isn't read: it is \(own.attribute.type.rawValue), whose bytes only an attribute of type Binary takes")
      return nil
    default: return value
    }
  }

  /// The column of a property of an entity.
  private func column(
    _ base: String, _ name: String, _ entity: CoreDataStore.Entity, _ table: String
  ) throws -> String? {
    let columns = try store.columns(of: table)
    let root = root(of: entity.name)
    let same = definitions.values.filter { self.root(of: $0.name) == root }.flatMap { definition in
      definition.attributes.map(\.name) + definition.relationships.map(\.name)
    }
    if same.count(where: { "Z" + $0.uppercased() == base }) <= 1 { return columns.first { $0 == base } }
    let taken = Set(same.map { "Z" + $0.uppercased() })
    let candidates = columns.filter { column in
      column == base
        || column.hasPrefix(base) && !taken.contains(column) && column.dropFirst(base.count).allSatisfy(\.isNumber)
    }
    let used = try candidates.filter { try store.hasValues($0, of: entity, in: table) }
    guard used.count <= 1 else {
      throw MappingError.badFeed(
        reason: "\(entity.name).\(name) could be each of the columns \(used.joined(separator: ", ")) of \(table)")
    }
    return used.first ?? candidates.first
  }

  // MARK: Relationships

  private func relationshipOfStore(
    _ column: String?, _ target: RelationshipDescription, of entity: String
  ) -> (RelationshipDefinition, owner: String)? {
    for name in [column, target.name, target.definition.renamingIdentifier].compactMap({ $0 }) {
      if let found = relationship(name, of: entity) { return (found.definition, found.owner) }
    }
    return nil
  }

  /// A relationship of an entity or of those that it inherits from, and whose it is.
  private func relationship(
    _ name: String, of entity: String
  ) -> (definition: RelationshipDefinition, owner: String)? {
    for owner in ancestry(of: entity) {
      if let found = definitions[owner]?.relationships.first(where: { $0.name == name }) { return (found, owner) }
    }
    return nil
  }

  /// The row number of a related object, or several with spaces between; nil where the other end says it.
  private mutating func term(
    of own: RelationshipDefinition, _ owner: String, for target: RelationshipDescription,
    _ entity: CoreDataStore.Entity, _ table: String
  ) throws -> String? {
    let place = "\(entity.name).\(own.name)"
    guard CoreDataRowNumbers.attribute(of: target.destinationEntity) != nil else {
      notes.append(
        "\(place) isn't read: \(target.destinationEntity.name) has no attribute for row numbers, which "
          + "“ladectl model convert --row-numbers” adds")
      return nil
    }
    let inverse = own.inverse.flatMap { relationship($0, of: own.destination)?.definition }
    let leads = (owner, own.name) <= (own.destination, own.inverse ?? "")
    if !own.isToMany {
      if let inverse, !inverse.isToMany, !leads { return nil }
      return try column("Z" + own.name.uppercased(), own.name, entity, table).map { "t.\(SQLiteDatabase.quoted($0))" }
    }
    guard let inverse else {
      notes.append("\(place) isn't read: it has no inverse")
      return nil
    }
    if inverse.isToMany {
      if own.isOrdered == inverse.isOrdered ? !own.isOrdered && !leads : !own.isOrdered { return nil }
      return try joined(own, owner, inverse, place)
    }
    return own.isOrdered ? try ordered(own, inverse, place) : nil
  }

  /// The rows of an ordered relationship whose inverse is to-one: its foreign keys, by the order beside them.
  private mutating func ordered(
    _ own: RelationshipDefinition, _ inverse: RelationshipDefinition, _ place: String
  ) throws -> String? {
    guard let child = entities[own.destination] else { return nil }
    let table = try table(of: child.name)
    guard let key = try column("Z" + inverse.name.uppercased(), inverse.name, child, table) else { return nil }
    let names = [inverse.name, own.name].map { "Z_FOK_" + $0.uppercased() }
    guard let order = try store.columns(of: table).first(where: { names.contains($0.uppercased()) }) else {
      notes.append("the order of \(place) isn't read: the table \(table) has no column \(names[0]) for it")
      return nil
    }
    let (quotedKey, quotedOrder) = (SQLiteDatabase.quoted(key), SQLiteDatabase.quoted(order))
    return list("c.\"Z_PK\"", "\(SQLiteDatabase.quoted(table)) AS c", "c.\(quotedKey)", "c.\(quotedOrder)")
  }

  /// The rows of a many-to-many relationship, from its join table.
  private func joined(
    _ own: RelationshipDefinition, _ owner: String, _ inverse: RelationshipDefinition, _ place: String
  ) throws -> String? {
    let (theirNumbers, ourNumbers) = (numbers(around: own.destination), numbers(around: owner))
    var found: [(table: String, theirs: String, ours: String, order: String?)] = []
    for table in store.tables where table.hasPrefix("Z_") {
      let columns = try store.columns(of: table)
      guard let theirs = columns.first(where: { Self.isEnd($0, own.name, theirNumbers) }) else { continue }
      guard
        let ours = columns.first(where: { $0 != theirs && Self.isEnd($0, inverse.name, ourNumbers) })
          ?? (own.name == inverse.name ? columns.first { $0 == "REFLEXIVE" } : nil)
      else { continue }
      let order = columns.first { column in
        column.hasPrefix("Z_FOK_") && Self.isEnd("Z_" + column.dropFirst(6), own.name, theirNumbers.union(ourNumbers))
      }
      found.append((table, theirs, ours, order))
    }
    guard let join = found.first, found.count == 1 else {
      throw MappingError.badFeed(
        reason: found.isEmpty
          ? "no table of the store joins \(place) and its inverse \(inverse.name)"
          : "\(place) could be in each of the tables \(found.map(\.table).joined(separator: ", "))")
    }
    let (theirs, ours) = (SQLiteDatabase.quoted(join.theirs), SQLiteDatabase.quoted(join.ours))
    let order = join.order.map { "c.\(SQLiteDatabase.quoted($0))" } ?? "c.\(theirs)"
    return list("c.\(theirs)", "\(SQLiteDatabase.quoted(join.table)) AS c", "c.\(ours)", order)
  }

  private func list(_ value: String, _ table: String, _ key: String, _ order: String) -> String {
    "(SELECT group_concat(k, ' ') FROM (SELECT \(value) AS k FROM \(table) WHERE \(key) = t.\"Z_PK\" ORDER BY \(order)))"
  }

  /// Whether a column of a join table is an end: `Z_`, the number of an entity, the relationship's name, and maybe a digit.
  private static func isEnd(_ column: String, _ name: String, _ numbers: Set<Int64>) -> Bool {
    guard column.hasPrefix("Z_") else { return false }
    let rest = column.dropFirst(2)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits), numbers.contains(number) else { return false }
    let end = rest.dropFirst(digits.count)
    let upper = name.uppercased()
    return end.hasPrefix(upper) && end.dropFirst(upper.count).allSatisfy { $0.isASCII && $0.isNumber }
  }

  // MARK: Entities

  /// The entity and those that it inherits from.
  private func ancestry(of name: String) -> [String] {
    var names = [name]
    while let parent = definitions[names[names.count - 1]]?.parent, !names.contains(parent) { names.append(parent) }
    return names
  }

  private func root(of name: String) -> String {
    let names = ancestry(of: name)
    return names[names.count - 1]
  }

  /// The numbers of an entity, its ancestors and its descendants.
  private func numbers(around name: String) -> Set<Int64> {
    let names = Set(ancestry(of: name)).union(entities.keys.filter { ancestry(of: $0).contains(name) })
    return Set(names.compactMap { entities[$0]?.number })
  }

  /// The table of an entity's hierarchy, by the parents in the store itself.
  private func table(of name: String) throws -> String {
    let byNumber = Dictionary(store.entities.values.map { ($0.number, $0) }) { first, _ in first }
    var entity = entities[name].flatMap { byNumber[$0.number] }
    var seen: Set<Int64> = []
    while let current = entity, let parent = byNumber[current.parent], seen.insert(current.number).inserted {
      entity = parent
    }
    let table = "Z" + (entity?.name ?? name).uppercased()
    let columns = Set(try store.columns(of: table))
    guard columns.isSuperset(of: ["Z_PK", "Z_ENT"]) else {
      throw MappingError.badFeed(reason: "the store has no table \(table), which the rows of \(name) would be in")
    }
    return table
  }
}
