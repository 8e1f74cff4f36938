// What a batch means, kept here: its rows are applied one after another, each as if it were a batch of its own, so that
// where batches end makes no difference to rows, counts and rejects. Two rows of one key, and rows that refer to rows
// before or after them, rely on it.
//
// A row is checked before it touches its object: a row that is rejected leaves no trace. What only the store can say
// no to is rejected by applying the batch anew, to a context that was reset, without the rows in question.
//
// One exception: a reference that mustn't be empty may lead to a later row of the same batch, but not of a later one.

import ManagedObjects

/// Makes rows into changes of a context, for upsert and for entities with references.
final class RowApplier {
  /// A row that was applied, for when the store refuses its object.
  struct Applied {
    let row: Int
    let object: ManagedObject
    let isNew: Bool
    /// The slots it changed; of a new object, not told.
    let changed: [Int]
  }

  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let mode: ImportOptions.Mode
  private let batch: ConvertedBatch
  private let references: [RecordMapping.Reference]
  private let pending: PendingReferences
  private var existing: ExistingObjects?
  /// The object of each key, for each reference.
  private var targets: [[Value: ManagedObjectID]] = []
  /// Whether a reference may lead to rows of this import itself.
  private let isOwn: [Bool]
  /// What earlier batches kept, by number; and what this one keeps.
  private var kept: [Value: ManagedObject] = [:]
  private var waiting: [ObjectIdentifier: Waiting] = [:]
  /// Rows that need an object which may be a later row's, for each reference.
  private var deferred: [[Value: [Int]]]
  private var ready: [Int] = []
  /// The reference that a row was put off for.
  private var putOff: [Int: Int] = [:]
  private var lastRow: [ObjectIdentifier: Int] = [:]

  private(set) var applied: [Applied] = []
  private(set) var rejections: [Rejection] = []
  private(set) var tally = Tally()
  /// Objects made because rows refer to them.
  private var created: Set<ManagedObjectID> = []
  /// Whether anything was kept for the end of the file.
  private(set) var keepsReferences = false
  /// Whether an object has another key than that by which references found it before.
  private(set) var changesTargets = false

  /// References of a row's object that lead nowhere yet.
  private struct Waiting {
    var note: PendingReferences.Note
    /// Those of this batch's own rows, by the reference's place.
    var keys: [Int: Value] = [:]
  }

  init(
    context: ManagedObjectContext, entity: EntityDescription, mode: ImportOptions.Mode, batch: ConvertedBatch,
    pending: PendingReferences
  ) {
    self.context = context
    self.entity = entity
    self.mode = mode
    self.batch = batch
    self.pending = pending
    references = batch.mapping.references
    isOwn = references.map { entity.isKindOf($0.relationship.destinationEntity) }
    deferred = references.map { _ in [:] }
  }

  /// Applies every row but the excluded ones, which are records of the batch.
  func apply(excluding excluded: [Int: Rejection], _ resolver: ReferenceResolver, mayHaveKept: Bool) throws {
    for (place, reference) in references.enumerated() {
      let keys = Set(batch.rows.lazy.map { $0.keys[place] }.filter { $0 != .null && $0 != .unresolved })
      targets.append(try resolver.find(reference.relationship, by: reference.key, keys: keys))
    }
    if mode == .upsert {
      let existing = try ExistingObjects(entity, batch.mapping.constraints, keys: keys(), in: context)
      if mayHaveKept, !references.isEmpty { kept = try pending.kept(of: existing.all()) }
      self.existing = existing
    }
    applied.reserveCapacity(batch.rows.count)
    for index in batch.rows.indices where excluded[batch.rows[index].record] == nil {
      var next = [index]
      while !next.isEmpty {
        ready.removeAll(keepingCapacity: true)
        for index in next { try apply(index) }
        next = ready
      }
    }
    for (place, rows) in deferred.enumerated() {
      for index in rows.values.joined() { rejectLost(index, place) }
    }
    try keepReferences(resolver)
  }

  /// The keys that records give whole, for each constraint: those they are found by, and those they may clash in.
  private func keys() -> [Int: Set<UniqueKey>] {
    var keys: [Int: Set<UniqueKey>] = [:]
    for (place, constraint) in batch.mapping.constraints.enumerated() {
      keys[place] = Set(
        batch.rows.lazy.filter { [batch] row in
          constraint.columns.allSatisfy { batch.source.cell(row.record, $0).kind != .missing }
        }.map { self.uniqueKey($0.values, place) }.filter { !$0.isPartial })
    }
    return keys
  }

  private func uniqueKey(_ values: ContiguousArray<Value>, _ place: Int) -> UniqueKey {
    UniqueKey(batch.mapping.constraints[place].attributes.map { values[$0.slot] })
  }

  // MARK: One row

