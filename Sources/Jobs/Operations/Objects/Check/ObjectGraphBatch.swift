import ManagedObjects

/// A problem of an object, which may be repairable.
struct GraphFinding {
  let problem: StoreProblem
  /// The repair; nil where that isn't safe.
  let fix: GraphFix?
  /// What a person has to do about it, if anything.
  let otherwise: String

  func advice(canRepair: Bool) -> String {
    guard fix != nil else { return otherwise }
    return canRepair ? "repair: true repairs it" : "it has changed since and wasn't repaired; check again"
  }
}

/// A repair: a to-one relationship of an object gets another value, if it still has the one that was read.
struct GraphFix: Hashable {
  let object: ManagedObjectID
  let relationship: String
  let former: Value
  let value: Value
  /// What was done, for people.
  let deed: String
}

/// Rows of a store, checked against the model and against the rows that they refer to.
struct ObjectGraphBatch {
  private let rows: [StoreRow]
  private let context: ManagedObjectContext
  private(set) var problems: [StoreProblem] = []
  private(set) var findings: [GraphFinding] = []

  init(_ rows: [StoreRow], in context: ManagedObjectContext) {
    self.rows = rows
    self.context = context
  }

  mutating func check() throws {
    try checkValues()
    try checkReferences()
  }

  // MARK: Values

  private mutating func checkValues() throws {
    var checked = rows
    try fillBoundedSets(&checked)
    var failures: [ValidationFailure] = []
    for row in checked {
      let entity = row.id.entity
      if entity.isAbstract {
        problems.append(
          StoreProblem(
            .validation, entity: entity.name, number: row.id.number,
            message: "\(entity.name) is abstract, and has an object \(row.id): give it an entity that inherits from it")
        )
      }
      failures.removeAll(keepingCapacity: true)
      entity.validationRules.check(row.values, of: row.id, into: &failures)
      for failure in failures {
        problems.append(
          StoreProblem(
            .validation, entity: entity.name, number: row.id.number,
            property: failure.property.isEmpty ? nil : failure.property,
            message:
              "\(failure.description) (\(row.id)): give it a value that fits, by an update or an import, or delete it"))
      }
    }
  }

  /// Reads the to-many relationships whose number of objects the model limits.
  private func fillBoundedSets(_ rows: inout [StoreRow]) throws {
    let bounded = Set(rows.map(\.id.entity)).flatMap(\.relationships).filter { relationship in
      relationship.isToMany && !relationship.isUnstored
        && (relationship.definition.minimumCount > 0 || relationship.definition.maximumCount > 0
          || !relationship.isOptional)
    }
    for relationship in bounded {
      // Siblings have relationships of their own, even of one name.
      let owners = rows.indices.filter { rows[$0].id.entity.relationships.contains { $0 === relationship } }
      var found: [ManagedObjectID: Set<ManagedObjectID>] = [:]
      for related in try context.relatedRows(of: owners.map { rows[$0].id }, relationship) {
        found[related.owner, default: []].insert(related.row.id)
      }
      for owner in owners { rows[owner].values[relationship.slot] = .objects(found[rows[owner].id] ?? []) }
    }
  }

  // MARK: References

  /// A to-one relationship of a row that isn't null.
  private struct Reference {
    let row: StoreRow
    let relationship: RelationshipDescription
    let target: ManagedObjectID
  }

  private mutating func checkReferences() throws {
    let references = rows.flatMap { row in
      row.id.entity.relationships.compactMap { relationship -> Reference? in
        guard !relationship.isToMany, !relationship.isTransient,
          case .object(let target) = row.values[relationship.slot]
        else { return nil }
        return Reference(row: row, relationship: relationship, target: target)
      }
    }
    var targets: [ManagedObjectID: StoreRow] = [:]
    for row in try context.existingRows(of: Array(Set(references.map(\.target)))) { targets[row.id] = row }
    for reference in references {
      if let target = targets[reference.target], target.id.entity.isKindOf(reference.relationship.destinationEntity) {
        try checkInverse(reference, target)
      } else {
        noteDangling(reference, targets[reference.target])
      }
    }
  }

  private mutating func noteDangling(_ reference: Reference, _ target: StoreRow?) {
    let relationship = reference.relationship
    let what =
      target.map { "is of \($0.id.entity.name), and has to be of \(relationship.destinationEntity.name)" }
      ?? "isn't there"
    note(
      .reference, reference.row.id, relationship, "leads to \(reference.target), which \(what)",
      fix: relationship.isOptional
        ? GraphFix(
          object: reference.row.id, relationship: relationship.name, former: .object(reference.target), value: .null,
          deed: "emptied") : nil,
      otherwise: "it must have one: import what is missing, or delete the object")
  }

  /// Whether both sides of a one-to-one pair point to each other. Every other inverse is derived from what is stored once.
  private mutating func checkInverse(_ reference: Reference, _ target: StoreRow) throws {
    let relationship = reference.relationship
    let (object, other) = (reference.row.id, target.id)
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany, !inverse.isTransient,
      target.values[inverse.slot] != .object(object)
    else { return }
    let claimants = try context.fetchIDs(
      FetchRequest<ManagedObject>(
        entityName: relationship.entity.name, predicate: .equal(relationship.name, .object(other)), fetchLimit: 3))
    let otherwise = "decide which it is, and set it"
    guard case .object(let third) = target.values[inverse.slot] else {
      // No other object may claim it, or the owner is ambiguous.
      let fix = GraphFix(
        object: other, relationship: inverse.name, former: .null, value: .object(object), deed: "set there, too")
      return note(
        .inverse, object, relationship, "leads to \(other), whose \(inverse.name) is empty",
        fix: claimants == [object] ? fix : nil, otherwise: otherwise)
    }
    let fix = GraphFix(
      object: object, relationship: relationship.name, former: .object(other), value: .null, deed: "emptied")
    let isSettled = Set(claimants) == [object, third] && relationship.isOptional
    note(
      .inverse, object, relationship, "leads to \(other), whose \(inverse.name) is \(third)",
      fix: isSettled ? fix : nil, otherwise: otherwise)
  }

  private mutating func note(
    _ kind: StoreProblem.Kind, _ id: ManagedObjectID, _ relationship: RelationshipDescription, _ what: String,
    fix: GraphFix?, otherwise: String
  ) {
    findings.append(
      GraphFinding(
        problem: StoreProblem(
          kind, entity: id.entity.name, number: id.number, property: relationship.name, message: "(\(id)) \(what)"),
        fix: fix, otherwise: otherwise))
  }
}
