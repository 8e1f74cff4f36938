// Invariant: the rows of a batch are applied one after another, as if each were a batch of its own. Where batches end makes
// no difference to rows, counts and rejects. Two rows with one key, and rows that refer to rows before or after them, rely
// on this.
//
// A row is checked before it touches its object, so a rejected row leaves no trace. A row that only the store can refuse is
// rejected by applying the batch again, in a context that was reset, without that row.
//
// A row that needs an object which a later row may be waits for that row, and is deferred to the end of the file if the
// batch doesn't have it. One exception to the invariant follows: a deferred row whose object a later row was about is
// rejected at the end, though in one batch it might have been applied in between.

import ManagedObjects

/// Applies the rows of a batch to a context, for modes that find objects and for entities with references.
final class RowApplier {
  /// Which rows may still come.
  enum Phase {
    /// The file is being read: later batches may have more rows.
    case reading
    /// All rows have been read, and some of the deferred ones may still be applied.
    case settling
    /// No more rows can be applied: what still waits is rejected.
    case rejecting
  }

  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let mode: ImportMode
  private let batch: ConvertedBatch
  private let phase: Phase
  private let resolver: ReferenceResolver
  private let deferredRecords: DeferredRecords
  private let absent: AbsentObjects?
  private let protected: Set<Int64>

  private let targets: ReferenceTargets
  private var waiting: WaitingRows
  private var lateReferences: LateReferences
  private var applied = AppliedRows()
  private var refused: RowRejections
  private var counts = Tally()
  /// The objects with the batch's keys; nil in a mode that doesn't look for them.
  private var existing: ExistingObjects?
  /// Objects that a row may still replace, in the mode that does so.
  private var replaceable: Set<ManagedObjectID> = []
  /// Objects that rows have taken unique values from.
  private var yielded: [ManagedObject] = []
  /// Objects with a further row, in the mode that replaces each once.
  private var repeated: [ManagedObject] = []
  /// The nested objects of the batch; nil when it has none.
  private var nested: NestedApplier?
  /// The row that is being applied, and those that had objects created because they refer to them.
  private var current = 0
  private var creators: [ManagedObjectID: Int] = [:]
  /// Whether any row was deferred to the end of the file.
  private(set) var defersRecords = false
  /// Whether the key of any object that references can lead to has changed.
  private(set) var changesTargets = false

  init(_ target: BatchTarget, _ batch: ConvertedBatch, _ phase: Phase) {
    context = target.context
    entity = target.entity
    mode = target.mode
    resolver = target.resolver
    deferredRecords = target.backlog.records
    absent = target.absent
    protected = target.protected
    self.batch = batch
    self.phase = phase
    targets = ReferenceTargets(batch.mapping)
    waiting = WaitingRows(ends: targets.ends.count)
    lateReferences = LateReferences(target.backlog.references, targets)
    refused = RowRejections(batch)
  }

  /// Applies every row but the excluded ones, given by their records.
  ///
  /// - Parameters:
  ///   - mayHaveReferences: whether references of earlier batches may be pending.
  ///   - mayHaveRecords: whether records of earlier batches may be deferred.
  func apply(excluding excluded: [Int: Rejection], mayHaveReferences: Bool, mayHaveRecords: Bool) throws {
    try targets.find(in: batch.rows, resolver)
    let nestedNames = try findNested()
    if mode.findsObjects {
      let existing = try ExistingObjects(
        entity, batch.mapping.constraints, keys: keys(),
        sets: batch.mapping.collections.map(\.relationship.name) + nestedNames.sorted(),
        surplus: batch.mapping.rules.key == nil ? nil : ExistingObjects.surplus, in: context)
      if mayHaveReferences, !targets.ends.isEmpty { try lateReferences.read(of: existing.all()) }
      nested?.retain(nestedNames, of: existing.all())
      self.existing = existing
    }
    try findReplaceable()
    applied.reserveCapacity(batch.rows.count)
    for index in batch.rows.indices where excluded[batch.rows[index].record] == nil {
      try apply(index)
      while true {
        let ready = waiting.takeReady()
        if ready.isEmpty { break }
        for index in ready { try apply(index) }
      }
    }
    try settleWaiting(mayHaveRecords)
    try lateReferences.settle(applied, &counts)
  }

