// A record that refers to an object changes the set at the other end, whose owner has rules of its own: a team has eleven players
// at most. The save asks the owner, when all records of the batch are applied. Where it isn't valid, the records that changed
// its set are to blame, as if each had been saved by itself: those that came when the set was full, and those that left when
// it had as few as it may have.

import ManagedObjects

/// Finds the records of a batch because of which objects that they refer to aren't valid.
struct OwnerRefusals {
  /// What a record does to a set.
  private struct Step {
    let row: Int
    let reference: RelationshipDescription
    let joins: Bool
  }

  private let context: ManagedObjectContext
  private let batch: ConvertedBatch
  private let applied: AppliedRows

  init(_ context: ManagedObjectContext, _ batch: ConvertedBatch, _ applied: AppliedRows) {
    self.context = context
    self.batch = batch
    self.applied = applied
  }

  /// The rejections of these records, by record; none where the failures are of something else.
  func rejections(_ failures: [ValidationFailure]) throws -> [Int: Rejection] {
    var rejections: [Int: Rejection] = [:]
    for failure in failures {
      guard let id = failure.objectID else { continue }
      let owner = context.object(with: id)
      let steps = steps(in: owner, failure)
      var blamed = try self.blamed(steps, owner, failure)
      if blamed.isEmpty { blamed = steps }
      for step in blamed {
        note(
          step.row, step.reference.name,
          "\(owner.entity.name) \(owner.keyDescription) isn't valid with this record: \(failure.description)", failure,
          in: &rejections)
      }
      // Its own record, or the one that it is nested in.
      if steps.isEmpty, let row = applied.last(owner) ?? applied.row(ofNested: id) {
        note(row, failure.property, failure.description, failure, in: &rejections)
      }
    }
    return rejections
  }

  private func note(
    _ index: Int, _ column: String, _ message: String, _ failure: ValidationFailure,
    in rejections: inout [Int: Rejection]
  ) {
    let row = batch.rows[index]
    if rejections[row.record] != nil { return }
    rejections[row.record] = batch.rejection(row, column: column, code: failure.code, message: message)
  }

  /// The records that change the set which isn't valid, or any of the owner's, in the order in which they were applied.
  private func steps(in owner: ManagedObject, _ failure: ValidationFailure) -> [Step] {
    let sets = owner.entity.relationshipsByName[failure.property].map { [$0] } ?? owner.entity.relationships
    let references = sets.compactMap(\.inverseRelationship).filter { !$0.isToMany }
    var steps: [Step] = []
    for item in applied.rows where applied.last(item.object) == item.index {
      for reference in references where item.object.entity.isKindOf(reference.entity) {
        let before = item.object.committedValues(forKeys: [reference.name])[reference.name] ?? .null
        let wasMember = before == .object(owner.objectID)
        let isMember = item.object.value(at: reference.slot) == .object(owner.objectID)
        guard wasMember != isMember else { continue }
        steps.append(Step(row: item.index, reference: reference, joins: isMember))
      }
    }
    return steps
  }

  /// Those of the steps that lead beyond the bounds of the set; none where the failure isn't of its bounds.
  private func blamed(_ steps: [Step], _ owner: ManagedObject, _ failure: ValidationFailure) throws -> [Step] {
    guard let reference = steps.first?.reference else { return [] }
    var count = try storedCount(of: owner, reference)
    var blamed: [Step] = []
    for step in steps {
      switch failure.reason {
      case .tooManyObjects(let limit) where step.joins && count >= limit: blamed.append(step)
      case .tooFewObjects(let limit) where !step.joins && count <= limit: blamed.append(step)
      case .tooManyObjects, .tooFewObjects: count += step.joins ? 1 : -1
      default: return []
      }
    }
    return blamed
  }

  /// How many members the set has in the store.
  private func storedCount(of owner: ManagedObject, _ reference: RelationshipDescription) throws -> Int {
    guard !owner.objectID.isTemporaryID else { return 0 }
    return try context.count(
      for: FetchRequest<ManagedObject>(
        entityName: reference.entity.name, predicate: .equal(reference.name, .object(owner.objectID)),
        includesPendingChanges: false))
  }
}
