// Most records of a file that is imported again change nothing. Where one uniqueness constraint identifies their objects, and
// they refer to nothing or to objects of other entities, they are compared with the store's rows while these are read:
//   1. what is the same is counted, and no object is made of it;
//   2. what the store doesn't have is inserted without objects; references to objects that the store doesn't have either are
//      kept for the end of the file, without objects, too;
//   3. the rest is applied like any batch, and all three are one save. That includes rows of the store's objects whose
//      references may wait for the end: what was kept of them, and what is to be kept, is about the same object.
// After a batch of new keys only, an upsert takes the next one's for new as well and looks none up: the store's uniqueness
// constraint refuses the save if that is wrong.
// Rows with nested objects in flat memory are inserted with these if the store has neither, in one save, and counted if the
// store has all of both with the same values.
//
// No two of the rows have the same key, so their order makes no difference. A batch that can't be settled this way, or that
// the store refuses, is applied as a whole.

import ManagedObjects

/// Writes a batch by comparing its rows with the store's.
final class BatchComparison {
  /// How many batches are compared after one that was wrongly taken for new, before another is taken for new.
  private static let caution = 8
  private let target: BatchTarget
  private let commit: BatchCommit
  /// How many batches in sequence had only new keys; below 0 after a wrong guess.
  private var newBatches = 0
  private var context: ManagedObjectContext { target.context }
  private var entity: EntityDescription { target.entity }

  init(_ target: BatchTarget, _ commit: BatchCommit) {
    self.target = target
    self.commit = commit
  }

  /// What became of the rows of a batch.
  private struct Outcome {
    var tally = Tally()
    var rejections: [Rejection] = []
    /// Whether references were kept for the end of the file.
    var leavesReferences = false
  }

  /// The keys that no object has, by the row and the name of the relationship.
  private typealias MissingKeys = [Int: [String: String]]

  /// Writes a batch.
  /// - Returns: false when the batch has to be applied like any other; it has rows for objects then.
  func write(_ batch: ConvertedBatch) throws -> Bool {
    // Which object a rejected record is about is found with the objects of the others. A deferred record of an earlier batch
    // may be about the same object as a row.
    guard target.absent == nil || batch.rejections.isEmpty,
      try isWithoutReferences(batch) || !target.backlog.mayHaveRecords()
    else {
      try batch.makeRows()
      return false
    }
    do {
      if newBatches > 0, target.mode == .upsert { return try saveAsNew(batch) }
      if try save(batch, expectsNew: false) { return true }
    } catch ManagedObjectError.constraintConflicts, ManagedObjectError.mergeConflicts,
      ManagedObjectError.brokenReferences, ManagedObjectError.validation
    {
      // Another writer changed one of the rows between reading and saving it, or a row's reference leads to an object whose
      // set has rules.
      target.resolver.forget()
    }
    context.reset()
    try batch.makeRows()
    return false
  }

  /// Saves a batch after one whose keys were all new. The store refuses it if any of its keys isn't, and it is compared then.
  private func saveAsNew(_ batch: ConvertedBatch) throws -> Bool {
    do {
      if try save(batch, expectsNew: true) { return true }
    } catch ManagedObjectError.constraintConflicts {
      newBatches = -Self.caution
      context.reset()
      if try save(batch, expectsNew: false) { return true }
    }
    context.reset()
    try batch.makeRows()
    return false
  }

  private func save(_ batch: ConvertedBatch, expectsNew: Bool) throws -> Bool {
    target.lineage?.begin()
    let record = try commit.checkpointObject()
    guard let outcome = try compare(batch, expectsNew: expectsNew) else { return false }
    try commit.save(batch, rejecting: batch.rejections + outcome.rejections, outcome.tally, in: record)
    target.backlog.noteSaved(references: outcome.leavesReferences, records: false)
    return true
  }

  /// Whether nothing of the batch's rows ever waits for other objects.
  private func isWithoutReferences(_ batch: ConvertedBatch) -> Bool {
    batch.mapping.references.isEmpty && batch.mapping.collections.isEmpty
  }