  // MARK: The result

  /// What became of the rows.
  var tally: Tally {
    var tally = counts
    tally.created = targets.createdCounts
    return tally
  }

  var rejections: [Rejection] { refused.all }

  /// Whether no row was applied or rejected.
  var isIdle: Bool { applied.rows.isEmpty && refused.all.isEmpty }

  /// The records that were neither applied nor rejected.
  var waitingRecords: Set<Int> { Set(waiting.remaining.lazy.map { [batch] in batch.rows[$0].record }) }

  /// Whether any reference was kept for the end of the file.
  var leavesReferences: Bool { lateReferences.leavesSome }

  /// Whether another writer inserted an object with the key of a new one. Applied again, its record would be an update, or
  /// the created object would be found.
  func hasMissedObjects(_ conflicts: [ConstraintConflict]) -> Bool {
    if conflicts.contains(where: { targets.created.contains($0.objectID) }) { return true }
    guard let existing else { return false }
    let refused = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    return applied.rows.contains { item in
      item.isNew && (refused[item.object.objectID].map { existing.isKey($0.constraint) } ?? false)
    }
  }

  /// The records whose objects the store refuses, with the reason.
  func refusals(_ conflicts: [ConstraintConflict]) -> [Int: Rejection] {
    let refused = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    let culprits = applied.culprits(refused)
    var rejections: [Int: Rejection] = [:]
    for (id, conflict) in refused where culprits[id] == nil {
      guard let index = applied.row(ofNested: id), let object = context.registeredObject(for: id) else { continue }
      let row = batch.rows[index]
      rejections[row.record] = batch.duplicate(row, conflict.constraint, object.slots, object.entity)
    }
    for (id, item) in culprits {
      guard let conflict = refused[id] else { continue }
      let row = batch.rows[item.index]
      rejections[row.record] = batch.duplicate(row, conflict.constraint, item.object.slots, item.object.entity)
    }
    return rejections
  }

  /// The records because of which objects that they refer to aren't valid, with the reason.
  func refusals(_ failures: [ValidationFailure]) throws -> [Int: Rejection] {
    try OwnerRefusals(context, batch, applied).rejections(failures)
  }

  // MARK: Which objects the batch was about

  /// The row numbers of the objects that were applied. New objects have their numbers afterwards.
  func appliedNumbers() throws -> [Int64] {
    let numberless = applied.rows.lazy.filter { $0.isNew && SeenObjects.number(of: $0.object) == nil }.map(\.object)
    if !numberless.isEmpty { try context.obtainPermanentIDs(for: Array(numberless)) }
    return applied.rows.compactMap { SeenObjects.number(of: $0.object) }
  }

  /// The keys of the other records: of the rejected ones and of those that wait for an object.
  func rejectedKeys() -> RejectedKeys {
    var rejected = batch.rejectedKeys
    guard applied.rows.count < batch.rows.count, batch.mapping.identifiesRejected(in: mode) else { return rejected }
    let rows = Set(applied.rows.map(\.index))
    // A record that still waits may yet take its object's place, if it isn't marked.
    let waits: Set<Int> = mode == .replace ? Set(waiting.remaining) : []
    for index in batch.rows.indices where !rows.contains(index) && !waits.contains(index) {
      let row = batch.rows[index]
      if let place = batch.constraint(of: row) {
        rejected.note(batch.key(of: row.values, place), place)
      } else {
        rejected.noteUnidentified(line: row.deferred?.kept.line ?? batch.source.line(row.record))
      }
    }
    return rejected
  }

  /// The row numbers of the store's objects with these keys.
  func numbers(of rejected: RejectedKeys) -> [Int64] {
    rejected.keys.flatMap { place, key in (existing?.objects(key, place) ?? []).compactMap(SeenObjects.number) }
  }

