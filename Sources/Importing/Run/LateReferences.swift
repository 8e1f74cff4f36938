import ManagedObjects

/// References of a batch's objects to rows that come later: set at the end of the batch if it has them, and kept in the
/// store until the end of the file otherwise.
struct LateReferences {
  /// The references of one object that lead nowhere yet.
  private struct Missing {
    var note: PendingReferences.Note
    /// The keys given by this batch's own rows, by the reference's place.
    var keys: [Int: Value] = [:]
    var sets: [Int: RowChange.SetChange] = [:]
  }

  private let pending: PendingReferences
  private let targets: ReferenceTargets
  /// What earlier batches kept, by the number of the object's row.
  private var kept: [Value: ManagedObject] = [:]
  private var missing: [ObjectIdentifier: Missing] = [:]
  /// Whether anything was kept for the end of the file.
  private(set) var leavesSome = false

  init(_ pending: PendingReferences, _ targets: ReferenceTargets) {
    self.pending = pending
    self.targets = targets
  }

  /// Reads what earlier batches kept of these objects.
  mutating func read(of objects: [ManagedObject]) throws { kept = try pending.kept(of: objects) }

  /// Notes what the object of an applied row still lacks. What the row says replaces what was missing before.
  mutating func note(_ object: ManagedObject, _ row: ConvertedBatch.Row, _ change: RowChange) throws {
    let ends = targets.ends
    var left = try missing.removeValue(forKey: ObjectIdentifier(object)) ?? takeKept(of: object, row)
    for place in 0..<targets.referenceCount where row.keys[place] != .unresolved {
      left?.note.keys[ends[place].relationship.name] = nil
      left?.keys[place] = nil
    }
    for (offset, list) in row.lists.enumerated() where list != nil {
      left?.note.sets[ends[targets.referenceCount + offset].relationship.name] = nil
      left?.sets[targets.referenceCount + offset] = nil
    }
    let sets = change.sets.filter { !$0.missing.isEmpty }
    if !change.missing.isEmpty || !sets.isEmpty {
      var new = left ?? Missing(note: .init(keys: [:], isCountedUnchanged: false))
      for set in sets {
        let relationship = ends[set.place].relationship
        new.note.sets[relationship.name] = .init(
          missing: set.missing.map(\.plainText), order: relationship.isOrdered ? set.keys.map(\.plainText) : [])
        new.sets[set.place] = set
      }
      for (place, key) in change.missing {
        new.note.keys[ends[place].relationship.name] = key.plainText
        new.keys[place] = key
      }
      if change.old != nil, !change.isChange { new.note.isCountedUnchanged = true }
      left = new
    }
    if let left, !left.note.isEmpty { missing[ObjectIdentifier(object)] = left }
  }

  /// What earlier batches kept of an object, deleted from the store if the row says something about it.
  private mutating func takeKept(of object: ManagedObject, _ row: ConvertedBatch.Row) throws -> Missing? {
    let number = PendingReferences.number(of: object)
    guard let item = kept[number] else { return nil }
    let note = try PendingReferences.note(item)
    let concernsKeys = (0..<targets.referenceCount).contains { place in
      row.keys[place] != .unresolved && note.keys[targets.ends[place].relationship.name] != nil
    }
    let concernsSets = row.lists.enumerated().contains { offset, list in
      list != nil && note.sets[targets.ends[targets.referenceCount + offset].relationship.name] != nil
    }
    guard concernsKeys || concernsSets else { return nil }
    kept[number] = nil
    pending.context.delete(item)
    return Missing(note: note)
  }

  /// Sets references to rows of this batch that came later, and keeps the others for the end of the file.
  mutating func settle(_ applied: AppliedRows, _ tally: inout Tally) throws {
    guard !missing.isEmpty else { return }
    var keeping: [(object: ManagedObject, note: PendingReferences.Note)] = []
    for item in applied.rows {
      guard var left = missing.removeValue(forKey: ObjectIdentifier(item.object)) else { continue }
      for (place, key) in left.keys {
        guard let target = targets.id(place, key) else { continue }
        let relationship = targets.ends[place].relationship
        item.object.point(relationship, to: target)
        left.note.keys[relationship.name] = nil
        left.note.countAsChange(&tally)
      }
      for (place, set) in left.sets {
        let relationship = targets.ends[place].relationship
        let found = set.missing.compactMap { targets.id(place, $0) }
        guard !found.isEmpty else { continue }
        item.object.join(relationship, found, order: set.keys.compactMap { targets.id(place, $0) })
        left.note.sets[relationship.name]?.missing =
          set.missing.filter { targets.id(place, $0) == nil }.map(\.plainText)
        if found.count == set.missing.count { left.note.sets[relationship.name] = nil }
        left.note.countAsChange(&tally)
      }
      if !left.note.isEmpty { keeping.append((item.object, left.note)) }
    }
    guard let first = keeping.first else { return }
    leavesSome = true
    if first.object.entity.primaryKey == nil {
      // All of them, so that numbers follow the order of the file.
      try pending.context.obtainPermanentIDs(for: applied.newObjects)
    }
    for item in keeping { try pending.keep(item.note, of: item.object) }
  }
}

extension PendingReferences.Note {
  /// Corrects the tally: a row that was counted as unchanged has changed after all.
  fileprivate mutating func countAsChange(_ tally: inout Tally) {
    guard isCountedUnchanged else { return }
    isCountedUnchanged = false
    tally.unchanged -= 1
    tally.updated += 1
  }
}

extension ManagedObject {
  /// Whether an ordered relationship has these objects in another order.
  func isOutOfOrder(_ relationship: RelationshipDescription, _ order: [ManagedObjectID]) -> Bool {
    guard relationship.isOrdered, !order.isEmpty else { return false }
    let wanted = Set(order)
    return resolved(relationship).relatedIDs.filter { wanted.contains($0) } != order
  }

  /// Adds objects to a to-many relationship. In an ordered one, the objects of `order` come first, in that order.
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
