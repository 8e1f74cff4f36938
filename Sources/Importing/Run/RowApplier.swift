// What a batch means, kept here: its rows are applied one after another, each as if it were a batch of its own, so that
// where batches end makes no difference to rows, counts and rejects. Two rows of one key, and rows that refer to rows
// before or after them, rely on it.
//
// A row is checked before it touches its object: a row that is rejected leaves no trace. What only the store can say
// no to is rejected by applying the batch anew, to a context that was reset, without the rows in question.
//
// A row that needs an object which a later row may be is put off until that row has come in the same batch, and set aside
// for the end of the file otherwise. One exception to what batches mean comes of it: a row that was set aside and whose
// object a later row was about is rejected at the end, though in one batch it might have been applied in between.

import ManagedObjects

/// Makes rows into changes of a context, for upsert and for entities with references.
final class RowApplier {
  /// What can still come.
  enum Phase {
    /// Rows may come in later batches.
    case inTheFile
    /// All rows have come, but some that were set aside may be applied yet.
    case atTheEnd
    /// Nothing comes any more.
    case atLast
  }

  /// A row that was applied, for when the store refuses its object.
  struct Applied {
    let row: Int
    let object: ManagedObject
    let isNew: Bool
    /// The slots it changed; of a new object, not told.
    let changed: [Int]
  }

  let context: ManagedObjectContext
  let entity: EntityDescription
  let mode: ImportOptions.Mode
  let batch: ConvertedBatch
  let references: [RecordMapping.Reference]
  /// These, and the to-many relationships after them.
  let ends: [RecordMapping.Reference]
  let phase: Phase
  let pending: PendingReferences
  let aside: AsideRecords
  var existing: ExistingObjects?
  /// The object of each key, for each of the ends.
  var targets: [[Value: ManagedObjectID]] = []
  /// Whether a reference may lead to rows of this import itself.
  let isOwn: [Bool]
  /// What earlier batches kept, by number; and what this one keeps.
  var kept: [Value: ManagedObject] = [:]
  var waiting: [ObjectIdentifier: Waiting] = [:]
  /// Rows that need an object which may be a later row's, for each of the ends.
  var deferred: [[Value: [Int]]]
  var ready: [Int] = []
  /// The reference that a row was put off for.
  var putOff: [Int: Int] = [:]
  var lastRow: [ObjectIdentifier: Int] = [:]
  /// Objects that a row may take the place of, when the mode is to replace them.
  var unreplaced: Set<ManagedObjectID> = []

  private(set) var applied: [Applied] = []
  var rejections: [Rejection] = []
  var tally = Tally()
  /// Objects made because rows refer to them.
  var created: Set<ManagedObjectID> = []
  /// The nested objects of the batch; nil when it has none.
  var nested: NestedApplier?
  /// Which row made or changed a nested object last.
  var nestedRows: [ManagedObjectID: Int] = [:]
  /// What to-many relationships are to hold, read together and held so that it isn't read again one by one.
  private var members: [ManagedObject] = []
  /// Whether anything was kept for the end of the file.
  var keepsReferences = false
  /// Whether any row waits for an object after the batch.
  var keepsAside = false
  /// Whether an object has another key than that by which references found it before.
  private(set) var changesTargets = false

  /// References of a row's object that lead nowhere yet.
  struct Waiting {
    var note: PendingReferences.Note
    /// Those of this batch's own rows, by the reference's place.
    var keys: [Int: Value] = [:]
    var sets: [Int: RowChange.SetChange] = [:]
  }

  init(
    context: ManagedObjectContext, entity: EntityDescription, mode: ImportOptions.Mode, batch: ConvertedBatch,
    phase: Phase, pending: PendingReferences, aside: AsideRecords
  ) {
    self.phase = phase
    self.aside = aside
    self.context = context
    self.entity = entity
    self.mode = mode
    self.batch = batch
    self.pending = pending
    references = batch.mapping.references
    ends = references + batch.mapping.collections
    deferred = ends.map { _ in [:] }
    isOwn = ends.map { entity.isKindOf($0.relationship.destinationEntity) }
  }

  /// Applies every row but the excluded ones, which are records of the batch.
  func apply(excluding excluded: [Int: Rejection], _ resolver: ReferenceResolver, mayHaveKept: Bool, mayHaveAside: Bool)
    throws
  {
    for (place, reference) in references.enumerated() {
      var keys = Set(batch.rows.lazy.map { $0.keys[place] }.filter { $0 != .null && $0 != .unresolved })
      if let key = reference.defaultKey, !key.isNull { keys.insert(key) }
      targets.append(try resolver.find(reference.relationship, by: reference.key, keys: keys))
    }
    for (place, collection) in batch.mapping.collections.enumerated() {
      var keys: Set<Value> = []
      for row in batch.rows { row.lists[place].map { keys.formUnion($0) } }
      targets.append(try resolver.find(collection.relationship, by: collection.key, keys: keys))
      members += try resolver.members(collection.relationship, by: collection.key, keys: keys)
    }
    let nestedNames = try lookUpNested(resolver)
    if mode.findsObjects {
      let existing = try ExistingObjects(
        entity, batch.mapping.constraints, keys: keys(),
        sets: batch.mapping.collections.map(\.relationship.name) + nestedNames.sorted(), in: context)
      if mayHaveKept, !ends.isEmpty { kept = try pending.kept(of: existing.all()) }
      nested?.hold(nestedNames, of: existing.all())
      self.existing = existing
    }
    try beginReplacing()
    applied.reserveCapacity(batch.rows.count)
    for index in batch.rows.indices where excluded[batch.rows[index].record] == nil {
      var next = [index]
      while !next.isEmpty {
        ready.removeAll(keepingCapacity: true)
        for index in next { try apply(index) }
        next = ready
      }
    }
    try settleAside(mayHaveAside)
    try keepReferences(resolver)
  }

