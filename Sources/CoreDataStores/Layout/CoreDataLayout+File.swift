package import ManagedObjects

extension CoreDataLayout {
  /// The layout of a file.
  ///
  /// - Names of tables and columns are the file's: those of joins differ between versions of one model, and older frameworks
  ///   number columns of the same name differently.
  /// - A store may have been migrated without its list of entities getting a new name, which the renaming identifier then is.
  /// - Columns that could be those of several properties are told apart by the rows that have values in them.
  ///
  /// - Parameters:
  ///   - model: the model that the file was made by.
  ///   - connection: reads the file; asked about rows only where names leave a doubt.
  /// - Throws: what the connection throws. What isn't found is among the ``problems``, and has no column.
  package init(_ model: ManagedObjectModel, of connection: some CoreDataConnection) throws {
    try self.init(model, CoreDataSchema(connection)) { table, column in
      let rows = try connection.rows(
        "SELECT DISTINCT Z_ENT FROM \(CoreDataName.quoted(table)) WHERE \(CoreDataName.quoted(column)) IS NOT NULL")
      return Set(rows.compactMap { $0.first?.storedInteger })
    }
  }

  /// - Parameter users: the numbers of the entities whose rows have values in a column of a table.
  init(
    _ model: ManagedObjectModel, _ schema: CoreDataSchema,
    users: (_ table: String, _ column: String) throws -> Set<Int64>
  ) throws {
    self.init(model, schema)
    findEntities()
    let numbers = entities.mapValues(\.number)
    let naming = CoreDataNaming(model, numbers: numbers)
    for root in CoreDataNaming.roots(of: model, numbers) {
      try findColumns(of: root, naming, users)
    }
    for relationship in naming.members(model).flatMap(\.storedOwnRelationships) where relationship.isToMany {
      findPlace(of: relationship)
    }
  }

  /// The numbers and tables of the entities, by the parents in the file itself.
  private mutating func findEntities() {
    let byName = Dictionary(schema.modelEntities.map { ($0.name, $0) }) { first, _ in first }
    let byNumber = Dictionary(schema.modelEntities.map { ($0.number, $0) }) { first, _ in first }
    for description in model.entities {
      let former = description.definition.renamingIdentifier.flatMap { name in
        model.entitiesByName[name] == nil ? byName[name] : nil
      }
      guard let found = byName[description.name] ?? former else { continue }
      var root = found
      var seen: Set<Int64> = []
      while let parent = byNumber[root.parent], seen.insert(root.number).inserted { root = parent }
      let table = CoreDataName.column(root.name)
      entities[description] = Entity(number: found.number, parent: found.parent, table: table)
    }
  }

  private mutating func note(_ property: PropertyDescription, _ reason: String, isAmbiguous: Bool = false) {
    problems[property] = Problem(
      place: "\(property.entity.name).\(property.name)", reason: reason, isAmbiguous: isAmbiguous)
  }

  // MARK: Columns

  /// A property that has a column, and the names it may have.
  private struct Claim {
    let property: PropertyDescription
    /// The name that a current framework gives it.
    let expected: String
    /// The numbers of the entities that have it.
    let family: Set<Int64>
    var column: String?
  }

  private mutating func findColumns(
    of root: EntityDescription, _ naming: CoreDataNaming,
    _ users: (_ table: String, _ column: String) throws -> Set<Int64>
  ) throws {
    guard let table = entities[root]?.table else { return }
    let names = (schema.columns[table] ?? []).map(\.name)
    var groups: [String: [Claim]] = [:]
    var order: [String] = []
    for entity in naming.members(of: root) {
      let family = Set(entity.selfAndDescendants.compactMap { entities[$0]?.number })
      func claim(_ property: PropertyDescription, _ expected: String) {
        let base = CoreDataName.column(property.name)
        if groups[base] == nil { order.append(base) }
        groups[base, default: []].append(
          Claim(property: property, expected: expected, family: family))
      }
      for attribute in entity.storedOwnAttributes {
        if let column = naming.columns[attribute] { claim(attribute, column) }
      }
      for relationship in entity.storedOwnRelationships {
        if let reference = naming.references[relationship] { claim(relationship, reference.column) }
      }
    }
    for base in order {
      guard var claims = groups[base] else { continue }
      if claims.count == 1 {
        claims[0].column =
          names.first { $0 == base }
          ?? names.first { Self.isNumbered($0, base) && groups[$0] == nil }
      } else {
        let candidates = names.filter { $0 == base || Self.isNumbered($0, base) && groups[$0] == nil }
        guard try resolve(&claims, candidates, { try users(table, $0) }) else { continue }
      }
      for claim in claims { settle(claim, table, names, naming) }
    }
  }

