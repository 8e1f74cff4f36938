/// Inserts a batch's rows, some thousand at a time, within one transaction of a store.
struct BatchInsertion {
  let policy: MergePolicy.MergeType
  let wantsIDs: Bool
  let contextName: String?
  let transactionAuthor: String?

  private static var chunk: Int { 2000 }
  /// Rounds in which the conflicts of a chunk are settled: each may meet the next constraint of its rows.
  private static var attempts: Int { 8 }

  func run(_ rows: BatchRows, in transaction: any StoreTransaction) throws -> StoreBatchResult {
    var result = StoreBatchResult()
    while true {
      var plan = BatchInsertPlan()
      while plan.count < Self.chunk, let row = try rows.next() { plan.append(row) }
      if plan.count == 0 { return result }
      let ids = try write(&plan, in: transaction)
      result.count += ids.count
      if wantsIDs { result.ids += ids }
    }
  }

  /// Returns the IDs of the rows that were inserted or changed.
  private func write(_ plan: inout BatchInsertPlan, in transaction: any StoreTransaction) throws -> [ManagedObjectID] {
    var attempt = 1
    while true {
      var changes = StoreChanges(contextName: contextName, transactionAuthor: transactionAuthor)
      plan.fill(&changes)
      do {
        let ids = changes.isEmpty ? [] : try transaction.write(changes).ids
        return ids + changes.updated.map(\.id)
      } catch ManagedObjectError.constraintConflicts(let conflicts) where policy != .error && attempt < Self.attempts {
        try plan.settle(conflicts, by: policy)
        attempt += 1
      }
    }
  }
}

/// The rows of one chunk: those that become new rows, and stored ones into which others go.
struct BatchInsertPlan {
  private var rows: ContiguousArray<BatchRow> = []
  private var places: [ManagedObjectID: Int] = [:]
  private var gone: Set<Int> = []
  private var updates: [ManagedObjectID: StoreChanges.Update] = [:]
  private var updated: [ManagedObjectID] = []

  var count: Int { rows.count }

  mutating func append(_ row: BatchRow) { rows.append(row) }

  func fill(_ changes: inout StoreChanges) {
    changes.inserted.reserveCapacity(rows.count)
    for (place, row) in rows.enumerated() where gone.isEmpty || !gone.contains(place) {
      if let id = row.id { changes.inserted.append(StoreRow(id: id, values: row.values)) }
    }
    changes.updated = updated.compactMap { updates[$0] }.filter { $0.values != $0.committed }
  }

  /// Lets each row that has another's unique values go into that one, as if they had been inserted one after the other.
  /// - Throws: the conflicts that can't be settled so: a row of another entity is in the way, or two rows are.
  mutating func settle(_ conflicts: [ConstraintConflict], by policy: MergePolicy.MergeType) throws {
    if places.isEmpty {
      for (place, row) in rows.enumerated() { if let id = row.id { places[id] = place } }
    }
    var settled: Set<ManagedObjectID> = []
    var merged: [ManagedObjectID: ManagedObjectID] = [:]
    for conflict in conflicts where settled.insert(conflict.objectID).inserted {
      guard let place = places[conflict.objectID], let first = conflict.earlier ?? conflict.database,
        first.id.entity === conflict.objectID.entity
      else { throw ManagedObjectError.constraintConflicts(conflicts) }
      var other = first.id
      while let next = merged[other] { other = next }
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
        }
      }
    }
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
