// Rule 4 (ARCHITECTURE.md) for references to objects that come later in the file: they are kept in the store beside the
// rows and saved with them, one object of `lade_unresolved` for each row, and set at the end of the file. Setting them and
// deleting the notes is one save with the counts in the checkpoint, so a kill between any two saves loses nothing.

import Foundation
import ManagedObjects

/// The references of a job's rows to objects that the store doesn't have yet.
struct PendingReferences {
  private static let attempts = 3
  let context: ManagedObjectContext
  private let job: String
  /// How many rows are set by one save.
  private let batchSize: Int
  /// The recipe's rules for relationships.
  private let options: MappingOptions
  /// Where created objects are marked as seen, in a mode that needs this.
  private let seen: SeenObjects?
  private let lineage: LineageRecorder?

  init(
    context: ManagedObjectContext, job: String, batchSize: Int = 5_000, options: MappingOptions = MappingOptions(),
    seen: SeenObjects? = nil, lineage: LineageRecorder? = nil
  ) {
    self.lineage = lineage
    self.context = context
    self.job = job
    self.batchSize = batchSize
    self.options = options
    self.seen = seen
  }

  /// What is kept of one row.
  struct Note {
    /// The key of the object that each relationship is to point to, by the relationship's name.
    var keys: [String: String]
    /// Whether the row was counted as unchanged. Setting a reference makes it an update.
    var isCountedUnchanged: Bool
    /// The keys of to-many relationships that lead nowhere yet, by the relationship's name.
    var sets: [String: MissingKeys] = [:]

    var isEmpty: Bool { keys.isEmpty && sets.isEmpty }

    /// The keys of each relationship.
    var allKeys: [String: [String]] { keys.mapValues { [$0] }.merging(sets.mapValues { $0.missing + $0.order }) { $1 } }
  }

  /// Keys of a to-many relationship.
  struct MissingKeys: Codable {
    /// The keys that lead nowhere yet.
    var missing: [String]
    /// All keys in the record's order, if the relationship is ordered.
    var order: [String]
  }

  /// Whether the job has any.
  func isEmpty() throws -> Bool {
    try context.count(for: FetchRequest(entityName: ImportModel.referenceEntity, predicate: ofJob, fetchLimit: 1)) == 0
  }

  /// Keeps references for later. The object must have its permanent ID, or an attribute that is its row number.
  func keep(_ note: Note, of object: ManagedObject) throws {
    let pending = try context.insert(ImportModel.referenceEntity)
    try pending.setValue(.string(job), forKey: "job")
    try pending.setValue(.string(object.entity.name), forKey: "entity")
    try pending.setValue(Self.number(of: object), forKey: "row")
    try pending.setValue(.string(PendingKeyTexts.text(of: note.keys)), forKey: "keys")
    if !note.sets.isEmpty {
      let sets = try JSONEncoder.sorted.encode(note.sets)
      try pending.setValue(.string(String(decoding: sets, as: UTF8.self)), forKey: "sets")
    }
    try pending.setValue(.string(note.isCountedUnchanged ? "unchanged" : "changed"), forKey: "counted")
  }

  /// Keeps references of new rows for later, without objects: for each row, the key of the object that each relationship is to
  /// point to, by the relationship's name.
  /// - Returns: false when objects are needed.
  func keep(_ notes: [(row: Int64, keys: [String: String])], of entity: EntityDescription) throws -> Bool {
    guard let kept = context.model.entitiesByName[ImportModel.referenceEntity], let row = kept.slot(of: "row"),
      let keys = kept.slot(of: "keys")
    else { return false }
    // What all notes have in common is set once.
    var values = kept.initialValues
    for (name, text) in [("job", job), ("entity", entity.name), ("counted", "changed")] {
      guard let slot = kept.slot(of: name) else { return false }
      values[slot] = .string(text)
    }
    let rows = NewRows(
      kept, of: context.persistentStoreCoordinator, capacity: notes.count,
      textCapacity: 64 * notes.count + job.utf8.count + entity.name.utf8.count, initial: values)
    for note in notes {
      rows.beginRow()
      rows.set(row, int: note.row)
      rows.set(keys, .string(try PendingKeyTexts.text(of: note.keys)))
      rows.endRow()
    }
    return try context.insert(rows)
  }

  /// What earlier batches kept of these objects, by row number.
  func kept(of objects: [ManagedObject]) throws -> [Value: ManagedObject] {
    var found: [Value: ManagedObject] = [:]
    for part in objects.map(Self.number).parts(of: 10_000) {
      let request = FetchRequest<ManagedObject>(
        entityName: ImportModel.referenceEntity, predicate: ofJob && .isIn("row", Array(part)))
      for pending in try context.fetch(request) { found[pending.value(forKey: "row") ?? .null] = pending }
    }
    return found
  }