  /// The row numbers of the objects that have lost a unique value to a row and that no row was applied to.
  var yieldedNumbers: [Int64] { yielded.filter { applied.last($0) == nil }.map(\.objectID.number) }

  /// The row numbers of the objects with a row that couldn't replace them, because another had.
  var repeatedNumbers: [Int64] { repeated.compactMap(SeenObjects.number) }

  /// The objects that references would create if they didn't exist, and the nested objects of records.
  func referred() -> [ManagedObjectID] {
    var ids = nested?.carried.map(\.objectID) ?? []
    for (place, end) in targets.ends.enumerated() where targets.isOwn(place) && end.placeholder != nil {
      for item in applied.rows {
        let row = batch.rows[item.index]
        let keys = place < targets.referenceCount ? [row.keys[place]] : row.lists[place - targets.referenceCount] ?? []
        ids += keys.compactMap { targets.id(place, $0) }
      }
    }
    return ids
  }

  // MARK: One row

  private func apply(_ index: Int) throws {
    let row = batch.rows[index]
    current = index
    if row.deferred?.isSuperseded == true { return refused.rejectSuperseded(row) }
    var known: ManagedObject?
    if mode.findsObjects {
      if let place = batch.constraint(of: row) {
        let key = batch.key(of: row.values, place)
        if existing?.isAmbiguous(key) == true { return refused.rejectAmbiguous(row, place, key) }
        if !key.isPartial { known = existing?.object(key, place) }
        if mode == .update, known == nil { return refused.rejectUnknown(row, place, key) }
        if mode == .replace, let known, !isReplaceable(known) {
          repeated.append(known)
          return refused.rejectDuplicate(row, place, row.values)
        }
      } else if mode.needsKey {
        return refused.rejectKeyless(row)
      }
    }
    if waiting.hasWaited(index), let known, let last = applied.last(known), last > index {
      // A later row with the same key was applied in between, and counts.
      return refused.rejectSuperseded(row)
    }
    var change = RowChange(old: known?.slots, new: known?.slots ?? row.values)
    if known != nil { setAttributes(row, &change) }
    guard link(index, row, known, &change), linkSets(index, row, known, &change),
      try linkNested(row, known, &change)
    else { return }
    if let failure = firstFailure(known, change) { return refused.reject(row, failure) }
    let clashes = clashes(known, change)
    if let place = clashes.first(where: { mayYield($0, change) == nil }) {
      return refused.rejectDuplicate(row, place, change.new)
    }
    for place in clashes { yieldKey(place, change) }
    let object = try known ?? context.insert(entity, values: row.values)
    try carryOut(change, on: object)
    try carryOutNested(index, object, change)
    count(index, object, known, change)
    try note(object, row, change)
  }

  /// Sets what the row says about the attributes of an object that exists.
  private func setAttributes(_ row: ConvertedBatch.Row, _ change: inout RowChange) {
    if mode == .replace {
      replaceRest(row, &change)
    } else {
      for target in batch.mapping.attributes where batch.says(row, target.column) {
        change.set(row.values[target.slot], at: target.slot)
      }
      for constant in batch.mapping.rules.constants { change.set(constant.value, at: constant.slot) }
    }
    for group in batch.mapping.parts where batch.says(row, group.column) {
      for part in group.parts { change.set(row.values[part.attribute.slot], at: part.attribute.slot) }
    }
  }

  private func firstFailure(_ known: ManagedObject?, _ change: RowChange) -> ValidationFailure? {
    if known == nil ? batch.isChecked : !change.isChange { return nil }
    var failures: [ValidationFailure] = []
    (known?.entity ?? entity).validationRules.check(change.new, of: known?.objectID, into: &failures)
    return failures.first
  }

  /// The constraints in which the row would clash with other objects.
  private func clashes(_ known: ManagedObject?, _ change: RowChange) -> [Int] {
    guard let existing, known == nil || !change.slots.isEmpty else { return [] }
    return batch.mapping.constraints.indices.filter { place in
      let key = batch.key(of: change.new, place)
      guard !key.isPartial, let owner = existing.object(key, place) else { return false }
      return owner !== known
    }
  }