  /// The keys that records give whole, for each constraint: those they are found by, and those they may clash in.
  private func keys() -> [Int: Set<UniqueKey>] {
    var keys: [Int: Set<UniqueKey>] = [:]
    for (place, constraint) in batch.mapping.constraints.enumerated() {
      keys[place] = Set(
        batch.rows.lazy.filter { [batch] row in constraint.columns.allSatisfy { batch.says(row, $0) } }.map {
          self.uniqueKey($0.values, place)
        }.filter { !$0.isPartial })
    }
    for (place, key) in batch.rejectedKeys.keys { keys[place]?.insert(key) }
    return keys
  }

  func uniqueKey(_ values: ContiguousArray<Value>, _ place: Int) -> UniqueKey {
    UniqueKey(batch.mapping.constraints[place].attributes.map { values[$0.slot] })
  }

  // MARK: One row

  private func apply(_ index: Int) throws {
    let row = batch.rows[index]
    if row.aside?.isOvertaken == true { return rejectOvertaken(index) }
    var known: ManagedObject?
    if mode.findsObjects {
      if let place = batch.constraint(of: row) {
        let key = uniqueKey(row.values, place)
        if !key.isPartial { known = existing?.object(key, place) }
        if mode == .update, known == nil { return rejectUnknown(row, place, key) }
        if mode == .replace, let known, !isReplaceable(known) { return rejectDuplicate(row, place, row.values) }
      } else if mode.needsKey {
        return rejectKeyless(row)
      }
    }
    if putOff[index] != nil, let known, let last = lastRow[ObjectIdentifier(known)], last > index {
      // A later row of the same key has been applied while it waited, and counts.
      return rejectOvertaken(index)
    }
    var change = RowChange(old: known?.slots, new: known?.slots ?? row.values)
    if known != nil, mode == .replace {
      replaceRest(row, &change)
    } else if known != nil {
      for target in batch.mapping.attributes
      where batch.says(row, target.column) {
        change.set(row.values[target.slot], at: target.slot)
      }
      for constant in batch.mapping.rules.constants { change.set(constant.value, at: constant.slot) }
    }
    if known != nil {
      for group in batch.mapping.parts where batch.says(row, group.column) {
        for part in group.parts { change.set(row.values[part.attribute.slot], at: part.attribute.slot) }
      }
    }
    guard link(index, row, known, &change), linkSets(index, row, known, &change),
      try linkNested(row, known, &change)
    else { return }
    if let failure = firstFailure(known, change) {
      rejections.append(
        batch.rejection(row, column: failure.property, code: failure.code, message: failure.description))
      return
    }
    while let place = clash(known, change) {
      guard yield(place, change) else { return rejectDuplicate(row, place, change.new) }
    }
    let object = try known ?? context.insert(entity, values: row.values)
    for slot in change.slots { object.setValue(change.new[slot], at: slot) }
    for relationship in change.clears { object.point(relationship, to: nil) }
    for (place, target) in change.links {
      switch target {
      case .object(let id): object.point(references[place].relationship, to: id)
      case .itself: object.point(references[place].relationship, to: object.objectID)
      case .new(let key): object.point(references[place].relationship, to: try create(place, key))
      case .nothing: object.point(references[place].relationship, to: nil)
      }
    }
    for set in change.sets { try hold(set, object) }
    try carryOutNested(index, object, change)
    count(index, object, known, change)
    try note(object, row, change)
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
    nested?.note(object, formerly: change.old)
    changesTargets =
      changesTargets
      || ends.contains { object.entity.isKindOf($0.key.entity) && change.slots.contains($0.key.slot) }
    noteTargets(object, formerly: change.old)
    if ends.isEmpty { return }
    var waits = try waiting.removeValue(forKey: ObjectIdentifier(object)) ?? kept(of: object, row)
    for (place, reference) in references.enumerated() where row.keys[place] != .unresolved {
      waits?.note.keys[reference.relationship.name] = nil
      waits?.keys[place] = nil
    }
    for (offset, list) in row.lists.enumerated() where list != nil {
      waits?.note.sets[ends[references.count + offset].relationship.name] = nil
      waits?.sets[references.count + offset] = nil
    }
    let sets = change.sets.filter { !$0.missing.isEmpty }
    if !change.missing.isEmpty || !sets.isEmpty {
      var new = waits ?? Waiting(note: .init(keys: [:], isCountedUnchanged: false))
      for set in sets {
        let relationship = ends[set.place].relationship
        new.note.sets[relationship.name] = .init(
          missing: set.missing.map(\.plainText), order: relationship.isOrdered ? set.keys.map(\.plainText) : [])
        new.sets[set.place] = set
      }
      for (place, key) in change.missing {
        new.note.keys[references[place].relationship.name] = key.plainText
        new.keys[place] = key
      }
      if change.old != nil, !change.isChange { new.note.isCountedUnchanged = true }
      waits = new
    }
    if let waits, !waits.note.isEmpty { waiting[ObjectIdentifier(object)] = waits }
  }
}