  /// Reads one object of `lade_unresolved`.
  static func note(_ pending: ManagedObject) throws -> Note {
    var note = Note(
      keys: try PendingKeyTexts.keys(in: pending.value(forKey: "keys")?.plainText ?? ""),
      isCountedUnchanged: pending.value(forKey: "counted") == .string("unchanged"))
    if case .string(let sets)? = pending.value(forKey: "sets"), !sets.isEmpty {
      note.sets = try JSONDecoder().decode([String: MissingKeys].self, from: Data(sets.utf8))
    }
    return note
  }

  /// An object's row number, where it is known before the object is saved.
  static func number(of object: ManagedObject) -> Value {
    object.entity.primaryKey.map { object.value(at: $0.slot) } ?? .int(object.objectID.number)
  }

  /// Deletes everything that is kept for the job. The context is reset.
  func removeAll() throws {
    while true {
      let some = try next(batchSize)
      if some.isEmpty { return }
      for pending in some { context.delete(pending) }
      try context.save()
      context.reset()
    }
  }

  /// Sets the references whose objects can be found now, and deletes all of the job's notes, one save for each batch.
  ///
  /// - Returns: the references that lead nowhere; nil when `shouldStop` returned true before the end.
  func resolve(
    _ resolver: ReferenceResolver, _ checkpoint: inout ImportCheckpoint, shouldStop: () -> Bool
  ) throws -> UnresolvedReferences? {
    var unresolved = UnresolvedReferences()
    var attempt = 1
    /// How many notes are still resolved one by one, to find those that the objects at the other end don't allow.
    var alone = 0
    var refusal: ValidationFailure?
    while true {
      if shouldStop() { return nil }
      // Other writers may have changed or deleted rows.
      resolver.forget()
      do {
        var next = checkpoint
        var nextUnresolved = unresolved
        guard try resolveSome(alone > 0 ? 1 : batchSize, refusal, resolver, &next, &nextUnresolved) else {
          return unresolved
        }
        (checkpoint, unresolved, attempt) = (next, nextUnresolved, 1)
        (alone, refusal) = (max(0, alone - 1), nil)
      } catch ManagedObjectError.mergeConflicts where attempt < Self.attempts {
        // Another writer changed one of the rows between reading and saving it.
        attempt += 1
      } catch ManagedObjectError.brokenReferences where attempt < Self.attempts {
        // Another writer deleted an object that was found just before.
        attempt += 1
      } catch ManagedObjectError.constraintConflicts where attempt < Self.attempts {
        // Another writer inserted an object that was to be created here.
        attempt += 1
      } catch ManagedObjectError.validation(let failures) where refusal == nil {
        // The object that a reference leads to isn't valid with it: its set has rules.
        if alone > 0 { refusal = failures.first } else { alone = max(1, batchSize) }
      }
      context.reset()
    }
  }

  /// - Parameters:
  ///   - limit: the number of notes that are resolved by one save.
  ///   - refusal: why the references of these notes are left empty.
  private func resolveSome(
    _ limit: Int, _ refusal: ValidationFailure?, _ resolver: ReferenceResolver, _ checkpoint: inout ImportCheckpoint,
    _ unresolved: inout UnresolvedReferences
  ) throws -> Bool {
    lineage?.begin()
    let record = try ImportCheckpoint.object(job, in: context)
    let pending = try next(limit)
    if pending.isEmpty { return false }
    var references = PendingKeys(model: context.model, options: options)
    let notes = try pending.map { try ($0, Self.note($0)) }
    let owners = try owners(of: pending)
    defer { withExtendedLifetime(owners) {} }
    for (item, note) in notes {
      try references.add(note.allKeys, entity: item.value(forKey: "entity")?.plainText ?? "")
    }
    try references.find(resolver)
    var referred: [ManagedObjectID] = []
    for (item, note) in notes {
      let object = try owner(of: item)
      var isSet = false
      for (name, text) in note.keys.sorted(by: { $0.key < $1.key }) {
        guard let relationship = object?.entity.propertiesByName[name] as? RelationshipDescription else { continue }
        if let refusal {
          checkpoint.counts.unresolved += 1
          unresolved.note(name, references.shown(relationship, text), refusal)
        } else if object != nil,
          let target = try references.target(relationship, text, in: context, created: &checkpoint.counts.created)
        {
          isSet = isSet || object?.value(at: relationship.slot) != .object(target)
          object?.point(relationship, to: target)
          if options.properties[name]?.creates == true { referred.append(target) }
        } else {
          checkpoint.counts.unresolved += 1
          unresolved.note(name, references.shown(relationship, text))
        }
      }
      for (name, set) in note.sets.sorted(by: { $0.key < $1.key }) {
        guard let relationship = object?.entity.propertiesByName[name] as? RelationshipDescription else { continue }
        var found: [ManagedObjectID] = []
        for text in set.missing {
          if let refusal {
            checkpoint.counts.unresolved += 1
            unresolved.note(name, references.shown(relationship, text), refusal)
          } else if let object,
            let target = try references.target(relationship, text, in: context, created: &checkpoint.counts.created)
          {
            if !object.resolved(relationship).contains(target) { found.append(target) }
            if options.properties[name]?.creates == true { referred.append(target) }
          } else {
            checkpoint.counts.unresolved += 1
            unresolved.note(name, references.shown(relationship, text))
          }
        }
        let order = set.order.compactMap { references.known(relationship, $0) }
        // The other ends may have been set by their own records, which say nothing about the order.
        guard refusal == nil, !found.isEmpty || object?.isOutOfOrder(relationship, order) == true else { continue }
        object?.join(relationship, found, order: order)
        isSet = true
      }
      if isSet, note.isCountedUnchanged {
        checkpoint.counts.unchanged -= 1
        checkpoint.counts.updated += 1
      }
      context.delete(item)
    }
    try seen?.mark(referred: referred)
    try checkpoint.write(to: record)
    // The rows were validated when they were written, and setting an optional reference can't make them invalid, but the
    // objects that it leads to.
    try lineage?.record()
    try context.saveValidated()
    return true
  }