  private func carryOut(_ change: RowChange, on object: ManagedObject) throws {
    for slot in change.slots { object.setValue(change.new[slot], at: slot) }
    for relationship in change.clears { object.point(relationship, to: nil) }
    for (place, target) in change.links {
      object.point(targets.ends[place].relationship, to: try id(of: target, place, object))
    }
    for set in change.sets {
      let ids = try set.targets.compactMap { try id(of: $0, set.place, object) }
      object.hold(targets.ends[set.place].relationship, ids)
    }
  }

  private func id(of target: RowChange.Target, _ place: Int, _ object: ManagedObject) throws -> ManagedObjectID? {
    switch target {
    case .object(let id): id
    case .itself: object.objectID
    case .new(let key): try created(place, key)
    case .nothing: nil
    }
  }

  private func created(_ place: Int, _ key: Value) throws -> ManagedObjectID? {
    let known = targets.created.count
    let id = try targets.create(place, key, in: context)
    if let id, targets.created.count > known { creators[id] = current }
    return id
  }

  /// Tells which record has changed which object, for the next save.
  func note(in lineage: LineageRecorder) {
    for (id, index) in creators {
      if let object = context.registeredObject(for: id) { lineage.note(object, batch.place(of: batch.rows[index])) }
    }
    for (id, index) in applied.rowsOfNested {
      if let object = context.registeredObject(for: id) { lineage.note(object, batch.place(of: batch.rows[index])) }
    }
    // An object's first record is the one that has inserted it; otherwise the last that changed it counts.
    var new: Set<ObjectIdentifier> = []
    for item in applied.rows {
      if item.isNew {
        new.insert(ObjectIdentifier(item.object))
      } else if new.contains(ObjectIdentifier(item.object)) {
        continue
      }
      lineage.note(item.object, batch.place(of: batch.rows[item.index]))
    }
  }

  private func count(_ index: Int, _ object: ManagedObject, _ known: ManagedObject?, _ change: RowChange) {
    if known == nil {
      counts.inserted += 1
    } else if change.isChange {
      counts.updated += 1
    } else {
      counts.unchanged += 1
    }
    applied.append(.init(index: index, object: object, isNew: known == nil, changed: known == nil ? [] : change.slots))
  }

  /// Lets later rows find the object, and notes what it still waits for.
  private func note(_ object: ManagedObject, _ row: ConvertedBatch.Row, _ change: RowChange) throws {
    existing?.note(object, formerly: change.old)
    nested?.note(object, formerly: change.old)
    changesTargets =
      changesTargets
      || targets.ends.contains {
        object.entity.isKindOf($0.relationship.destinationEntity) && $0.key.isChanged(by: change.slots)
      }
    noteTarget(object, formerly: change.old)
    if targets.ends.isEmpty { return }
    try lateReferences.note(object, row, change)
  }

  private func noteTarget(_ object: ManagedObject, formerly former: ContiguousArray<Value>?) {
    targets.note(object, formerly: former, isReplacing: mode == .replace) { place, key in waiting.wake(place, key) }
  }

  // MARK: References

  /// Finds the objects that the row's to-one relationships lead to. False when the row was rejected or has to wait.
  private func link(
    _ index: Int, _ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange
  ) -> Bool {
    for (place, reference) in batch.mapping.references.enumerated() {
      var key = row.keys[place]
      if key == .unresolved {
        // Only a new object takes the default where its record says nothing.
        guard known == nil, let given = reference.defaultKey,
          !row.nested.contains(where: { $0.link.relationship === reference.relationship })
        else { continue }
        key = given
      }
      if key.isNull {
        change.link(place, .nothing, reference)
      } else if let target = targets.id(place, key) {
        change.link(place, .object(target), reference)
      } else if targets.isOwn(place), reference.key.key(of: change.new) == key {
        change.link(place, known.map { .object($0.objectID) } ?? .itself, reference)
      } else if let placeholder = reference.placeholder,
        !targets.isOwn(place) || (phase == .rejecting && reference.needsObject)
      {
        if let failure = placeholder.failure(key) {
          refused.rejectInvalidPlaceholder(row, reference.relationship, failure)
          return false
        }
        change.link(place, .new(key), reference)
      } else if !reference.needsObject {
        change.link(place, .nothing, reference)
        change.missing.append((place, key))
      } else {
        postpone(index, row, place, key)
        return false
      }
    }
    return true
  }

