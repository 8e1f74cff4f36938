import ManagedObjects

/// The names that a current framework gives the tables and columns of a model, for given numbers of its entities.
///
/// Siblings may each have a property of the same name, and their columns are in one table: in the order of the entities'
/// numbers the first gets `ZNAME`, the next `ZNAME1`. Source: the schemas of Apple's own apps, and stores of frameworks 977 to
/// 1344. Older ones order columns differently, so names are what counts in a file, not their order.
struct CoreDataNaming {
  private let numbers: [EntityDescription: Int64]
  private(set) var columns: [AttributeDescription: String] = [:]
  private(set) var references: [RelationshipDescription: CoreDataLayout.Reference] = [:]
  private(set) var joins: [RelationshipDescription: CoreDataLayout.Join] = [:]
  /// The relationship that names each join's table, in the order of these tables.
  private(set) var leaders: [RelationshipDescription] = []

  init(_ model: ManagedObjectModel, numbers: [EntityDescription: Int64]) {
    self.numbers = numbers
    for root in Self.roots(of: model, numbers) { nameColumns(of: root) }
    nameJoins(of: model)
  }

  /// Numbers the entities of a new file: from 1, by their names, and each hierarchy as a whole from its root down.
  static func newNumbers(_ model: ManagedObjectModel) -> [EntityDescription: Int64] {
    var numbers: [EntityDescription: Int64] = [:]
    func number(_ entities: [EntityDescription]) {
      for entity in entities.sorted(by: { $0.name < $1.name }) {
        numbers[entity] = Int64(numbers.count + 1)
        number(entity.subentities)
      }
    }
    number(model.entities.filter { $0.superentity == nil })
    return numbers
  }

  /// The roots of the hierarchies, in the order of their numbers.
  static func roots(of model: ManagedObjectModel, _ numbers: [EntityDescription: Int64]) -> [EntityDescription] {
    model.entities.filter { $0.superentity == nil && numbers[$0] != nil }
      .sorted { (numbers[$0] ?? 0) < (numbers[$1] ?? 0) }
  }

  /// The entities of a hierarchy that have a number, in the order of these.
  func members(of root: EntityDescription) -> [EntityDescription] {
    root.selfAndDescendants.filter { numbers[$0] != nil }.sorted { number($0) < number($1) }
  }

  /// The entities of the model that have a number, in the order of these.
  func members(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.filter { numbers[$0] != nil }.sorted { number($0) < number($1) }
  }

  private func number(_ entity: EntityDescription) -> Int64 { numbers[entity] ?? 0 }

  private mutating func nameColumns(of root: EntityDescription) {
    var taken: Set<String> = []
    func unique(_ base: String) -> String {
      var name = base
      var count = 0
      while !taken.insert(name).inserted {
        count += 1
        name = "\(base)\(count)"
      }
      return name
    }
    for entity in members(of: root) {
      for attribute in entity.storedOwnAttributes { columns[attribute] = unique(CoreDataName.column(attribute.name)) }
      for relationship in entity.storedOwnRelationships where !relationship.isToMany {
        let column = unique(CoreDataName.column(relationship.name))
        var reference = CoreDataLayout.Reference(column: column)
        let destination = relationship.destinationEntity
        if !destination.subentities.isEmpty {
          reference.entityColumn = "Z\(number(destination))_\(column.dropFirst())"
        }
        if relationship.inverseRelationship?.isOrdered == true { reference.orderColumn = "Z_FOK_\(column.dropFirst())" }
        references[relationship] = reference
      }
    }
  }

  private mutating func nameJoins(of model: ManagedObjectModel) {
    var taken: Set<String> = []
    for relationship in members(model).flatMap(\.storedOwnRelationships) {
      guard let inverse = relationship.inverseRelationship, relationship.isToMany, inverse.isToMany,
        Self.leads(relationship, inverse)
      else { continue }
      let (source, target) = (number(relationship.entity), number(relationship.destinationEntity))
      let base = "Z_\(source)\(relationship.name.uppercased())"
      var table = base
      var count = 0
      while !taken.insert(table).inserted {
        count += 1
        table = "\(base)\(count)"
      }
      let sourceColumn = "Z_\(source)\(inverse.name.uppercased())"
      let targetColumn = relationship == inverse ? "REFLEXIVE" : "Z_\(target)\(relationship.name.uppercased())"
      let order = { (isOrdered: Bool, column: String) in isOrdered ? "Z_FOK_\(column.dropFirst(2))" : nil }
      let join = CoreDataLayout.Join(
        table: table, source: sourceColumn, target: targetColumn, order: order(relationship.isOrdered, targetColumn))
      joins[relationship] = join
      if relationship != inverse { joins[inverse] = join.reversed(order: order(inverse.isOrdered, sourceColumn)) }
      leaders.append(relationship)
    }
  }

  /// Whether a relationship between many and many names the table, and not its inverse: that of the entity whose name is first.
  static func leads(_ relationship: RelationshipDescription, _ inverse: RelationshipDescription) -> Bool {
    (relationship.entity.name, relationship.name) <= (inverse.entity.name, inverse.name)
  }

  // MARK: Tables

  /// The columns of a hierarchy's table, in order.
  func tableColumns(of root: EntityDescription) -> [CoreDataSchema.Column] {
    var all = [
      CoreDataSchema.Column("Z_PK", "INTEGER PRIMARY KEY"), CoreDataSchema.Column("Z_ENT", "INTEGER"),
      CoreDataSchema.Column("Z_OPT", "INTEGER"),
    ]
    let members = members(of: root)
    for group in 0...7 {
      for entity in members {
        for attribute in entity.storedOwnAttributes where CoreDataName.group(attribute.type) == group {
          if let column = columns[attribute], let type = CoreDataName.type(attribute.type) {
            all.append(CoreDataSchema.Column(column, type))
          }
        }
        guard group == 0 else { continue }
        for relationship in entity.storedOwnRelationships {
          guard let reference = references[relationship] else { continue }
          for name in [reference.column, reference.entityColumn, reference.orderColumn].compactMap({ $0 }) {
            all.append(CoreDataSchema.Column(name, "INTEGER"))
          }
        }
      }
    }
    return all
  }

  /// The columns of a join's table, in order.
  func joinColumns(_ leader: RelationshipDescription) -> [CoreDataSchema.Column] {
    guard let join = joins[leader] else { return [] }
    let inverse = leader.inverseRelationship.flatMap { joins[$0] }
    var orders: [String] = []
    for name in [inverse?.order, join.order].compactMap({ $0 }) where !orders.contains(name) { orders.append(name) }
    return ([join.source, join.target] + orders).map { CoreDataSchema.Column($0, "INTEGER") }
  }
}