  private var ofJob: FetchPredicate { .equal("job", .string(job)) }

  private func next(_ limit: Int) throws -> [ManagedObject] {
    try context.fetch(
      FetchRequest(entityName: ImportModel.referenceEntity, predicate: ofJob, fetchLimit: max(1, limit)))
  }

  /// The objects whose references they are, read together. Retained, they needn't be read one by one.
  private func owners(of pending: [ManagedObject]) throws -> [ManagedObject] {
    var ids: [String: [Value]] = [:]
    for item in pending {
      if let (entity, id) = try owner(named: item) { ids[entity, default: []].append(.object(id)) }
    }
    return try ids.flatMap { entity, ids in
      try context.fetch(
        FetchRequest<ManagedObject>(
          entityName: entity, predicate: .comparison(.evaluatedObject, .isIn, .constants(ids)),
          includesPendingChanges: false))
    }
  }

  /// The object whose references they are; nil if it has been deleted.
  private func owner(of pending: ManagedObject) throws -> ManagedObject? {
    guard let (_, id) = try owner(named: pending) else { return nil }
    do {
      return try context.existingObject(with: id)
    } catch ManagedObjectError.objectNotFound {
      return nil
    }
  }

  private func owner(named pending: ManagedObject) throws -> (entity: String, id: ManagedObjectID)? {
    guard let entity = pending.value(forKey: "entity")?.plainText, case .int(let number)? = pending.value(forKey: "row")
    else { return nil }
    return (entity, try context.persistentStoreCoordinator.managedObjectID(entity: entity, number: number))
  }
}

/// References that were left empty, by relationship.
struct UnresolvedReferences {
  private struct Place: Hashable {
    let relationship: String
    /// Why they can't be set; nil if they lead nowhere.
    let refusal: String?
  }

  private var all: [Place: (count: Int64, examples: [String])] = [:]

  /// - Parameters:
  ///   - key: as messages show it.
  ///   - refusal: why the object that it leads to doesn't allow it; nil if it leads nowhere.
  mutating func note(_ relationship: String, _ key: String, _ refusal: ValidationFailure? = nil) {
    let relationship = Place(relationship: relationship, refusal: refusal?.description)
    var known = all[relationship] ?? (0, [])
    known.count += 1
    if known.examples.count < 3 {
      let example = "“\(key)”"
      if !known.examples.contains(example) { known.examples.append(example) }
    }
    all[relationship] = known
  }

  /// One note for each relationship, for a person.
  var notes: [String] {
    let sorted = all.sorted {
      ($0.key.relationship, $0.key.refusal ?? "") < ($1.key.relationship, $1.key.refusal ?? "")
    }
    return sorted.map { place, what in
      let why = place.refusal.map { "can't be set (\($0))" } ?? "lead nowhere"
      return "\(what.count) reference(s) of \(place.relationship) \(why) and were left empty, such as "
        + what.examples.joined(separator: ", ")
    }
  }
}

extension JSONEncoder {
  /// Encodes equal values to equal bytes.
  static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