  /// Finds the objects that the row's to-many relationships will hold. False when the row was rejected or has to wait.
  private func linkSets(
    _ index: Int, _ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange
  ) -> Bool {
    for (offset, list) in row.lists.enumerated() {
      guard let list else { continue }
      let place = targets.referenceCount + offset
      let reference = targets.ends[place]
      var set = RowChange.SetChange(place: place, keys: list)
      for key in list {
        if let target = targets.id(place, key) {
          set.targets.append(.object(target))
        } else if targets.isOwn(place), reference.key.key(of: change.new) == key {
          set.targets.append(known.map { .object($0.objectID) } ?? .itself)
        } else if let placeholder = reference.placeholder, !targets.isOwn(place) {
          if let failure = placeholder.failure(key) {
            refused.rejectInvalidPlaceholder(row, reference.relationship, failure)
            return false
          }
          set.targets.append(.new(key))
        } else if reference.needsObject {
          postpone(index, row, place, key)
          return false
        } else {
          set.missing.append(key)
        }
      }
      change.set(
        set, reference.relationship,
        now: known?.resolved(reference.relationship) ?? reference.relationship.emptyValue)
    }
    return true
  }

  /// Has a row wait for an object that it needs and that a later row may be; rejects it if no later row can be.
  private func postpone(_ index: Int, _ row: ConvertedBatch.Row, _ place: Int, _ key: Value) {
    guard targets.isOwn(place), phase != .rejecting else {
      return refused.rejectUnresolved(row, targets.ends[place], key)
    }
    waiting.wait(index, for: key, place)
  }

  /// Defers rows that still wait, deletes deferred records that don't any more, and marks those that later records of the
  /// same objects supersede.
  private func settleWaiting(_ mayHaveRecords: Bool) throws {
    let remaining = waiting.remaining
    if phase == .reading {
      for index in remaining {
        let row = batch.rows[index]
        try deferredRecords.keep(DeferredRecord(row, of: batch), identity: identity(of: row) ?? "")
      }
    } else {
      let isWaiting = Set(remaining)
      for (index, row) in batch.rows.enumerated() {
        if let id = row.deferred?.id, !isWaiting.contains(index) { context.delete(context.object(with: id)) }
      }
    }
    defersRecords = !remaining.isEmpty
    guard mayHaveRecords || defersRecords, existing != nil else { return }
    var identities: [String: Int64] = [:]
    for item in applied.rows {
      let row = batch.rows[item.index]
      if let identity = identity(of: row) {
        identities[identity] = max(identities[identity] ?? 0, batch.number(of: row))
      }
    }
    try deferredRecords.supersede(identities)
  }

  /// The key of a row's object as a text; nil when it has none.
  private func identity(of row: ConvertedBatch.Row) -> String? {
    guard existing != nil, let place = batch.constraint(of: row) else { return nil }
    let key = batch.key(of: row.values, place)
    if key.isPartial { return nil }
    let names = batch.mapping.constraints[place].attributes.map(\.name)
    return (names + key.values.map(\.plainText)).joined(separator: "\u{1F}")
  }

  /// The complete keys of the records, for each constraint: those they are found by, and those they may clash in.
  private func keys() -> [Int: Set<UniqueKey>] {
    var keys: [Int: Set<UniqueKey>] = [:]
    for (place, constraint) in batch.mapping.constraints.enumerated() {
      keys[place] = Set(
        batch.rows.lazy.filter { [batch] row in constraint.columns.allSatisfy { batch.says(row, $0) } }.map {
          [batch] row in batch.key(of: row.values, place)
        }.filter { !$0.isPartial })
    }
    for (place, key) in batch.rejectedKeys.keys { keys[place]?.insert(key) }
    return keys
  }

  // MARK: Replacing