  private func apply(_ index: Int) throws {
    let row = batch.rows[index]
    var known: ManagedObject?
    if mode == .upsert {
      guard let place = batch.mapping.constraint(of: row.record, in: batch.source) else { return rejectKeyless(row) }
      let key = uniqueKey(row.values, place)
      if !key.isPartial { known = existing?.object(key, place) }
    }
    if let place = putOff[index], let known, let last = lastRow[ObjectIdentifier(known)], last > index {
      // A later row of the same key has been applied while it waited, and counts.
      return rejectLost(index, place)
    }
    var change = RowChange(old: known?.slots, new: known?.slots ?? row.values)
    if known != nil {
      for target in batch.mapping.attributes
      where batch.source.cell(row.record, target.column).kind != .missing {
        change.set(row.values[target.slot], at: target.slot)
      }
      for constant in batch.mapping.rules.constants { change.set(constant.value, at: constant.slot) }
    }
    guard link(index, row, known, &change) else { return }
    if let failure = firstFailure(known, change) {
      rejections.append(
        batch.source.rejection(row.record, column: failure.property, code: failure.code, message: failure.description))
      return
    }
    if let place = clash(known, change) {
      let attributes = batch.mapping.constraints[place].attributes
      rejections.append(batch.duplicate(row.record, attributes.map(\.name), change.new, entity))
      return
    }
    let object = try known ?? context.insert(entity, values: row.values)
    for slot in change.slots { object.setValue(change.new[slot], at: slot) }
    for (place, target) in change.links {
      switch target {
      case .object(let id): object.point(references[place].relationship, to: id)
      case .itself: object.point(references[place].relationship, to: object.objectID)
      case .new(let key): object.point(references[place].relationship, to: try create(place, key))
      case .nothing: object.point(references[place].relationship, to: nil)
      }
    }
    count(index, object, known, change)
    try note(object, row, change)
  }

  /// Finds what the row refers to. False when it was rejected, or put off.
  private func link(_ index: Int, _ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange) -> Bool
  {
    for (place, reference) in references.enumerated() {
      let key = row.keys[place]
      if key == .unresolved { continue }
      if key.isNull {
        change.link(place, .nothing, reference)
      } else if let target = targets[place][key] {
        change.link(place, .object(target), reference)
      } else if isOwn[place], change.new[reference.key.slot] == key {
        change.link(place, known.map { .object($0.objectID) } ?? .itself, reference)
      } else if let made = reference.creates, !isOwn[place] {
        if let failure = made.failure(key) {
          rejectUnmade(index, place, failure)
          return false
        }
        change.link(place, .new(key), reference)
      } else if reference.relationship.isOptional {
        change.link(place, .nothing, reference)
        change.missing.append((place, key))
      } else if isOwn[place] {
        deferred[place][key, default: []].append(index)
        putOff[index] = place
        return false
      } else {
        rejectLost(index, place)
        return false
      }
    }
    return true
  }

  private func firstFailure(_ known: ManagedObject?, _ change: RowChange) -> ValidationFailure? {
    if known == nil ? batch.isChecked : !change.isChange { return nil }
    var failures: [ValidationFailure] = []
    (known?.entity ?? entity).validationRules.check(change.new, of: known?.objectID, into: &failures)
    return failures.first
  }

  /// The constraint in which the row would clash with another object.
  private func clash(_ known: ManagedObject?, _ change: RowChange) -> Int? {
    guard let existing, known == nil || !change.slots.isEmpty else { return nil }
    return batch.mapping.constraints.indices.first { place in
      let key = uniqueKey(change.new, place)
      guard !key.isPartial, let owner = existing.object(key, place) else { return false }
      return owner !== known
    }
  }

  private func count(_ index: Int, _ object: ManagedObject, _ known: ManagedObject?, _ change: RowChange) {
    if known == nil {
      tally.inserted += 1
    } else if change.isChange {
      tally.updated += 1
    } else {
      tally.unchanged += 1
    }
    applied.append(
      Applied(row: index, object: object, isNew: known == nil, changed: known == nil ? [] : change.slots))
    lastRow[ObjectIdentifier(object)] = index
  }

