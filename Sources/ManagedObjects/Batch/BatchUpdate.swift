/// Changes rows of a store, some thousand at a time, within one transaction.
struct BatchUpdate {
  let fetch: StoreFetch
  let assignments: [BatchAssignment]
  let contextName: String?
  let transactionAuthor: String?

  private static var chunk: Int { 2000 }

  /// Checks that no relationship leads into another store.
  /// - Throws: ``ManagedObjectError/validation(_:)`` with those that would.
  func check(_ store: PersistentStore) throws {
    let failures = assignments.compactMap { assignment -> ValidationFailure? in
      guard let id = assignment.constantTarget, id.scope.storeIdentifier != store.identifier else { return nil }
      return ValidationFailure(
        entity: fetch.entity, objectID: nil, property: assignment.property.name, reason: .otherStore([id]))
    }
    guard failures.isEmpty else { throw ManagedObjectError.validation(failures) }
  }

  func run(in transaction: any StoreTransaction) throws -> StoreBatchResult {
    if assignments.isEmpty {
      let ids = try transaction.ids(fetch)
      return StoreBatchResult(count: ids.count, ids: ids)
    }
    let (ids, answers) = try answers(in: transaction)
    // Rows that pass unique values on to each other must be written together.
    let chunk = assignments.contains(where: \.isUnique) ? max(ids.count, 1) : Self.chunk
    for start in stride(from: 0, to: ids.count, by: chunk) {
      var changes = StoreChanges(contextName: contextName, transactionAuthor: transactionAuthor)
      for row in try transaction.rows(with: Array(ids[start..<min(start + chunk, ids.count)])) {
        var values = row.values
        var answers = answers[row.id] ?? []
        for assignment in assignments {
          let answer = assignment.asksStore ? answers.popFirst() : nil
          values[assignment.property.slot] = try assignment.value(for: row, answer: answer)
        }
        if values != row.values { changes.updated.append(.init(id: row.id, values: values, committed: row.values)) }
      }
      if !changes.isEmpty { _ = try transaction.write(changes) }
    }
    return StoreBatchResult(count: ids.count, ids: ids)
  }

  /// The rows that match, and for each the store's results of the expressions that read other rows. They are read before the
  /// first row is written, so all of them see the same state.
  private func answers(
    in transaction: any StoreTransaction
  ) throws -> (ids: [ManagedObjectID], answers: [ManagedObjectID: ArraySlice<Value>]) {
    let asked = assignments.compactMap(\.asked)
    if asked.isEmpty { return (try transaction.ids(fetch), [:]) }
    var ids: [ManagedObjectID] = []
    var answers: [ManagedObjectID: ArraySlice<Value>] = [:]
    let object = ResolvedExpression.path(ResolvedPath(steps: [], end: .objectID(fetch.entity)))
    for row in try transaction.dictionaries(StoreQuery(fetch, columns: [object] + asked)) {
      guard case .object(let id) = row[0] else { continue }
      ids.append(id)
      answers[id] = ArraySlice(row.dropFirst())
    }
    return (ids, answers)
  }
}

/// The new value of one property.
struct BatchAssignment {
  let property: PropertyDescription
  private let expression: ResolvedExpression
  /// Whether the expression reads other rows than the changed one, so only the store can compute it.
  let asksStore: Bool

  /// - Throws: an error for a name or value that doesn't fit the model.
  init(_ name: String, _ expression: FetchPredicate.Expression, of entity: EntityDescription) throws {
    if case .constant(let given) = expression {
      let value = Self.number(given, for: entity.propertiesByName[name])
      property = try BatchProperty.settable(name, value, of: entity)
      self.expression = .constant(value)
      asksStore = false
      if value.isNull { try Self.checkOptional(property, nil, entity) }
      return
    }
    property = try BatchProperty.settable(name, nil, of: entity)
    let resolved = try expression.resolved(in: entity)
    try resolved.checkStored()
    let kind = (property as? AttributeDescription).map { ValueKind($0.type) } ?? .object
    guard resolved.kind == nil || resolved.kind == kind else {
      throw ManagedObjectError.wrongType(
        entity: entity.name, property: name, expected: kind.rawValue, found: resolved.typeName)
    }
    self.expression = resolved
    asksStore = resolved.readsCollections || resolved.paths.contains { !$0.steps.isEmpty }
  }

  /// A number converted to the attribute's type, if possible; any other value as it is.
  private static func number(_ value: Value, for property: PropertyDescription?) -> Value {
    guard let attribute = property as? AttributeDescription, ValueKind(attribute.type) == .number,
      ValueKind(value) == .number
    else { return value }
    let converted = value.converted(to: attribute.type)
    return converted.isNull ? value : converted
  }

  /// The object that a relationship is set to in all rows.
  var constantTarget: ManagedObjectID? {
    guard property is RelationshipDescription, case .constant(.object(let id)) = expression else { return nil }
    return id
  }

  /// The expression that the store computes.
  var asked: ResolvedExpression? { asksStore ? expression : nil }

  /// Whether two rows can't have the same value.
  var isUnique: Bool {
    property.entity.selfAndDescendants.contains { $0.uniquenessConstraints.joined().contains { $0 === property } }
  }

  /// The value for a row that has these values now.
  /// - Parameter answer: the store's result of the expression, if the store computes it.
  func value(for row: StoreRow, answer: Value?) throws -> Value {
    if case .constant(let value) = expression { return value }
    let found = answer ?? expression.value(of: BatchSubject(row: row))
    let value = try fitting(found, row.id.entity)
    if value.isNull { try Self.checkOptional(property, row.id, row.id.entity) }
    return value
  }

  /// A value converted to the property's type.
  private func fitting(_ found: Value, _ entity: EntityDescription) throws -> Value {
    guard !found.comparisonKey.isNull else { return .null }
    if let attribute = property as? AttributeDescription {
      let value = found.converted(to: attribute.type)
      guard !value.isNull else { throw refusal(found, attribute.type.rawValue, entity) }
      return value
    }
    guard let relationship = property as? RelationshipDescription, case .object(let id) = found,
      id.entity.isKindOf(relationship.destinationEntity)
    else { throw refusal(found, "an object of the relationship's entity", entity) }
    return found
  }

  private func refusal(_ found: Value, _ expected: String, _ entity: EntityDescription) -> ManagedObjectError {
    .wrongType(
      entity: entity.name, property: property.name, expected: expected, found: "\(found.typeName) \(found.plainText)")
  }

  private static func checkOptional(
    _ property: PropertyDescription, _ id: ManagedObjectID?, _ entity: EntityDescription
  ) throws {
    guard !property.isOptional else { return }
    throw ManagedObjectError.validation([
      .init(entity: entity, objectID: id, property: property.name, reason: .missing)
    ])
  }
}

/// A row by itself, for expressions that read only its own values.
private struct BatchSubject: PredicateSubject {
  let row: StoreRow
  var subjectID: ManagedObjectID { row.id }
  func value(inSlot slot: Int) -> Value { row.values[slot] }
  func subject(inSlot slot: Int) -> (any PredicateSubject)? { nil }
  func subjects(inSlot slot: Int) -> [any PredicateSubject] { [] }
}