  /// Finds which of the batch's objects haven't been replaced yet.
  private func findReplaceable() throws {
    guard mode == .replace, let seen = absent?.seen else { return }
    let known = (existing?.all() ?? []).map(\.objectID).filter { $0.entity === entity }
    replaceable = Set(try seen.undescribed(among: known))
  }

  /// Whether a row may take an object's place: no other has.
  private func isReplaceable(_ object: ManagedObject) -> Bool {
    replaceable.contains(object.objectID) && applied.last(object) == nil
  }

  /// Sets what the row doesn't say to what it is in a new object. To-many relationships stay.
  private func replaceRest(_ row: ConvertedBatch.Row, _ change: inout RowChange) {
    for attribute in entity.attributes where !attribute.isTransient && attribute.definition.derivationExpression == nil
    {
      change.set(row.values[attribute.slot], at: attribute.slot)
    }
    var said = Set(row.nested.map(\.link.relationship.slot))
    for (place, reference) in batch.mapping.references.enumerated() where row.keys[place] != .unresolved {
      said.insert(reference.relationship.slot)
    }
    for relationship in entity.relationships
    where !relationship.isToMany && !relationship.isTransient && !said.contains(relationship.slot) {
      change.clear(relationship)
    }
  }

  /// The object that yields its key to a row, and the attribute that becomes empty; nil when it isn't to be replaced or
  /// deleted, as far as is known.
  private func mayYield(_ place: Int, _ change: RowChange) -> (owner: ManagedObject, free: AttributeDescription)? {
    let attributes = batch.mapping.constraints[place].attributes
    guard mode == .replace, let owner = existing?.object(batch.key(of: change.new, place), place), isReplaceable(owner),
      absent?.covers(owner) == true, !protected.contains(owner.objectID.number),
      let free = attributes.first(where: { $0.isOptional && $0 !== entity.primaryKey })
    else { return nil }
    return (owner, free)
  }

  /// Takes a unique value that a row has now from another object.
  private func yieldKey(_ place: Int, _ change: RowChange) {
    guard let (owner, free) = mayYield(place, change) else { return }
    let old = owner.slots
    owner.setValue(.null, at: free.slot)
    existing?.note(owner, formerly: old)
    yielded.append(owner)
  }

  // MARK: Nested objects

  /// Finds the store's objects for the nested objects of the batch's rows. Returns the relationships that have some.
  private func findNested() throws -> Set<String> {
    guard !batch.mapping.nesting.isEmpty, batch.rows.contains(where: { !$0.nested.isEmpty }) else { return [] }
    let nested = NestedApplier(context, resolver)
    try nested.find(batch.rows.lazy.flatMap { $0.nested.map(\.link) })
    self.nested = nested
    return Set(batch.rows.lazy.flatMap { $0.nested.filter(\.link.hasObjects).map(\.link.relationship.name) })
  }

  /// Plans what the row's nested objects become. False when the row was rejected.
  private func linkNested(
    _ row: ConvertedBatch.Row, _ known: ManagedObject?, _ change: inout RowChange
  ) throws -> Bool {
    guard let nested else { return true }
    for item in row.nested {
      do {
        let planned = try nested.plan(item.link, of: known, at: item.link.relationship.name)
        change.nest(item.link, planned, of: known)
      } catch let problem as NestedApplier.Problem {
        refused.reject(row, column: problem.path, code: problem.code, message: problem.message)
        return false
      }
    }
    return true
  }

  /// Creates and changes the row's nested objects, and lets later rows find them.
  private func carryOutNested(_ index: Int, _ object: ManagedObject, _ change: RowChange) throws {
    guard let nested, !change.nested.isEmpty else { return }
    for (link, planned) in change.nested { try nested.hold(planned, link, object) }
    for item in nested.takeCreated() { targets.noteCreated(item.object.objectID, for: item.relationship) }
    for item in nested.takeTouched() {
      applied.noteNested(item.object, index)
      if item.object.entity.isKindOf(entity) { existing?.note(item.object, formerly: item.former) }
      noteTarget(item.object, formerly: item.former)
    }
  }
}
