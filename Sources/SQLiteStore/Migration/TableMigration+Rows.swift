import GRDB
import ManagedObjects

/// How the rows of one old entity are converted to those of a new one.
struct RowPlan {
  /// A column and the term for its values.
  struct Column: Equatable {
    let name: String
    let term: SQLTerm
  }

  let origin: EntityDescription
  let entity: EntityDescription
  /// Every column of the new entity, primary key and discriminator included.
  var columns: [Column]
}

/// A piece of SQL with the values of its parameters.
struct SQLTerm: Equatable {
  var sql: String
  var arguments: [DatabaseValue] = []

  static let null = SQLTerm(sql: "NULL")

  static func column(_ name: String) -> SQLTerm { SQLTerm(sql: SQLText.name(name)) }

  func plus(_ number: Int64) -> SQLTerm {
    number == 0 ? self : SQLTerm(sql: "\(sql) + \(number)", arguments: arguments)
  }

  func or(_ other: SQLTerm) -> SQLTerm {
    SQLTerm(sql: "coalesce(\(sql), \(other.sql))", arguments: arguments + other.arguments)
  }
}

extension TableMigration {
  /// The plans for the rows of a table's entities.
  func rowPlans(of table: TableMap) throws -> [RowPlan] {
    try table.rootEntity.selfAndDescendants.compactMap { entity in
      guard let origin = origins[entity], !origin.isAbstract,
        columns[old.table(of: origin)]?.isEmpty == false
      else { return nil }
      return try plan(from: origin, to: entity)
    }
  }

  private func plan(from origin: EntityDescription, to entity: EntityDescription) throws -> RowPlan {
    var plan = RowPlan(origin: origin, entity: entity, columns: [])
    plan.columns.append(
      .init(name: new.primaryKeyColumn(of: entity), term: keyTerm(from: origin, to: entity)))
    if let discriminator = new.discriminatorColumn(of: entity) {
      plan.columns.append(.init(name: discriminator, term: SQLTerm(sql: SQLText.literal(entity.name))))
    }
    let mapping = mapping[destination: entity.name]
    for attribute in entity.attributes where attribute !== entity.primaryKey {
      guard let column = new.columnIfStored(of: attribute, in: entity) else { continue }
      let source = mapping?.attributeMappings.first { $0.name == attribute.name }?.source
      plan.columns.append(.init(name: column, term: term(for: attribute, source, origin)))
    }
    for relationship in entity.relationships {
      guard let column = new.columnIfStored(of: relationship, in: entity) else { continue }
      plan.columns.append(.init(name: column, term: term(for: relationship, entity, origin)))
      guard let position = new.map(of: entity).positionsByProperty[relationship] else { continue }
      plan.columns.append(.init(name: position, term: positionTerm(for: relationship, entity, origin)))
    }
    return plan
  }

  private func term(
    for attribute: AttributeDescription, _ source: PropertyMapping.Source?, _ origin: EntityDescription
  ) -> SQLTerm {
    func value(_ value: Value) -> SQLTerm {
      if value.isNull { return .null }
      return SQLTerm(sql: "?", arguments: [ValueCodec.databaseValue(of: value, for: attribute)])
    }
    switch source {
    case .property(let name): return stored(name, as: attribute, origin) ?? value(attribute.defaultValue)
    case .propertyOrValue(let name, let other):
      return stored(name, as: attribute, origin)?.or(value(other)) ?? value(other)
    case .value(let constant): return value(constant)
    // Values that code computes are left to ``SideMigration``.
    case .custom, nil: return value(attribute.defaultValue)
    }
  }

  /// The old column of an attribute, in the new attribute's form; nil when the file doesn't have it.
  private func stored(_ name: String, as attribute: AttributeDescription, _ origin: EntityDescription) -> SQLTerm? {
    guard let former = origin.attributesByName[name], let column = old.columnIfStored(of: former, in: origin),
      columns[old.table(of: origin)]?.contains(column.lowercased()) == true
    else { return nil }
    guard attribute.type == .date, DateStorage(former) != DateStorage(attribute) else { return .column(column) }
    let function = DateStorage(attribute) == .unix ? DateForms.unix.name : DateForms.iso.name
    return SQLTerm(sql: "\(function)(\(SQLText.name(column)))")
  }

  /// Inserts the rows.
  func fill(_ table: String, _ plan: RowPlan) throws {
    let names = plan.columns.map { SQLText.name($0.name) }.joined(separator: ", ")
    let terms = plan.columns.map(\.term.sql).joined(separator: ", ")
    try execute(
      "INSERT INTO \(SQLText.name(table)) (\(names)) SELECT \(terms) FROM \(SQLText.name(old.table(of: plan.origin)))"
        + restriction(to: plan.origin),
      plan.columns.flatMap(\.term.arguments))
  }

  func restriction(to entity: EntityDescription) -> String {
    guard let discriminator = old.discriminatorColumn(of: entity) else { return "" }
    return " WHERE \(SQLText.name(discriminator)) = \(SQLText.literal(entity.name))"
  }

  /// Whether a table already has the right columns and rows.
  func isAsItShouldBe(_ table: TableMap, _ plans: [RowPlan]) throws -> Bool {
    guard try isMade(by: table.createStatement, table.name) else { return false }
    let roots = Set(plans.compactMap(\.origin.rootEntity))
    guard roots.count <= 1, let root = roots.first, old.table(of: root) == table.name else { return false }
    // Rows of entities that are gone, or that are in another table now, must be removed.
    for entity in root.selfAndDescendants where !entity.isAbstract {
      guard images[entity].map({ $0.rootEntity === table.rootEntity }) == true else { return false }
    }
    return plans.allSatisfy { plan in
      guard plan.origin.name == plan.entity.name else { return false }
      let former = Set(
        plan.origin.properties.filter { $0 !== plan.origin.primaryKey }.flatMap { property in
          [old.columnIfStored(of: property, in: plan.origin), old.map(of: plan.origin).positionsByProperty[property]]
            .compactMap { $0 }
        })
      let fixed = [new.primaryKeyColumn(of: plan.entity), new.discriminatorColumn(of: plan.entity)]
      let present = plan.columns.filter { !fixed.contains($0.name) }
      return plan.columns[0].term == .column(plan.columns[0].name) && Set(present.map(\.name)) == former
        && present.allSatisfy { $0.term == .column($0.name) }
    }
  }
}
