import ManagedObjects

// References to rows that come later: set when the batch has them, and kept in the store otherwise.
extension RowApplier {
  /// What earlier batches kept of an object, taken out of the store when the row says something of it.
  func kept(of object: ManagedObject, _ row: ConvertedBatch.Row) throws -> Waiting? {
    let number = PendingReferences.number(of: object)
    guard let item = kept[number] else { return nil }
    let note = try PendingReferences.note(item)
    let isConcerned = references.enumerated().contains { place, reference in
      row.keys[place] != .unresolved && note.keys[reference.relationship.name] != nil
    }
    let isSetConcerned = row.lists.enumerated().contains { offset, list in
      list != nil && note.sets[ends[references.count + offset].relationship.name] != nil
    }
    guard isConcerned || isSetConcerned else { return nil }
    kept[number] = nil
    context.delete(item)
    return Waiting(note: note)
  }

  /// Sets references to rows of this batch that came later, and keeps the others for the end of the file.
  func keepReferences(_ resolver: ReferenceResolver) throws {
    guard !waiting.isEmpty else { return }
    var keeping: [(object: ManagedObject, note: PendingReferences.Note)] = []
    for item in applied {
      guard var waits = waiting.removeValue(forKey: ObjectIdentifier(item.object)) else { continue }
      for (place, key) in waits.keys {
        guard let target = targets[place][key] else { continue }
        item.object.point(references[place].relationship, to: target)
        waits.note.keys[references[place].relationship.name] = nil
        waits.countAsChange(&tally)
      }
      for (place, set) in waits.sets {
        let relationship = ends[place].relationship
        let found = set.missing.compactMap { targets[place][$0] }
        guard !found.isEmpty else { continue }
        item.object.join(relationship, found, order: set.keys.compactMap { targets[place][$0] })
        waits.note.sets[relationship.name]?.missing = set.missing.filter { targets[place][$0] == nil }.map(\.plainText)
        if found.count == set.missing.count { waits.note.sets[relationship.name] = nil }
        waits.countAsChange(&tally)
      }
      if !waits.note.isEmpty { keeping.append((item.object, waits.note)) }
    }
    guard !keeping.isEmpty else { return }
    keepsReferences = true
    if entity.primaryKey == nil {
      // All of them, so that numbers go along with the file.
      try context.obtainPermanentIDs(for: applied.filter(\.isNew).map(\.object))
    }
    for item in keeping { try pending.keep(item.note, of: item.object) }
  }
}

extension RowApplier.Waiting {
  /// A row that was counted as unchanged has changed after all.
  fileprivate mutating func countAsChange(_ tally: inout Tally) {
    guard note.isCountedUnchanged else { return }
    note.isCountedUnchanged = false
    tally.unchanged -= 1
    tally.updated += 1
  }
}

extension ManagedObject {
  /// Adds objects to what a to-many relationship holds; in one that has an order, those of `order` come first, in it.
  func join(_ relationship: RelationshipDescription, _ ids: [ManagedObjectID], order: [ManagedObjectID]) {
    let now = resolved(relationship).relatedIDs
    var seen = Set(now)
    let all = now + ids.filter { seen.insert($0).inserted }
    guard relationship.isOrdered else { return hold(relationship, all) }
    let first = order.filter { seen.contains($0) }
    let named = Set(first)
    hold(relationship, first + all.filter { !named.contains($0) })
  }
}
