/// Changes rows of a store, some thousand at a time, within one transaction.
struct BatchUpdate {
  let fetch: StoreFetch
  let assignments: [BatchAssignment]
  let contextName: String?
  let transactionAuthor: String?

  private static var chunk: Int { 2000 }

  func run(in transaction: any StoreTransaction) throws -> StoreBatchResult {
    let ids = try transaction.ids(fetch)
    if assignments.isEmpty { return StoreBatchResult(count: ids.count, ids: ids) }
    // Rows that pass unique values on to each other must be written together.
    let chunk = assignments.contains(where: \.isUnique) ? max(ids.count, 1) : Self.chunk
    for start in stride(from: 0, to: ids.count, by: chunk) {
      var changes = StoreChanges(contextName: contextName, transactionAuthor: transactionAuthor)
      for row in try transaction.rows(with: Array(ids[start..<min(start + chunk, ids.count)])) {
        var values = row.values
        for assignment in assignments { values[assignment.property.slot] = try assignment.value(for: row) }
        if values != row.values { changes.updated.append(.init(id: row.id, values: values, committed: row.values)) }
      }
      if !changes.isEmpty { _ = try transaction.write(changes) }
    }
    return StoreBatchResult(count: ids.count, ids: ids)
  }
}

/// What one property becomes.
struct BatchAssignment {
  let property: PropertyDescription
  private let source: Source

  private enum Source {
    case constant(Value)
    case slot(Int)
  }

  /// - Throws: what doesn't fit the model.
  init(_ name: String, _ expression: FetchPredicate.Expression, of entity: EntityDescription) throws {
    switch expression {
    case .constant(let value):
      property = try BatchProperty.settable(name, value, of: entity)
      source = .constant(value)
      if value.isNull { try Self.checkOptional(property, nil, entity) }
    case .keyPath(let names) where names.count == 1:
      property = try BatchProperty.settable(name, nil, of: entity)
      guard let from = entity.propertiesByName[names[0]] else {
        throw ManagedObjectError.unknownProperty(entity: entity.name, name: names[0])
      }
      guard let from = from as? AttributeDescription, let to = property as? AttributeDescription, !from.isTransient
      else { throw Self.refusal(name, "attribute", entity) }
      guard from.type == to.type else { throw Self.refusal(name, to.type.rawValue, entity) }
      source = .slot(from.slot)
    default: throw Self.refusal(name, "constant, or the name of an attribute", entity)
    }
  }

  /// Whether two rows can't have the same value.
  var isUnique: Bool {
    property.entity.selfAndDescendants.contains { $0.uniquenessConstraints.joined().contains { $0 === property } }
  }

  /// The value for a row that has these values now.
  func value(for row: StoreRow) throws -> Value {
    switch source {
    case .constant(let value): return value
    case .slot(let slot):
      let value = row.values[slot]
      if value.isNull { try Self.checkOptional(property, row.id, row.id.entity) }
      return value
    }
  }

  private static func checkOptional(
    _ property: PropertyDescription, _ id: ManagedObjectID?, _ entity: EntityDescription
  ) throws {
    guard !property.isOptional else { return }
    throw ManagedObjectError.validation([
      .init(entity: entity, objectID: id, property: property.name, reason: .missing)
    ])
  }

  private static func refusal(_ name: String, _ expected: String, _ entity: EntityDescription) -> ManagedObjectError {
    .wrongType(entity: entity.name, property: name, expected: expected, found: "expression")
  }
}
