// Most records of a file that comes again change nothing. Where one key tells their objects apart, and they refer to nothing or
// to objects of another kind that are all there, they are compared with the store's rows as these are read:
//   1. what is the same is counted, and no object is made of it;
//   2. what the store hasn't got is inserted without objects;
//   3. the rest is applied as any batch is, and all three are one save.
// No two of the rows have the same key, so that their order makes no difference. Whatever can't be settled this way, or is
// refused by the store, is applied as a whole.

import ManagedObjects

extension BatchWriter {
  /// Writes a batch by comparing its rows with the store's.
  /// - Returns: false when the batch is to be applied as any other; its rows are such as objects are made of then.
  func writeCompared(_ batch: ConvertedBatch) throws -> Bool {
    // Which object a rejected record is about is found with the objects of the others.
    guard absent == nil || batch.rejections.isEmpty, try !mayHaveLeft(batch.mapping) else {
      batch.makeRows()
      return false
    }
    do {
      let record = try ImportCheckpoint.object(job, in: context)
      if let outcome = try compare(batch) {
        try save(batch, batch.rejections + outcome.rejections, outcome.tally, record)
        return true
      }
    } catch ManagedObjectError.constraintConflicts, ManagedObjectError.mergeConflicts,
      ManagedObjectError.brokenReferences
    {
      // Somebody else wrote one of the rows between reading and saving it.
      resolver.forget()
    }
    context.reset()
    batch.makeRows()
    return false
  }

  /// Whether references or records of batches before wait for objects: a row may be about the same object.
  private func mayHaveLeft(_ mapping: RecordMapping) throws -> Bool {
    if mapping.references.isEmpty { return false }
    return try (hasKept ?? !pending.isEmpty()) || (hasAside ?? !aside.isEmpty())
  }

  /// What became of the rows of a batch that was compared.
  private struct Outcome {
    var tally = Tally()
    var rejections: [Rejection] = []
  }

  /// Makes of a batch's rows what the next save is to write; nil when it can't be told by comparing.
  private func compare(_ batch: ConvertedBatch) throws -> Outcome? {
    guard let new = batch.newRows, try point(new, of: batch), let matches = try matches(of: new, in: batch) else {
      return nil
    }
    var absent: [Int] = []
    var different: [Int] = []
    var numbers: [Int64] = []
    for row in 0..<new.count {
      if let number = matches.numbers[row] {
        if matches.isSame[row] { numbers.append(number) } else { different.append(row) }
      } else if mode == .update {
        // Rejected, in words.
        different.append(row)
      } else {
        absent.append(row)
      }
    }
    var outcome = Outcome()
    outcome.tally.unchanged = Int64(numbers.count)
    batch.makeRows(of: different)
    if !different.isEmpty {
      let rows = RowApplier(
        context: context, entity: entity, mode: mode, batch: batch, phase: .inTheFile, pending: pending, aside: aside)
      try rows.apply(excluding: [:], resolver, mayHaveKept: false, mayHaveAside: false)
      let tally = try self.absent?.seen.mark(rows) ?? rows.tally
      outcome.tally.add(tally)
      outcome.rejections = rows.rejections
    }
    if let seen = self.absent?.seen {
      for row in absent {
        // Without a key of its own a row's number isn't known before it is saved.
        guard let slot = entity.primaryKey?.slot, case .int(let number) = new.value(row, slot) else { return nil }
        numbers.append(number)
      }
      try seen.mark(numbers.sorted())
    }
    if !absent.isEmpty {
      let rows =
        absent.count == new.count ? new : new.selecting(absent, of: context.persistentStoreCoordinator)
      guard try context.insert(rows) else { return nil }
      outcome.tally.inserted += Int64(absent.count)
    }
    return outcome
  }
}

extension BatchWriter {
  /// Has the references of a batch's rows lead to the store's objects; false when there isn't one for each.
  private func point(_ rows: NewRows, of batch: ConvertedBatch) throws -> Bool {
    for (place, reference) in batch.mapping.references.enumerated() {
      let slot = reference.relationship.slot
      let areAllThere = try resolver.findEach(
        reference.relationship, by: reference.key, of: batch.newKeys[place].prefix(rows.count)
      ) { row, target in rows.point(row, slot, to: target) }
      guard areAllThere else { return false }
    }
    return true
  }

  /// What the store has of a batch's rows; nil when that can't be told by comparing.
  private func matches(of rows: NewRows, in batch: ConvertedBatch) throws -> RowMatches? {
    guard mode.findsObjects else { return RowMatches(count: rows.count) }
    guard let key = batch.keySlot else { return nil }
    return try context.matches(of: rows, by: key, order: batch.keyOrder, slots: batch.comparedSlots)
  }
}

extension Tally {
  /// Adds what became of other rows.
  fileprivate mutating func add(_ other: Tally) {
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    deleted += other.deleted
    if unidentified == 0 { unidentifiedLine = other.unidentifiedLine }
    unidentified += other.unidentified
    created.merge(other.created, uniquingKeysWith: +)
  }
}
