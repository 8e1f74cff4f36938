// An undo goes through a job's saves from the last to the first. Of each it deletes what was inserted, gives what was changed its
// former values, and inserts again what was deleted, under the number that it had.
//
// A row is left alone if it isn't as the job has left it: somebody has changed it since. Rows that the job itself changed more
// than once are as the later save left them until that is taken back, so the order decides. A row is also left alone if what it
// needs is gone, or if others need it. All of them are reported.

import Foundation
package import ManagedObjects

/// Takes back what a job has recorded of its saves. Belongs to the thread of the undo.
package final class JobReversal {
  /// A row that stays as it is.
  package struct Kept: Sendable, Hashable {
    /// Why.
    package enum Reason: String, Sendable {
      /// It was changed after the job.
      case changed
      /// It was deleted after the job.
      case deleted
      /// It is there again.
      case exists
      /// Its former values aren't kept any more.
      case expired
      /// Others need it, or would be deleted with it.
      case needed
      /// It isn't valid as it was: it refers to what is gone, or another has its key.
      case invalid
      /// It was taken back, without what is gone.
      case incomplete
    }

    package let entity: String
    package let number: Int64
    /// Nil if the model doesn't have the entity any more.
    package let id: ManagedObjectID?
    package let reason: Reason
    /// More about it, for a person; may be empty.
    package let detail: String
    /// What people know it by: its key, or its number.
    package let key: String

    init(_ id: ManagedObjectID, _ reason: Reason, _ detail: String = "") {
      self.init(id.entity.name, id.number, id: id, reason, detail)
    }

    init(_ entity: String, _ number: Int64, id: ManagedObjectID? = nil, _ reason: Reason, _ detail: String = "") {
      self.entity = entity
      self.number = number
      self.id = id
      self.reason = reason
      self.detail = detail
      key = "number \(number)"
    }

    package init(_ object: ManagedObject, _ reason: Reason, _ detail: String = "") {
      entity = object.entity.name
      number = object.objectID.number
      id = object.objectID
      self.reason = reason
      self.detail = detail
      key = object.keyDescription
    }
  }

  /// What taking back a save does.
  package struct Step {
    /// Rows that are deleted, get their former values, are inserted again.
    package var deleted: Int64 = 0
    package var restored: Int64 = 0
    package var inserted: Int64 = 0
    /// Rows of the save that were dealt with.
    package var rows: Int64 = 0
    /// How many rows of the save can be taken back together, or in parts.
    package var total = 0
    package var kept: [Kept] = []
    /// How many references couldn't be set again, since what they led to is gone.
    package var lostReferences: Int64 = 0

  }

  /// What was recorded of a job.
  package struct Record: Sendable {
    package let kind: String
    package let file: String
    package let entity: String
    /// The rows that it has inserted, changed and deleted.
    package let rows: Int64
    /// The job that has taken it back; 0 if none has.
    package let undoneBy: Int64
    /// The job that it took back; 0 if it took back none.
    package let undoes: Int64
    /// Whether former values are missing, since they aren't kept so long.
    package let lacksValues: Bool
  }

  private let context: ManagedObjectContext
  private let job: String
  private let isForced: Bool
  private let later: LaterChanges
  /// The rows that the present attempt takes back.
  private var current: Set<ManagedObjectID> = []
  private var fingerprints: [ObjectIdentifier: RowFingerprint] = [:]
  private var coordinator: PersistentStoreCoordinator { context.persistentStoreCoordinator }

  /// - Parameters:
  ///   - job: names the job that is taken back, as in its checkpoint.
  ///   - isForced: whether rows are taken back that were changed since.
  package init(_ context: ManagedObjectContext, job: String, isForced: Bool) {
    self.context = context
    self.job = job
    self.isForced = isForced
    later = LaterChanges(context, job: job)
  }

  // MARK: The job

  /// What was recorded of a job; nil if nothing was.
  package static func record(of job: String, in context: ManagedObjectContext) throws -> Record? {
    guard context.model.entitiesByName[ImportModel.jobEntity] != nil,
      let object = try LineageRecorder.find(job, "", in: context)
    else { return nil }
    let ofJob = FetchPredicate.equal("job", .string(job))
    let begun = try context.count(
      for: FetchRequest<ManagedObject>(
        entityName: ImportModel.beforeEntity, predicate: ofJob && .equal("first", .int(0))))
    return Record(
      kind: object.text("kind"), file: object.text("name"), entity: object.text("entity"),
      rows: object.number("events"),
      undoneBy: max(0, object.number("undoneBy")), undoes: object.number("undoes"),
      lacksValues: Int64(begun) < object.number("before"))
  }

  /// Notes, with the context's next save, that the job is being taken back.
  /// - Parameter number: of the job that takes it back.
  /// - Returns: the one that had taken it back before; its number is negative if it was given up when it had taken back
  ///   something. 0 if there is none.
  /// - Throws: ``LineageError`` if it hasn't ended, or another is taking it back.
  package func noteBegin(by number: Int64) throws -> Int64 {
    try JobStanding(of: job, in: context).beginUndo(by: number)
  }

  /// Has the rejects be open again that the job has resolved. Saves the context. To be called before the end is noted.
  package func reopenRejects(by number: Int64, save: () throws -> Void) throws {
    try JobStanding(of: job, in: context).moveRejects(by: number, save: save)
  }

  /// Notes, with the context's next save, that the job is taken back. One that it took back itself isn't any more.
  /// - Parameter former: the job that had taken it back before, if this one had nothing left to take back; nil otherwise.
  package func noteEnd(by number: Int64, former: Int64?) throws {
    try JobStanding(of: job, in: context).endUndo(by: number, former: former)
  }

  /// The rows of the present attempt because of which its save was refused; none if the error names none.
  package func refusals(_ error: any Error) -> [Kept] {
    var refusals: [Kept] = []
    switch error {
    case ManagedObjectError.validation(let failures): for failure in failures { refusals += blamed(for: failure) }
    case ManagedObjectError.constraintConflicts(let conflicts):
      refusals = conflicts.map {
        kept($0.objectID, .invalid, "another has its \($0.constraint.joined(separator: "+"))")
      }
    case ManagedObjectError.brokenReferences(let references):
      refusals = references.map { reference in
        reference.isDeletedBySave
          ? kept(reference.missingObjectID, .needed, "\(reference.relationship) of another leads to it")
          : kept(reference.objectID, .invalid, "its \(reference.relationship) is gone")
      }
    default: break
    }
    return refusals.filter { $0.id.map(current.contains) ?? false }
  }

  /// The only row of the present attempt, if it has only one and the store refuses it for a reason that names no row.
  package func refusal(ofOnly error: any Error) -> Kept? {
    guard current.count == 1, let id = current.first else { return nil }
    return kept(id, .invalid, "\(error)")
  }

  private func kept(_ id: ManagedObjectID, _ reason: Kept.Reason, _ detail: String) -> Kept {
    context.registeredObject(for: id).map { Kept($0, reason, detail) } ?? Kept(id, reason, detail)
  }

  private func blamed(for failure: ValidationFailure) -> [Kept] {
    guard let id = failure.objectID else { return [] }
    if failure.reason == .deleteDenied { return [kept(id, .needed, failure.description)] }
    if current.contains(id) { return [kept(id, .invalid, failure.description)] }
    guard let object = context.registeredObject(for: id), !object.committed.isEmpty,
      let relationship = object.entity.propertiesByName[failure.property] as? RelationshipDescription
    else { return [] }
    switch failure.reason {
    case .tooFewObjects: return movers(of: relationship, of: object, isJoining: false, failure)
    case .tooManyObjects: return movers(of: relationship, of: object, isJoining: true, failure)
    default:
      // An object that others have inserted may need the one that was to be deleted.
      guard case .object(let target) = object.committed[relationship.slot],
        context.registeredObject(for: target)?.isDeleted == true
      else { return [] }
      return [kept(target, .needed, "\(object.entity.name) \(object.keyDescription) needs it")]
    }
  }

  /// The rows of the attempt that would enter or leave a set whose size is limited.
  private func movers(
    of relationship: RelationshipDescription, of owner: ManagedObject, isJoining: Bool, _ failure: ValidationFailure
  ) -> [Kept] {
    guard let inverse = relationship.inverseRelationship else { return [] }
    let why = "\(owner.entity.name) \(owner.keyDescription): \(failure.description)"
    return current.compactMap { id in
      guard let object = context.registeredObject(for: id), object.entity.isKindOf(inverse.entity),
        let own = object.entity.propertiesByName[inverse.name] as? RelationshipDescription
      else { return nil }
      func isIn(_ values: ContiguousArray<Value>) -> Bool {
        !values.isEmpty && Self.references(values[own.slot]).contains(owner.objectID)
      }
      let before = isIn(object.committed)
      let after = !object.isDeleted && isIn(object.slots)
      return before != after && after == isJoining ? Kept(object, isJoining ? .invalid : .needed, why) : nil
    }
  }

  static func references(_ value: Value) -> [ManagedObjectID] {
    if case .object(let id) = value { return [id] }
    return value.relatedIDs
  }

  // MARK: A save

  /// The number of the last save before another; nil if there is none.
  package func save(before last: Int64?) throws -> Int64? {
    let rest = last.map { FetchPredicate.comparison(.path("save"), .less, .constant(.int($0))) }
    return try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.lineageEntity, predicate: .and([.equal("job", .string(job)), rest].compactMap { $0 }),
        sortDescriptors: [FetchSortDescriptor("save", ascending: false)], fetchLimit: 1, includesPendingChanges: false)
    ).first?.number("save")
  }

  /// Takes back a save, or a part of it, in the context. The caller saves it.
  /// - Parameters:
  ///   - part: which of its rows.
  ///   - refused: rows that are to be left alone, as an attempt has found out.
  /// - Returns: what was done; with `others`, rows that can't be taken back as was tried: then the context is to be reset and
  ///   the save to be tried again without them.
  package func takeBack(
    _ save: Int64, _ part: Range<Int>, except refused: [ManagedObjectID: Kept]
  ) throws -> (step: Step, others: [ManagedObjectID: Kept]) {
    var step = Step()
    var rows = try RecordedRows(of: save, by: job, in: context)
    step.total = rows.count
    rows.cut(to: part)
    step.rows = Int64(rows.count + rows.lost.count)
    step.kept += rows.lost
    step.kept += refused.values.sorted { $0.number < $1.number }
    rows.inserted.removeAll { refused[$0.id] != nil }
    rows.updated.removeAll { refused[$0.id] != nil }
    rows.deleted.removeAll { refused[$0.id] != nil }
    current = Set((rows.inserted + rows.updated + rows.deleted).map(\.id))
    let present = try presentObjects(Array(current))
    try leaveChanged(&rows.updated, present, rows.end, &step)
    try leaveChanged(&rows.inserted, present, rows.end, &step)
    let insertion = try reinsert(&rows.deleted, present, rows.updated, &step)
    var restored = try restore(rows.updated, present, insertion, &step)
    // Only now do the objects have all of their members.
    for former in rows.deleted {
      guard let object = insertion.objects[former.id] else { continue }
      setOrders(former.values, of: object)
      restored.insert(former.id)
    }
    let others = try delete(rows.inserted, present, rows, restored, &step)
    return (step, others)
  }

  /// Leaves rows out that were changed since.
  private func leaveChanged(
    _ formers: inout [RecordedRows.Former], _ present: [ManagedObjectID: ManagedObject], _ end: ManagedObjectID?,
    _ step: inout Step
  ) throws {
    guard !isForced, let end else { return }
    var same: [String: [Int64: UInt32]] = [:]
    for former in formers {
      guard let object = present[former.id], let fingerprint = former.fingerprint, isAsLeft(object, fingerprint)
      else { continue }
      same[former.id.entity.name, default: [:]][former.id.number] = fingerprint
    }
    for (entity, rows) in same {
      let changed = try later.changed(rows, of: entity, after: end)
      for row in changed { same[entity]?[row] = nil }
    }
    let left = same
    formers.removeAll { former in
      guard let object = present[former.id] else { return false }
      if left[former.id.entity.name]?[former.id.number] != nil { return false }
      if !former.values.isEmpty, former.isAgain(object) { return true }
      step.kept.append(Kept(object, .changed))
      return true
    }
  }

  /// The objects that exist, by their IDs, read together.
  private func presentObjects(_ ids: [ManagedObjectID]) throws -> [ManagedObjectID: ManagedObject] {
    var present: [ManagedObjectID: ManagedObject] = [:]
    for (entity, ids) in Dictionary(grouping: Set(ids), by: { $0.entity.rootEntity.name }) {
      for part in ids.parts(of: 10_000) {
        let found = try context.fetch(
          FetchRequest<ManagedObject>(
            entityName: entity, predicate: .isIn("SELF", part.map { .object($0) }), includesPendingChanges: false))
        for object in found { present[object.objectID] = object }
      }
    }
    return present
  }

  private func isAsLeft(_ object: ManagedObject, _ fingerprint: UInt32) -> Bool {
    let key = ObjectIdentifier(object.entity)
    let hash = fingerprints[key] ?? RowFingerprint(object.entity)
    fingerprints[key] = hash
    return hash.of(object.slots) == fingerprint
  }

  // MARK: What was deleted

  /// What can be referred to: objects that are inserted again, and others that are there.
  private struct Targets {
    var objects: [ManagedObjectID: ManagedObject] = [:]
    var others: Set<ManagedObjectID> = []

    func has(_ id: ManagedObjectID) -> Bool { objects[id] != nil || others.contains(id) }
  }

  /// Inserts deleted rows again, with their attributes, then sets their relationships, without the order of members.
  private func reinsert(
    _ deleted: inout [RecordedRows.Former], _ present: [ManagedObjectID: ManagedObject],
    _ updated: [RecordedRows.Former], _ step: inout Step
  ) throws -> Targets {
    deleted.removeAll { former in
      guard let object = present[former.id] else { return false }
      if isForced || !former.isAgain(object) { step.kept.append(Kept(object, .exists)) }
      return true
    }
    var targets = Targets()
    targets.others = try existing(among: (deleted + updated).flatMap { Self.references($0.values) })
    leaveOut(&deleted, targets.others, &step)
    for former in deleted {
      var values = former.id.entity.initialValues
      for value in former.values {
        guard let attribute = former.id.entity.propertiesByName[value.property] as? AttributeDescription,
          case .value(let old) = value.content
        else { continue }
        values[attribute.slot] = old
      }
      targets.objects[former.id] = try context.insert(former.id.entity, values: values, as: former.id)
    }
    for former in deleted {
      guard let object = targets.objects[former.id] else { continue }
      try setReferences(former.values, of: object, targets, &step)
      step.inserted += 1
    }
    return targets
  }

  /// Leaves rows out whose required reference leads to nothing any more.
  private func leaveOut(_ deleted: inout [RecordedRows.Former], _ others: Set<ManagedObjectID>, _ step: inout Step) {
    while true {
      let back = Set(deleted.map(\.id))
      let before = deleted.count
      deleted.removeAll { former in
        for value in former.values {
          guard case .value(.object(let target)) = value.content, !others.contains(target), !back.contains(target),
            let relationship = former.id.entity.propertiesByName[value.property], !relationship.isOptional
          else { continue }
          step.kept.append(Kept(former.id, .invalid, "its \(value.property) is gone"))
          return true
        }
        return false
      }
      if deleted.count == before { return }
    }
  }

  private static func references(_ values: [BeforeValue]) -> [ManagedObjectID] {
    values.flatMap { value -> [ManagedObjectID] in
      switch value.content {
      case .value(.object(let id)): [id]
      case .members(let lost, _): lost
      case .value, .order, .masked, .gone: []
      }
    }
  }

  private func existing(among ids: [ManagedObjectID]) throws -> Set<ManagedObjectID> {
    var found: Set<ManagedObjectID> = []
    for (entity, ids) in Dictionary(grouping: Set(ids), by: { $0.entity.rootEntity.name }) {
      for part in ids.parts(of: 10_000) {
        found.formUnion(
          try context.fetchIDs(
            FetchRequest<ManagedObject>(
              entityName: entity, predicate: .isIn("SELF", part.map { .object($0) }), includesPendingChanges: false)))
      }
    }
    return found
  }

  private func setReferences(
    _ values: [BeforeValue], of object: ManagedObject, _ targets: Targets, _ step: inout Step
  ) throws {
    var gone: [String] = []
    defer {
      if !gone.isEmpty { step.kept.append(Kept(object, .incomplete, gone.joined(separator: ", "))) }
    }
    for value in values {
      guard let relationship = object.entity.propertiesByName[value.property] as? RelationshipDescription else {
        continue
      }
      switch value.content {
      case .value(.object(let target)):
        if targets.has(target) {
          object.point(relationship, to: target)
        } else {
          object.point(relationship, to: nil)
          step.lostReferences += 1
          gone.append(value.property)
        }
      case .value: object.point(relationship, to: nil)
      case .members(let lost, let got):
        let joined = Set(got)
        let back = lost.filter { targets.has($0) }
        step.lostReferences += Int64(lost.count - back.count)
        if back.count < lost.count { gone.append(value.property) }
        let held = object.resolved(relationship).relatedIDs.filter { !joined.contains($0) }
        let known = Set(held)
        object.hold(relationship, held + back.filter { !known.contains($0) })
      case .order, .masked, .gone: break
      }
    }
  }

  /// Puts the objects of ordered relationships into their former order; others follow.
  private func setOrders(_ values: [BeforeValue], of object: ManagedObject) {
    for value in values {
      guard case .order(let order) = value.content,
        let relationship = object.entity.propertiesByName[value.property] as? RelationshipDescription
      else { continue }
      let held = object.resolved(relationship).relatedIDs
      let known = Set(held)
      let first = order.filter { known.contains($0) }
      let named = Set(first)
      object.hold(relationship, first + held.filter { !named.contains($0) })
    }
  }

  // MARK: What was changed

  /// Gives rows their former values.
  /// - Returns: those that have them.
  private func restore(
    _ updated: [RecordedRows.Former], _ present: [ManagedObjectID: ManagedObject], _ targets: Targets,
    _ step: inout Step
  ) throws -> Set<ManagedObjectID> {
    var restored: [(object: ManagedObject, values: [BeforeValue])] = []
    for former in updated {
      guard let object = present[former.id] else {
        step.kept.append(Kept(former.id, .deleted))
        continue
      }
      if !isForced, let gone = Self.lostReference(in: former.values, targets) {
        step.kept.append(Kept(object, .invalid, "its \(gone) is gone"))
        continue
      }
      restored.append((object, former.values))
    }
    for (object, values) in restored {
      for value in values {
        guard let attribute = object.entity.propertiesByName[value.property] as? AttributeDescription,
          case .value(let old) = value.content
        else { continue }
        object.setValue(old, at: attribute.slot)
      }
      try setReferences(values, of: object, targets, &step)
    }
    for (object, values) in restored { setOrders(values, of: object) }
    step.restored += Int64(restored.count)
    return Set(restored.map(\.object.objectID))
  }

  /// A to-one relationship that led to what isn't there any more.
  private static func lostReference(in values: [BeforeValue], _ targets: Targets) -> String? {
    for value in values {
      if case .value(.object(let target)) = value.content, !targets.has(target) { return value.property }
    }
    return nil
  }

  // MARK: What was inserted

  /// Deletes inserted rows.
  /// - Returns: those that can't be deleted because rows of others need them, or would be deleted with them.
  private func delete(
    _ inserted: [RecordedRows.Former], _ present: [ManagedObjectID: ManagedObject], _ rows: RecordedRows,
    _ restored: Set<ManagedObjectID>,
    _ step: inout Step
  ) throws -> [ManagedObjectID: Kept] {
    var own: Set<ManagedObjectID> = []
    for former in inserted {
      // One that is gone needs nothing.
      guard let object = present[former.id] else { continue }
      own.insert(former.id)
      context.delete(object)
    }
    step.deleted += Int64(own.count)
    if own.isEmpty { return [:] }
    context.processPendingChanges()
    let needed = try needed(own, rows)
    if isForced { return needed }
    return owners(ofOthers: context.deletedObjects.filter { !own.contains($0.objectID) }, own)
      .merging(needed) { $1 }.merging(released(own, rows, restored)) { first, _ in first }
  }

  /// The inserted rows that rows which stay refer to by a relationship that no delete rule clears. By force only those that they
  /// need.
  private func needed(_ own: Set<ManagedObjectID>, _ rows: RecordedRows) throws -> [ManagedObjectID: Kept] {
    var needed: [ManagedObjectID: Kept] = [:]
    for (entity, ids) in Dictionary(grouping: own, by: \.entity) {
      for reference in entity.looseReferences
      where !isForced || (!reference.isToMany && !reference.isOptional) {
        let loose = LooseReference(reference)
        for holder in try loose.holders(of: Set(ids), in: context)
        where !holder.isDeleted && !ImportModel.entities.contains(holder.entity.name) {
          for id in loose.held(own, by: holder) {
            if rows.hasPut(id, into: reference, of: holder) { continue }
            needed[id] = needed[id] ?? kept(id, .needed, Self.need(holder, reference))
          }
        }
      }
    }
    return needed
  }

  private static func need(_ holder: ManagedObject, _ relationship: RelationshipDescription) -> String {
    let name = "\(holder.entity.name) \(holder.keyDescription)"
    return relationship.isToMany || relationship.isOptional
      ? "\(name) has it as \(relationship.name)" : "\(name) needs it"
  }

  /// The inserted rows that rows which stay referred to until a delete rule has cleared that.
  private func released(
    _ own: Set<ManagedObjectID>, _ rows: RecordedRows, _ restored: Set<ManagedObjectID>
  ) -> [ManagedObjectID: Kept] {
    var needed: [ManagedObjectID: Kept] = [:]
    for holder in context.updatedObjects
    where !restored.contains(holder.objectID) && !holder.committed.isEmpty
      && !ImportModel.entities.contains(holder.entity.name)
    {
      for relationship in holder.entity.relationships
      where !relationship.isUnstored && (!relationship.isToMany || relationship.isManyToMany) {
        let before = Self.references(holder.committed[relationship.slot]).filter(own.contains)
        if before.isEmpty { continue }
        let after = Set(Self.references(holder.slots[relationship.slot]))
        for id in before where !after.contains(id) {
          if rows.hasPut(id, into: relationship, of: holder) { continue }
          needed[id] = needed[id] ?? kept(id, .needed, Self.need(holder, relationship))
        }
      }
    }
    return needed
  }

  /// The inserted rows with which others would be deleted by a cascade.
  private func owners(ofOthers others: [ManagedObject], _ own: Set<ManagedObjectID>) -> [ManagedObjectID: Kept] {
    var owners: [ManagedObjectID: Kept] = [:]
    var seen: Set<ManagedObjectID> = []
    var next = others.filter { !ImportModel.entities.contains($0.entity.name) && !$0.committed.isEmpty }
    let first = next
    while !next.isEmpty {
      var above: [ManagedObject] = []
      for object in next where seen.insert(object.objectID).inserted {
        for relationship in object.entity.relationships {
          guard let inverse = relationship.inverseRelationship, inverse.deleteRule == .cascade else { continue }
          for id in Self.references(object.committed[relationship.slot]) {
            if own.contains(id) {
              let why = "a \(object.entity.name) that it has would be deleted with it"
              owners[id] = context.registeredObject(for: id).map { Kept($0, .needed, why) } ?? Kept(id, .needed, why)
            } else if let holder = context.registeredObject(for: id), holder.isDeleted, !holder.committed.isEmpty {
              above.append(holder)
            }
          }
        }
      }
      next = above
    }
    if owners.isEmpty, !first.isEmpty {
      // What leads to them isn't known, so none is deleted.
      for id in own { owners[id] = Kept(id, .needed, "others would be deleted with it") }
    }
    return owners
  }
}
