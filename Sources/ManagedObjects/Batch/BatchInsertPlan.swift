/// The plan for one chunk of rows: which become new rows, and which are merged into stored ones.
struct BatchInsertPlan {
  private var rows: ContiguousArray<BatchRow> = []
  private var places: [ManagedObjectID: Int] = [:]
  private var gone: Set<Int> = []
  private var updates: [ManagedObjectID: StoreChanges.Update] = [:]
  private var updated: [ManagedObjectID] = []
  /// The rows that are merged into a stored one.
  private var arrivals: [ManagedObjectID: [Int]] = [:]

  var count: Int { rows.count }

  mutating func append(_ row: BatchRow) { rows.append(row) }

  func fill(_ changes: inout StoreChanges) {
    changes.inserted.reserveCapacity(rows.count)
    for (place, row) in rows.enumerated() where gone.isEmpty || !gone.contains(place) {
      if let id = row.id { changes.inserted.append(StoreRow(id: id, values: row.values)) }
    }
    changes.updated = updated.compactMap { updates[$0] }.filter { $0.values != $0.committed }
  }

  /// The stored rows that others are merged into.
  var targets: [ManagedObjectID] { updated.filter { updates[$0] != nil } }

  /// Updates the stored rows to their current state. Those that are missing have been deleted.
  mutating func rebase(on rows: [StoreRow]) {
    let stored = Dictionary(rows.map { ($0.id, $0.values) }) { first, _ in first }
    for (id, update) in updates {
      guard let now = stored[id] else {
        updates[id] = nil
        continue
      }
      var values = now
      for slot in values.indices where update.values[slot] != update.committed[slot] {
        values[slot] = update.values[slot]
      }
      updates[id] = .init(id: id, values: values, committed: now)
    }
  }

  /// Merges each row that has another row's unique values into that one, as if they had been inserted one after the other.
  /// Returns the stored rows to delete first: those whose unique values belong to a row that was merged into another.
  /// - Throws: the conflicts that can't be settled, because the store doesn't know the row in the way.
  mutating func settle(
    _ conflicts: [ConstraintConflict], by policy: MergePolicy.MergeType
  ) throws -> [ManagedObjectID] {
    if places.isEmpty {
      for (place, row) in rows.enumerated() { if let id = row.id { places[id] = place } }
    }
    var settled: Set<ManagedObjectID> = []
    var merged: [ManagedObjectID: ManagedObjectID] = [:]
    var superseded: [ManagedObjectID] = []
    let rowTrumps = policy == .mergeByPropertyObjectTrump || policy == .overwrite
    for conflict in conflicts {
      let isFirst = settled.insert(conflict.objectID).inserted
      guard let first = conflict.earlier ?? conflict.database else {
        throw ManagedObjectError.constraintConflicts(conflicts)
      }
      guard let place = places[conflict.objectID] else {
        if rowTrumps {
          supersede(first.id, &superseded)
        } else {
          putBack(conflict.constraint, of: conflict.objectID)
        }
        continue
      }
      guard isFirst, !gone.contains(place) else { continue }
      guard first.id.entity === conflict.objectID.entity else {
        // A row can't change its entity: one of the two is dropped.
        if rowTrumps { supersede(first.id, &superseded) } else { gone.insert(place) }
        continue
      }
      var other = first.id
      while let next = merged[other] { other = next }
      // A row whose target is deleted meets the remaining ones in the next round.
      guard !superseded.contains(other) else { continue }
      merged[conflict.objectID] = other
      gone.insert(place)
      if let earlier = places[other] {
        Self.merge(rows[place], into: &rows[earlier].values, by: policy)
      } else {
        if updates[other] == nil {
          updates[other] = .init(id: other, values: first.values, committed: first.values)
          updated.append(other)
        }
        if var update = updates[other] {
          Self.merge(rows[place], into: &update.values, by: policy)
          updates[other] = update
          arrivals[other, default: []].append(place)
        }
      }
    }
    return superseded
  }

  /// Drops a stored row whose unique values another row takes. Rows that were merged into it stand alone again.
  private mutating func supersede(_ id: ManagedObjectID, _ superseded: inout [ManagedObjectID]) {
    updates[id] = nil
    gone.subtract(arrivals.removeValue(forKey: id) ?? [])
    if !superseded.contains(id) { superseded.append(id) }
  }

  /// Restores the former values of a constraint in a stored row.
  private mutating func putBack(_ constraint: [String], of id: ManagedObjectID) {
    guard var update = updates[id] else { return }
    for name in constraint {
      if let slot = id.entity.slot(of: name) { update.values[slot] = update.committed[slot] }
    }
    updates[id] = update
  }

  private static func merge(
    _ row: BatchRow, into values: inout ContiguousArray<Value>, by policy: MergePolicy.MergeType
  ) {
    guard let entity = row.id?.entity else { return }
    for property in entity.properties where !property.isTransient && !property.holdsSet {
      if property.isDerived { continue }
      let slot = property.slot
      let standard = entity.initialValues[slot]
      let wins =
        switch policy {
        case .error, .rollback: false
        case .overwrite: true
        case .mergeByPropertyObjectTrump: row.gives(slot, standard: standard)
        case .mergeByPropertyStoreTrump: row.gives(slot, standard: standard) && values[slot] == standard
        }
      if wins { values[slot] = row.values[slot] }
    }
  }
}