  /// Turns a batch's rows into what the next save is to write; nil when comparing can't settle it.
  /// - Parameter expectsNew: whether all keys are taken for new, so that none is looked up.
  private func compare(_ batch: ConvertedBatch, expectsNew: Bool) throws -> Outcome? {
    guard let rows = batch.flatRows, let missing = try point(rows, of: batch),
      let matches = try expectsNew ? RowMatches(count: rows.count) : matches(of: rows, in: batch)
    else { return nil }
    // References of earlier batches may wait for the end of the file.
    let hasBacklog = try !isWithoutReferences(batch) && target.backlog.mayHaveReferences()
    if !batch.flatNested.isEmpty {
      return missing.isEmpty && !hasBacklog ? try insertNested(batch, rows, matches, expectsNew) : nil
    }
    if !expectsNew { newBatches = matches.isEmpty ? newBatches + 1 : min(newBatches, 0) }
    let replaced = try replacedNumbers(matches)
    var absent: [Int] = []
    var different: [Int] = []
    var numbers: [Int64] = []
    for row in 0..<rows.count {
      if let number = matches.numbers[row] {
        let isSame = matches.isSame[row] && !hasBacklog && missing[row] == nil && !replaced.contains(number)
        if isSame { numbers.append(number) } else { different.append(row) }
      } else if target.mode == .update {
        // It will be rejected with a message.
        different.append(row)
      } else {
        absent.append(row)
      }
    }
    var outcome = Outcome()
    outcome.tally.unchanged = Int64(numbers.count)
    batch.makeRows(of: different)
    if !different.isEmpty {
      let applier = RowApplier(target, batch, .reading)
      try applier.apply(excluding: [:], mayHaveReferences: hasBacklog, mayHaveRecords: false)
      outcome.tally.add(try target.absent?.seen.mark(applier) ?? applier.tally)
      if let lineage = target.lineage { applier.note(in: lineage) }
      outcome.rejections = applier.rejections
      outcome.leavesReferences = applier.leavesReferences
    }
    let new = absent.count == rows.count ? rows : rows.selecting(absent, of: context.persistentStoreCoordinator)
    let late = missing.isEmpty ? [] : absent.indices.filter { missing[absent[$0]] != nil }
    var given: [Int64] = []
    let lineage = target.lineage.flatMap { $0.contains(entity) ? $0 : nil }
    if !absent.isEmpty, target.absent != nil || !late.isEmpty || lineage != nil {
      guard let obtained = try context.obtainNumbers(for: new) else { return nil }
      given = obtained
    }
    try target.absent?.seen.mark((numbers + given).sorted(), as: .described)
    if !absent.isEmpty {
      guard try context.insert(new) else { return nil }
      outcome.tally.inserted += Int64(absent.count)
      lineage?.noteInserted(new, numbers: given) {
        batch.fingerprintSum(ofFlat: absent[$0])
      } place: {
        batch.place(ofFlat: absent[$0])
      }
    }
    if !late.isEmpty {
      let notes = late.map { (row: given[$0], keys: missing[absent[$0]] ?? [:]) }
      guard try target.backlog.references.keep(notes, of: entity) else { return nil }
      outcome.leavesReferences = true
    }
    return outcome
  }

  /// Inserts rows with the rows of their nested objects, all of which have to be new, or counts them, if nothing of them
  /// changes anything; nil if neither is so.
  private func insertNested(
    _ batch: ConvertedBatch, _ rows: NewRows, _ matches: RowMatches, _ expectsNew: Bool
  ) throws -> Outcome? {
    if !expectsNew {
      guard try areNew(matches, batch.flatNested) else {
        newBatches = min(newBatches, 0)
        guard try areSame(rows, matches, batch.flatNested) else {
          batch.mapping.nestedMappings.noteFound()
          return nil
        }
        var outcome = Outcome()
        outcome.tally.unchanged = Int64(rows.count)
        return outcome
      }
      newBatches += 1
    }
    guard let ids = try context.obtainIDs(for: rows), try context.insert(rows) else { return nil }
    var outcome = Outcome()
    target.lineage?.noteInserted(rows, numbers: ids.map(\.number)) {
      batch.fingerprintSum(ofFlat: $0)
    } place: {
      batch.place(ofFlat: $0)
    }
    outcome.tally.inserted = Int64(rows.count)
    for nested in batch.flatNested where nested.rows.count > 0 {
      nested.point(to: ids)
      if let lineage = target.lineage, lineage.contains(nested.rows.entity) {
        guard let numbers = try context.obtainNumbers(for: nested.rows) else { return nil }
        let owners = nested.owners
        lineage.noteInserted(nested.rows, numbers: numbers) { _ in
          nil
        } place: {
          batch.place(ofFlat: owners[$0])
        }
      }
      // After the rows that they refer to, so that no reference is broken at any moment.
      guard try context.insert(nested.rows) else { return nil }
      outcome.tally.created[nested.shape.relationship.name] = Int64(nested.rows.count)
    }
    return outcome
  }

