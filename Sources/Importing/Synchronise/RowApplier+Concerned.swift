import ManagedObjects

// Which of the store's objects a batch was about.
extension RowApplier {
  /// The numbers of the objects of the rows that were applied. New objects have their numbers afterwards.
  func appliedNumbers() throws -> [Int64] {
    let numberless = applied.lazy.filter { $0.isNew && SeenObjects.number(of: $0.object) == nil }.map(\.object)
    if !numberless.isEmpty { try context.obtainPermanentIDs(for: Array(numberless)) }
    return applied.compactMap { SeenObjects.number(of: $0.object) }
  }

  /// What the other records are about: those that are rejected, and those that wait for an object.
  func rejectedKeys() -> RejectedKeys {
    var rejected = batch.rejectedKeys
    guard applied.count < batch.rows.count else { return rejected }
    let rows = Set(applied.map(\.row))
    for index in batch.rows.indices where !rows.contains(index) {
      let row = batch.rows[index]
      if let place = batch.constraint(of: row) {
        rejected.note(uniqueKey(row.values, place), place)
      } else {
        rejected.noteUnidentified(line: row.aside?.kept.line ?? batch.source.line(row.record))
      }
    }
    return rejected
  }

  /// The numbers of the objects with these keys that the store has.
  func numbers(of rejected: RejectedKeys) -> [Int64] {
    rejected.keys.compactMap { place, key in existing?.object(key, place).flatMap(SeenObjects.number) }
  }

  /// Objects that references lead to which would make them if they weren't there, and those that records have inside.
  func referred() -> [ManagedObjectID] {
    var ids = nested?.carried.map(\.objectID) ?? []
    for (place, end) in ends.enumerated() where isOwn[place] && end.creates != nil {
      for item in applied {
        let row = batch.rows[item.row]
        let keys = place < references.count ? [row.keys[place]] : row.lists[place - references.count] ?? []
        ids += keys.compactMap { targets[place][$0] }
      }
    }
    return ids
  }
}
