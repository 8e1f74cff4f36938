// Rules 3 and 7 of the design: a batch's objects and the checkpoint are saved together, and every record of the batch
// is an object or a line of the reject file.

import ManagedObjects

/// Turns converted rows into objects of a context and saves them, batch by batch.
final class BatchWriter {
  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let mode: ImportOptions.Mode
  private let job: String
  private let rejects: RejectFile
  private let resolver: ReferenceResolver
  private(set) var checkpoint: ImportCheckpoint
  /// What this batch keeps for later, by the object that refers.
  private var pendingReferences: [ObjectIdentifier: [ManagedObject]] = [:]
  /// The objects of the last batch, to be let go of elsewhere.
  private var remains: ContextRemains?
  /// The first rejection's message, for the error when there are too many.
  private(set) var firstRejection = ""

  init(
    context: ManagedObjectContext, entity: EntityDescription, mode: ImportOptions.Mode, job: String,
    rejects: RejectFile, checkpoint: ImportCheckpoint
  ) {
    self.context = context
    self.entity = entity
    self.mode = mode
    self.job = job
    self.rejects = rejects
    self.checkpoint = checkpoint
    resolver = ReferenceResolver(context: context)
  }

  /// The object of a row, and what became of it.
  private struct Written {
    let row: Int
    let object: ManagedObject
    let isNew: Bool
  }

  /// Writes one batch: objects, references, rejects, checkpoint, in one save.
  func write(_ batch: ConvertedBatch) throws {
    defer {
      pendingReferences.removeAll()
      remains = context.resetKeepingRemains()
    }
    // Asked for before there are new objects, so that the look-up needn't take them into account.
    let record = try ImportCheckpoint.object(job, in: context)
    var rejections = batch.rejections
    var written = mode == .insert ? try insert(batch) : try upsert(batch)
    try resolveReferences(batch, &written, &rejections)
    if !batch.isChecked { reject(invalid: &written, batch, &rejections) }
    while true {
      rejections.sort { $0.record < $1.record }
      var next = checkpoint
      next.position = batch.source.end
      next.counts.records = batch.source.end.record
      next.counts.rejected += Int64(rejections.count)
      for item in written {
        if item.isNew {
          next.counts.inserted += 1
        } else if item.object.hasPersistentChanges {
          next.counts.updated += 1
        }
      }
      next.counts.unchanged =
        next.counts.records - next.counts.inserted - next.counts.updated - next.counts.rejected
      let length = rejects.length
      rejects.append(rejections)
      try rejects.flush()
      next.rejectsLength = rejects.length
      try next.write(to: record)
      do {
        try context.saveValidated()
        checkpoint = next
        if firstRejection.isEmpty, let first = rejections.first {
          firstRejection = "line \(first.line): \(first.message)"
        }
        return
      } catch ManagedObjectError.constraintConflicts(let conflicts) {
        try rejects.truncate(to: length)
        try reject(conflicts, &written, batch, &rejections)
      }
    }
  }

  /// The objects of the last batch, which nobody touches any more.
  func takeRemains() -> ContextRemains? {
    defer { remains = nil }
    return remains
  }

  /// Ends the import: references to records that came later in the file are set, and the checkpoint says so.
  func finish(mapping: RecordMapping?) throws -> [String] {
    defer { context.reset() }
    let pending = PendingReferences(context: context, job: job)
    let missing = try mapping.map { try pending.resolve($0, resolver, &checkpoint) } ?? []
    checkpoint.isFinished = true
    try checkpoint.write(to: ImportCheckpoint.object(job, in: context))
    try context.save()
    return missing
  }

  // MARK: Objects

  private func insert(_ batch: ConvertedBatch) throws -> [Written] {
    let objects = try context.insert(entity, rows: batch.rows.lazy.map(\.values))
    var written: [Written] = []
    written.reserveCapacity(objects.count)
    for index in objects.indices { written.append(Written(row: index, object: objects[index], isNew: true)) }
    return written
  }

  private func upsert(_ batch: ConvertedBatch) throws -> [Written] {
    let key = try batch.mapping.key()
    var objects = try existing(batch, key)
    var written: [Written] = []
    var places: [ObjectIdentifier: Int] = [:]
    for index in batch.rows.indices {
      let row = batch.rows[index]
      let values = key.map { row.values[$0.slot] }
      // A key with a part missing matches nothing, as in SQL.
      if !values.contains(.null), let object = objects[values] {
        for target in batch.mapping.attributes {
          if batch.source.cell(row.record, target.column).kind == .missing { continue }
          object.setValue(row.values[target.slot], at: target.slot)
        }
        // The file's last word on an object counts; it stands once among the written.
        if let place = places[ObjectIdentifier(object)] {
          written[place] = Written(row: index, object: object, isNew: written[place].isNew)
        } else {
          places[ObjectIdentifier(object)] = written.count
          written.append(Written(row: index, object: object, isNew: false))
        }
      } else {
        let object = try context.insert(entity, values: row.values)
        if !values.contains(.null) { objects[values] = object }
        places[ObjectIdentifier(object)] = written.count
        written.append(Written(row: index, object: object, isNew: true))
      }
    }
    return written
  }