  /// Whether a name is another one with digits behind it.
  private static func isNumbered(_ name: String, _ base: String) -> Bool {
    name.count > base.count && name.hasPrefix(base)
      && name.dropFirst(base.count).allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// Gives each of several properties of one name its column: as they are expected, unless rows of other entities have values
  /// there; then each that one property alone can have.
  private mutating func resolve(
    _ claims: inout [Claim], _ candidates: [String], _ users: (String) throws -> Set<Int64>
  ) throws -> Bool {
    var used: [String: Set<Int64>] = [:]
    for column in candidates { used[column] = try users(column) }
    let fits = { (claim: Claim, column: String) in used[column]?.isSubset(of: claim.family) == true }
    if claims.allSatisfy({ fits($0, $0.expected) }) {
      for index in claims.indices { claims[index].column = claims[index].expected }
      return true
    }
    var free = candidates
    // Those that one entity's rows use, then what is left, in order.
    for index in claims.indices {
      let own = free.filter { used[$0]?.isEmpty == false && fits(claims[index], $0) }
      guard own.count <= 1 else {
        let reason = "could be each of the columns \(own.joined(separator: ", "))"
        for claim in claims { note(claim.property, reason, isAmbiguous: true) }
        return false
      }
      claims[index].column = own.first
      free.removeAll { $0 == own.first }
    }
    free.removeAll { used[$0]?.isEmpty == false }
    for index in claims.indices where claims[index].column == nil && !free.isEmpty {
      claims[index].column = free.removeFirst()
    }
    return true
  }

  private mutating func settle(_ claim: Claim, _ table: String, _ names: [String], _ naming: CoreDataNaming) {
    guard let column = claim.column else {
      return note(claim.property, "the table \(table) has no column \(claim.expected) for it")
    }
    switch claim.property {
    case let attribute as AttributeDescription: columns[attribute] = column
    case let relationship as RelationshipDescription:
      var reference = Reference(column: column)
      let name = column.dropFirst()
      reference.entityColumn = names.first { other in
        let digits = other.dropFirst().prefix { $0.isASCII && $0.isNumber }
        return other.hasPrefix("Z") && !digits.isEmpty && other.dropFirst(1 + digits.count) == "_" + name
      }
      if let inverse = relationship.inverseRelationship, inverse.isToMany, inverse.isOrdered {
        let expected = ["Z_FOK_\(name)", "Z_FOK_\(inverse.name.uppercased())"]
        reference.orderColumn = names.first { expected.contains($0) }
      }
      relationships[relationship] = .toOne(reference)
    default: break
    }
  }

  // MARK: Relationships to several objects

  private mutating func findPlace(of relationship: RelationshipDescription) {
    guard let inverse = relationship.inverseRelationship else { return note(relationship, "it has no inverse") }
    guard inverse.isToMany else {
      guard case .toOne(let reference) = relationships[inverse] else {
        return note(relationship, "its inverse \(inverse.name) has no column")
      }
      relationships[relationship] = .toMany(reference)
      if relationship.isOrdered, reference.orderColumn == nil {
        let table = entities[relationship.destinationEntity]?.table ?? ""
        note(relationship, "the table \(table) has no column Z_FOK_\(inverse.name.uppercased()) for its order")
      }
      return
    }
    let joins = joins(of: relationship, inverse)
    if joins.count == 1 {
      relationships[relationship] = .join(joins[0])
    } else if joins.isEmpty {
      note(relationship, "no table of the store joins it and its inverse \(inverse.name)")
    } else {
      let tables = joins.map(\.table).joined(separator: ", ")
      note(relationship, "it could be in each of the tables \(tables)", isAmbiguous: true)
    }
  }

  /// The tables that may join a relationship and its inverse.
  ///
  /// A column is `Z_<number><RELATIONSHIP>`, with the number of the entity whose rows it names.
  private func joins(of relationship: RelationshipDescription, _ inverse: RelationshipDescription) -> [Join] {
    let theirs = numbers(around: relationship.destinationEntity)
    let ours = numbers(around: relationship.entity)
    return schema.tables.filter { $0.hasPrefix("Z_") }.compactMap { table in
      let columns = (schema.columns[table] ?? []).map(\.name)
      guard let target = columns.first(where: { Self.isEnd($0, relationship.name, theirs) }) else { return nil }
      guard
        let source = columns.first(where: { $0 != target && Self.isEnd($0, inverse.name, ours) })
          ?? (relationship == inverse ? columns.first { $0 == "REFLEXIVE" } : nil)
      else { return nil }
      let order = columns.first { column in
        column.hasPrefix("Z_FOK_") && Self.isEnd("Z_" + column.dropFirst(6), relationship.name, theirs.union(ours))
      }
      return Join(table: table, source: source, target: target, order: relationship.isOrdered ? order : nil)
    }
  }

  /// Whether a column of a join is an end: `Z_`, the number of an entity, the relationship's name, and maybe a digit.
  private static func isEnd(_ column: String, _ name: String, _ numbers: Set<Int64>) -> Bool {
    guard column.hasPrefix("Z_") else { return false }
    let rest = column.dropFirst(2)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int64(digits), numbers.contains(number) else { return false }
    let end = rest.dropFirst(digits.count)
    let upper = name.uppercased()
    return end.hasPrefix(upper) && end.dropFirst(upper.count).allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// The numbers of an entity, its ancestors and its descendants.
  private func numbers(around entity: EntityDescription) -> Set<Int64> {
    var around = entity.selfAndDescendants
    var above = entity.superentity
    while let parent = above {
      around.append(parent)
      above = parent.superentity
    }
    return Set(around.compactMap { entities[$0]?.number })
  }
}

extension CoreDataName {
  /// A name, quoted for SQL.
  static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}