  /// Whether the store has neither an object of the batch's keys nor one of its nested objects.
  private func areNew(_ matches: RowMatches, _ nested: [FlatNestedRows]) throws -> Bool {
    guard matches.isEmpty else { return false }
    return try nested.allSatisfy { nested in
      try context.matches(of: nested.rows, by: nested.shape.key, order: nested.order, slots: [])?.isEmpty ?? false
    }
  }

  /// Whether the store has the objects of all records with the same values, and just the nested objects that each record has,
  /// with the same values.
  private func areSame(_ rows: NewRows, _ matches: RowMatches, _ nested: [FlatNestedRows]) throws -> Bool {
    guard target.absent == nil, nested.allSatisfy(\.areGivenByAll), matches.areAllSame else { return false }
    let coordinator = context.persistentStoreCoordinator
    let owners = try matches.numbers.compactMap(\.self).map {
      try coordinator.managedObjectID(entity: entity.name, number: $0)
    }
    return try nested.allSatisfy { nested in
      nested.point(to: owners)
      let shape = nested.shape
      guard
        let found = try context.matches(
          of: nested.rows, by: shape.key, order: nested.order, slots: shape.comparedSlots),
        found.areAllSame
      else { return false }
      // As many as were found are all that there are.
      return try members(of: owners, by: shape.inverse) == nested.rows.count
    }
  }

  /// How many objects refer to these.
  private func members(of owners: [ManagedObjectID], by reference: RelationshipDescription) throws -> Int {
    try owners.parts(of: 10_000).reduce(0) { sum, part in
      try sum
        + context.count(
          for: FetchRequest<ManagedObject>(
            entityName: reference.entity.name, predicate: .isIn(reference.name, part.map { .object($0) }),
            includesPendingChanges: false))
    }
  }

  /// The objects among the matches that an earlier batch has replaced, in a mode that does so: a second record of the same key
  /// is to be rejected.
  private func replacedNumbers(_ matches: RowMatches) throws -> Set<Int64> {
    guard target.mode == .replace, let seen = target.absent?.seen else { return [] }
    return try seen.described(among: matches.numbers.compactMap(\.self))
  }

  /// Points the references of a batch's rows to the store's objects.
  /// - Returns: the keys that no object has, whose references are empty then; nil when one of them has to be rejected or to be
  ///   created.
  private func point(_ rows: NewRows, of batch: ConvertedBatch) throws -> MissingKeys? {
    var missing: MissingKeys = [:]
    for (place, reference) in batch.mapping.references.enumerated() {
      let (relationship, keys) = (reference.relationship, batch.flatKeys(place))
      let absent = try target.resolver.findEach(relationship, by: reference.key, of: keys) { row, target in
        rows.point(row, relationship.slot, to: target)
      }
      if absent.isEmpty { continue }
      guard !reference.needsObject, reference.placeholder == nil else { return nil }
      for row in absent {
        rows.clear(row, relationship.slot)
        missing[row, default: [:]][relationship.name] = keys.keys[row].plainText
      }
    }
    return missing
  }

  /// The store's rows with the same keys; nil when comparing can't find them.
  private func matches(of rows: NewRows, in batch: ConvertedBatch) throws -> RowMatches? {
    guard let key = batch.mapping.comparisonKey(in: target.mode) else { return nil }
    if key.isEmpty { return RowMatches(count: rows.count) }
    return try context.matches(
      of: rows, by: key, order: batch.keyOrder, slots: batch.mapping.comparedSlots(in: target.mode))
  }
}
