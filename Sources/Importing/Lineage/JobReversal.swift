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
    }

    package let id: ManagedObjectID
    package let reason: Reason
    /// More about it, for a person; may be empty.
    package let detail: String
    /// What people know it by: its key, or its number.
    package let key: String

    init(_ id: ManagedObjectID, _ reason: Reason, _ detail: String = "") {
      self.id = id
      self.reason = reason
      self.detail = detail
      key = "number \(id.number)"
    }

    package init(_ object: ManagedObject, _ reason: Reason, _ detail: String = "") {
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
    /// Rows in the save.
    package var rows: Int64 = 0
    package var kept: [Kept] = []
    /// How many references couldn't be set again, since what they led to is gone.
    package var lostReferences: Int64 = 0

    var isIdle: Bool { deleted + restored + inserted == 0 }
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
  private var fingerprints: [ObjectIdentifier: RowFingerprint] = [:]
  private var coordinator: PersistentStoreCoordinator { context.persistentStoreCoordinator }

  /// - Parameters:
  ///   - job: names the job that is taken back, as in its checkpoint.
  ///   - isForced: whether rows are taken back that were changed since.
  package init(_ context: ManagedObjectContext, job: String, isForced: Bool) {
    self.context = context
    self.job = job
    self.isForced = isForced
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
      undoneBy: object.number("undoneBy"), undoes: object.number("undoes"),
      lacksValues: Int64(begun) < object.number("before"))
  }

  /// Notes, with the context's next save, that a job is taken back. One that it took back itself isn't any more.
  /// - Parameters:
  ///   - number: of the job that takes it back.
  ///   - former: names the job of a number.
  package func noteEnd(by number: Int64, former: (Int64) -> String) throws {
    guard let object = try LineageRecorder.find(job, "", in: context) else { return }
    try object.set(["undoneBy": number])
    try forgetFile(object)
    let undone = object.number("undoes")
    if undone != 0, let other = try LineageRecorder.find(former(undone), "", in: context) {
      try other.set(["undoneBy": 0])
    }
  }

  /// Lets the file be imported again, where files are skipped that were imported before.
  private func forgetFile(_ object: ManagedObject) throws {
    let digest = object.text("digest")
    if digest.isEmpty { return }
    let known = FetchRequest<ManagedObject>(
      entityName: ImportModel.importedEntity,
      predicate: .equal("digest", .string(digest)) && .equal("target", .string(object.text("entity"))))
    for file in try context.fetch(known) { context.delete(file) }
  }

  /// The rows because of which a save was refused; none if the error names none.
  package func refusals(_ error: any Error) -> [Kept] {
    func kept(_ id: ManagedObjectID, _ reason: Kept.Reason, _ detail: String) -> Kept {
      context.registeredObject(for: id).map { Kept($0, reason, detail) } ?? Kept(id, reason, detail)
    }
    switch error {
    case ManagedObjectError.validation(let failures):
      return failures.compactMap { failure in
        guard let id = failure.objectID else { return nil }
        if failure.reason == .deleteDenied { return kept(id, .needed, failure.description) }
        // An object that others have inserted may need the one that was to be deleted.
        if let object = context.registeredObject(for: id), !object.committed.isEmpty,
          let relationship = object.entity.propertiesByName[failure.property] as? RelationshipDescription,
          case .object(let target) = object.committed[relationship.slot],
          context.registeredObject(for: target)?.isDeleted == true
        {
          return kept(target, .needed, "\(object.entity.name) \(object.keyDescription) needs it")
        }
        return kept(id, .invalid, failure.description)
      }
    case ManagedObjectError.constraintConflicts(let conflicts):
      return conflicts.map { kept($0.objectID, .invalid, "another has its \($0.constraint.joined(separator: "+"))") }
    case ManagedObjectError.brokenReferences(let references):
      return references.map { reference in
        reference.isDeletedBySave
          ? kept(reference.missingObjectID, .needed, "\(reference.relationship) of another leads to it")
          : kept(reference.objectID, .invalid, "its \(reference.relationship) is gone")
      }
    default: return []
    }
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

  /// A row that the save has changed or deleted, with what it was.
  private struct Former {
    let id: ManagedObjectID
    let fingerprint: UInt32?
    let values: [BeforeValue]
  }

  /// The rows of a save.
  private struct Rows {
    var inserted: [(id: ManagedObjectID, fingerprint: UInt32?)] = []
    var updated: [Former] = []
    var deleted: [Former] = []
    var count: Int64 = 0
  }

  /// Takes back a save in the context. The caller saves it.
  /// - Parameter refused: rows that are to be left alone, as an attempt has found out.
  /// - Returns: what was done; with `others`, rows that can't be taken back as was tried: then the context is to be reset and
  ///   the save to be tried again without them.
  package func takeBack(
    _ save: Int64, except refused: [ManagedObjectID: Kept]
  ) throws -> (step: Step, others: [ManagedObjectID: Kept]) {
    var step = Step()
    var rows = try self.rows(of: save, &step)
    step.rows = rows.count
    step.kept += refused.values.sorted { $0.id.number < $1.id.number }
    rows.inserted.removeAll { refused[$0.id] != nil }
    rows.updated.removeAll { refused[$0.id] != nil }
    rows.deleted.removeAll { refused[$0.id] != nil }
    let present = try presentObjects(
      rows.inserted.map(\.id) + rows.updated.map(\.id) + rows.deleted.map(\.id))
    let insertion = try reinsert(&rows.deleted, present, rows.updated, &step)
    try restore(rows.updated, present, insertion, &step)
    // Only now do the objects have all of their members.
    for former in rows.deleted {
      if let object = insertion.objects[former.id] { setOrders(former.values, of: object) }
    }
    let others = try delete(rows.inserted, present, &step)
    return (step, others)
  }

  private func rows(of save: Int64, _ step: inout Step) throws -> Rows {
    let ofSave: FetchPredicate = .equal("job", .string(job)) && .equal("save", .int(save))
    let images = try images(ofSave)
    var rows = Rows()
    let segments = try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.lineageEntity, predicate: ofSave, sortDescriptors: [FetchSortDescriptor("part")],
        includesPendingChanges: false))
    for segment in segments {
      guard let event = RowEvent(rawValue: segment.number("event")) else { throw LineageError.damaged }
      let entity = segment.text("entity")
      let entries = try LineageEntries.read(segment.data("rows"), of: event)
      rows.count += Int64(entries.count)
      let known = images[segment.number("part")] ?? []
      for (index, entry) in entries.enumerated() {
        let id = try id(entity, entry.row)
        if event == .inserted {
          rows.inserted.append((id, entry.fingerprint))
        } else if index < known.count {
          let former = Former(id: id, fingerprint: entry.fingerprint, values: known[index])
          if event == .updated { rows.updated.append(former) } else { rows.deleted.append(former) }
        } else {
          step.kept.append(Kept(id, .expired))
        }
      }
    }
    return rows
  }

  /// The former values of a save's rows, by the part. Those of a part that isn't whole any more are left out.
  private func images(_ ofSave: FetchPredicate) throws -> [Int64: [[BeforeValue]]] {
    var images: [Int64: [[BeforeValue]]] = [:]
    let objects = try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.beforeEntity, predicate: ofSave,
        sortDescriptors: [FetchSortDescriptor("part"), FetchSortDescriptor("first")], includesPendingChanges: false))
    for object in objects {
      let part = object.number("part")
      guard object.number("first") == Int64(images[part]?.count ?? 0) else { continue }
      images[part, default: []] += try BeforeImages.read(object.data("images"), coordinator)
    }
    return images
  }

  /// The ID of an entity's own object.
  private func id(_ entity: String, _ number: Int64) throws -> ManagedObjectID {
    let id = try coordinator.managedObjectID(entity: entity, number: number)
    return ManagedObjectID(
      scope: IDScope.of(id.entity, in: id.scope.storeIdentifier, isExact: true), number: number)
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

  private func isAsLeft(_ object: ManagedObject, _ fingerprint: UInt32?) -> Bool {
    if isForced { return true }
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
    _ deleted: inout [Former], _ present: [ManagedObjectID: ManagedObject], _ updated: [Former], _ step: inout Step
  ) throws -> Targets {
    deleted.removeAll { former in
      guard present[former.id] != nil else { return false }
      if let object = present[former.id] { step.kept.append(Kept(object, .exists)) }
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
  private func leaveOut(_ deleted: inout [Former], _ others: Set<ManagedObjectID>, _ step: inout Step) {
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
      case .value, .order: []
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
        }
      case .value: object.point(relationship, to: nil)
      case .members(let lost, let got):
        let gone = Set(got)
        let back = lost.filter { targets.has($0) }
        step.lostReferences += Int64(lost.count - back.count)
        let held = object.resolved(relationship).relatedIDs.filter { !gone.contains($0) }
        let known = Set(held)
        object.hold(relationship, held + back.filter { !known.contains($0) })
      case .order: break
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

  private func restore(
    _ updated: [Former], _ present: [ManagedObjectID: ManagedObject], _ targets: Targets, _ step: inout Step
  ) throws {
    var restored: [(object: ManagedObject, values: [BeforeValue])] = []
    for former in updated {
      guard let object = present[former.id] else {
        step.kept.append(Kept(former.id, .deleted))
        continue
      }
      guard isAsLeft(object, former.fingerprint) else {
        step.kept.append(Kept(object, .changed))
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
  }

  // MARK: What was inserted

  /// Deletes inserted rows.
  /// - Returns: those that can't be deleted because rows of others would be deleted with them.
  private func delete(
    _ inserted: [(id: ManagedObjectID, fingerprint: UInt32?)], _ present: [ManagedObjectID: ManagedObject],
    _ step: inout Step
  ) throws -> [ManagedObjectID: Kept] {
    var own: Set<ManagedObjectID> = []
    for (id, fingerprint) in inserted {
      // One that is gone needs nothing.
      guard let object = present[id] else { continue }
      guard isAsLeft(object, fingerprint) else {
        step.kept.append(Kept(object, .changed))
        continue
      }
      own.insert(id)
      context.delete(object)
    }
    step.deleted += Int64(own.count)
    if own.isEmpty { return [:] }
    context.processPendingChanges()
    let needed = try needed(own)
    if isForced { return needed }
    return owners(ofOthers: context.deletedObjects.filter { !own.contains($0.objectID) }, own).merging(needed) { $1 }
  }

  /// The inserted rows that rows which stay refer to and need, by a relationship that no delete rule clears.
  private func needed(_ own: Set<ManagedObjectID>) throws -> [ManagedObjectID: Kept] {
    var needed: [ManagedObjectID: Kept] = [:]
    for (entity, ids) in Dictionary(grouping: own, by: \.entity) {
      for reference in entity.looseReferences where !reference.isToMany && !reference.isOptional {
        for part in ids.parts(of: 10_000) {
          let holders = try context.fetch(
            FetchRequest<ManagedObject>(
              entityName: reference.entity.name, predicate: .isIn(reference.name, part.map { .object($0) }),
              includesPendingChanges: false))
          for holder in holders where !holder.isDeleted {
            guard case .object(let id) = holder.value(at: reference.slot), own.contains(id) else { continue }
            let why = "\(holder.entity.name) \(holder.keyDescription) needs it"
            needed[id] = context.registeredObject(for: id).map { Kept($0, .needed, why) } ?? Kept(id, .needed, why)
          }
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
          let holders: [ManagedObjectID] =
            if case .object(let id) = object.committed[relationship.slot] { [id] } else {
              object.committed[relationship.slot].relatedIDs
            }
          for id in holders {
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