  /// Makes the object known to the rows after it, and remembers what it still waits for.
  private func note(_ object: ManagedObject, _ row: ConvertedBatch.Row, _ change: RowChange) throws {
    existing?.note(object, formerly: change.old)
    changesTargets =
      changesTargets
      || references.contains { object.entity.isKindOf($0.key.entity) && change.slots.contains($0.key.slot) }
    for (place, reference) in references.enumerated() where isOwn[place] {
      let old = change.old?[reference.key.slot] ?? .null
      let new = object.value(at: reference.key.slot)
      if old == new { continue }
      if !old.isNull, targets[place][old] == object.objectID { targets[place][old] = nil }
      guard !new.isNull, targets[place][new] == nil else { continue }
      targets[place][new] = object.objectID
      if let rows = deferred[place].removeValue(forKey: new) { ready += rows }
    }
    if references.isEmpty { return }
    var waits = try waiting.removeValue(forKey: ObjectIdentifier(object)) ?? kept(of: object, row)
    for (place, reference) in references.enumerated() where row.keys[place] != .unresolved {
      waits?.note.keys[reference.relationship.name] = nil
      waits?.keys[place] = nil
    }
    if !change.missing.isEmpty {
      var new = waits ?? Waiting(note: .init(keys: [:], isCountedUnchanged: false))
      for (place, key) in change.missing {
        new.note.keys[references[place].relationship.name] = key.plainText
        new.keys[place] = key
      }
      if change.old != nil, !change.isChange { new.note.isCountedUnchanged = true }
      waits = new
    }
    if let waits, !waits.note.keys.isEmpty { waiting[ObjectIdentifier(object)] = waits }
  }

  // MARK: References

  /// The object of a key that no object had when the batch began: made by the first row that refers to it.
  private func create(_ place: Int, _ key: Value) throws -> ManagedObjectID? {
    if let known = targets[place][key] { return known }
    guard let made = references[place].creates else { return nil }
    let id = try context.insert(made.entity, values: made.values(key)).objectID
    created.insert(id)
    tally.created[references[place].relationship.name, default: 0] += 1
    for (other, reference) in references.enumerated()
    where made.isFound(by: reference.relationship, reference.key) && targets[other][key] == nil {
      targets[other][key] = id
    }
    return id
  }

  /// What earlier batches kept of an object, taken out of the store when the row says something of it.
  private func kept(of object: ManagedObject, _ row: ConvertedBatch.Row) throws -> Waiting? {
    let number = PendingReferences.number(of: object)
    guard let item = kept[number] else { return nil }
    let note = try PendingReferences.note(item)
    let isConcerned = references.enumerated().contains { place, reference in
      row.keys[place] != .unresolved && note.keys[reference.relationship.name] != nil
    }
    guard isConcerned else { return nil }
    kept[number] = nil
    context.delete(item)
    return Waiting(note: note)
  }

  /// Sets references to rows of this batch that came later, and keeps the others for the end of the file.
  private func keepReferences(_ resolver: ReferenceResolver) throws {
    guard !waiting.isEmpty else { return }
    var keeping: [(object: ManagedObject, note: PendingReferences.Note)] = []
    for item in applied {
      guard var waits = waiting.removeValue(forKey: ObjectIdentifier(item.object)) else { continue }
      for (place, key) in waits.keys {
        guard let target = targets[place][key] else { continue }
        item.object.point(references[place].relationship, to: target)
        waits.note.keys[references[place].relationship.name] = nil
        if waits.note.isCountedUnchanged {
          waits.note.isCountedUnchanged = false
          tally.unchanged -= 1
          tally.updated += 1
        }
      }
      if !waits.note.keys.isEmpty { keeping.append((item.object, waits.note)) }
    }
    guard !keeping.isEmpty else { return }
    keepsReferences = true
    if entity.primaryKey == nil {
      // All of them, so that numbers go along with the file.
      try context.obtainPermanentIDs(for: applied.filter(\.isNew).map(\.object))
    }
    for item in keeping { try pending.keep(item.note, of: item.object) }
  }

  // MARK: Rejects

  private func rejectKeyless(_ row: ConvertedBatch.Row) {
    let keys = entity.uniquenessConstraints.map { $0.map(\.name).joined(separator: "+") }.joined(separator: " or ")
    rejections.append(
      batch.source.rejection(
        row.record, code: "no_key", message: "the record doesn't say which \(entity.name) it is: it has no \(keys)"))
  }

  private func rejectUnmade(_ index: Int, _ place: Int, _ failure: ValidationFailure) {
    let relationship = references[place].relationship
    rejections.append(
      batch.source.rejection(
        batch.rows[index].record, column: relationship.name, code: failure.code,
        message: "no \(relationship.destinationEntity.name) can be made for \(relationship.name): "
          + failure.description))
  }

  private func rejectLost(_ index: Int, _ place: Int) {
    let row = batch.rows[index]
    let relationship = references[place].relationship
    rejections.append(
      batch.source.rejection(
        row.record, column: relationship.name, code: "no_such_object",
        message: "there is no \(relationship.destinationEntity.name) with \(references[place].key.name) "
          + "“\(row.keys[place].plainText)”, which \(relationship.name) needs"))
  }

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
    for (id, item) in culprits {
      guard let conflict = refused[id] else { continue }
      let record = batch.rows[item.row].record
      rejections[record] = batch.duplicate(record, conflict.constraint, item.object.slots, item.object.entity)
    }
    return rejections
  }
}