  /// The objects that the store has for the batch's keys.
  private func existing(_ batch: ConvertedBatch, _ key: [AttributeDescription]) throws -> [[Value]: ManagedObject] {
    // A compound key is looked up by its most telling part, and told apart here.
    var lookup: (attribute: AttributeDescription, values: Set<Value>)?
    for attribute in key {
      let values = Set(batch.rows.lazy.map { $0.values[attribute.slot] }.filter { !$0.isNull })
      if lookup == nil || values.count > lookup?.values.count ?? 0 { lookup = (attribute, values) }
    }
    guard let lookup else { return [:] }
    var objects: [[Value]: ManagedObject] = [:]
    for part in Array(lookup.values).parts(of: 10_000) {
      let request = FetchRequest<ManagedObject>(
        entityName: entity.name, predicate: .isIn(lookup.attribute.name, Array(part)))
      for object in try context.fetch(request) { objects[key.map { object.value(at: $0.slot) }] = object }
    }
    return objects
  }

  // MARK: References

  private func resolveReferences(
    _ batch: ConvertedBatch, _ written: inout [Written], _ rejections: inout [Rejection]
  ) throws {
    for (position, reference) in batch.mapping.references.enumerated() {
      let keys = Set(batch.rows.lazy.map { $0.keys[position] }.filter { !$0.isNull })
      var found = keys.isEmpty ? [:] : try resolver.find(reference, keys: keys)
      if reference.relationship.destinationEntity.rootEntity === entity.rootEntity {
        // The batch's own objects, which the store doesn't have yet.
        for item in written where item.isNew { found[item.object.value(at: reference.key.slot)] = item.object.objectID }
      }
      var refused: Set<Int> = []
      var waiting: [(object: ManagedObject, key: Value)] = []
      for (place, item) in written.enumerated() {
        let row = batch.rows[item.row]
        let key = row.keys[position]
        if key.isNull {
          let isAbsent = reference.column.map { batch.source.cell(row.record, $0).kind == .missing } ?? false
          if !isAbsent { item.object.point(reference.relationship, to: nil) }
        } else if let target = found[key] {
          item.object.point(reference.relationship, to: target)
        } else if reference.relationship.isOptional {
          waiting.append((item.object, key))
        } else {
          refused.insert(place)
          rejections.append(
            batch.source.rejection(
              row.record, column: reference.relationship.name, code: "no_such_object",
              message: "there is no \(reference.relationship.destinationEntity.name) with "
                + "\(reference.key.name) “\(key.plainText)”, which \(reference.relationship.name) needs"))
        }
      }
      try wait(waiting, reference)
      discard(refused, from: &written)
    }
  }

  /// Keeps references to objects that may come later in the file.
  private func wait(_ waiting: [(object: ManagedObject, key: Value)], _ reference: RecordMapping.Reference) throws {
    let unsaved = waiting.map(\.object).filter { $0.objectID.isTemporaryID && $0.entity.primaryKey == nil }
    if !unsaved.isEmpty { try context.obtainPermanentIDs(for: unsaved) }
    for (object, key) in waiting {
      let pending = try PendingReferences.note(key, reference, of: object, job: job, in: context)
      pendingReferences[ObjectIdentifier(object), default: []].append(pending)
    }
  }

  // MARK: Rejects

  /// Takes out what wouldn't pass validation, so that one bad record doesn't keep a batch from being saved.
  private func reject(invalid written: inout [Written], _ batch: ConvertedBatch, _ rejections: inout [Rejection]) {
    var refused: Set<Int> = []
    var failures: [ValidationFailure] = []
    for (place, item) in written.enumerated() {
      guard item.isNew || item.object.hasPersistentChanges else { continue }
      item.object.validate(into: &failures)
      guard let failure = failures.first else { continue }
      failures.removeAll(keepingCapacity: true)
      refused.insert(place)
      rejections.append(
        batch.source.rejection(
          batch.rows[item.row].record, column: failure.property, code: failure.code, message: failure.description))
    }
    discard(refused, from: &written)
  }

  /// Takes out records whose values the store has already.
  private func reject(
    _ conflicts: [ConstraintConflict], _ written: inout [Written], _ batch: ConvertedBatch,
    _ rejections: inout [Rejection]
  ) throws {
    let byID = Dictionary(conflicts.map { ($0.objectID, $0) }) { first, _ in first }
    var refused: Set<Int> = []
    for (place, item) in written.enumerated() {
      guard let conflict = byID[item.object.objectID] else { continue }
      refused.insert(place)
      let columns = conflict.constraint.joined(separator: ", ")
      let values = conflict.constraint.map { item.object.value(forKey: $0)?.plainText ?? "" }.joined(separator: ", ")
      rejections.append(
        batch.source.rejection(
          batch.rows[item.row].record, column: columns, code: "duplicate_key",
          message: "there is a \(entity.name) with \(columns) “\(values)” already"))
    }
    // A conflict of something else than this batch's records can't be mended here.
    guard !refused.isEmpty else { throw ManagedObjectError.constraintConflicts(conflicts) }
    discard(refused, from: &written)
  }

  private func discard(_ places: Set<Int>, from written: inout [Written]) {
    guard !places.isEmpty else { return }
    for place in places {
      let item = written[place]
      if item.isNew { context.delete(item.object) } else { item.object.revert() }
      for pending in pendingReferences.removeValue(forKey: ObjectIdentifier(item.object)) ?? [] { context.delete(pending) }
    }
    written = written.enumerated().filter { !places.contains($0.offset) }.map(\.element)
  }
}
