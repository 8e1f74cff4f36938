import ManagedObjects

// What the store says no to.
extension RowApplier {
  /// Whether the store has got an object of a new one's key meanwhile: a record that would be an update if the batch
  /// were applied again, or an object that needn't have been made.
  func hasMissedObjects(_ conflicts: [ConstraintConflict]) -> Bool {
    if conflicts.contains(where: { created.contains($0.objectID) }) { return true }
    guard let existing else { return false }
    let refused = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    return applied.contains { item in
      item.isNew && (refused[item.object.objectID].map { existing.isKey($0.constraint) } ?? false)
    }
  }

  /// The records whose objects the store refuses, with the reason.
  ///
  /// Of several records of one object, it is the last that changed what the conflict is about.
  func refusals(_ conflicts: [ConstraintConflict]) -> [Int: Rejection] {
    let refused = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    var culprits: [ManagedObjectID: Applied] = [:]
    for item in applied {
      let id = item.object.objectID
      guard let conflict = refused[id] else { continue }
      let slots = conflict.constraint.compactMap { entity.slot(of: $0) }
      if culprits[id] == nil || item.changed.contains(where: slots.contains) { culprits[id] = item }
    }
    var rejections: [Int: Rejection] = [:]
    for (id, conflict) in refused where culprits[id] == nil {
      guard let index = nestedRows[id], let object = context.registeredObject(for: id) else { continue }
      let row = batch.rows[index]
      rejections[row.record] = batch.duplicate(row, conflict.constraint, object.slots, object.entity)
    }
    for (id, item) in culprits {
      guard let conflict = refused[id] else { continue }
      let row = batch.rows[item.row]
      rejections[row.record] = batch.duplicate(row, conflict.constraint, item.object.slots, item.object.entity)
    }
    return rejections
  }
}
