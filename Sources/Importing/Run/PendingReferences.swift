// Rule 4 of the design for references to objects that come later in the file: they stand in the store beside the rows,
// saved with them, one object of `lade_unresolved` a row, and are set at the end of the file. Setting them and taking
// the notes away is one save, with the counts in the checkpoint; so it may be killed between any two saves as well.

import Foundation
import ManagedObjects

/// References of a job's rows to objects that the store hasn't got yet.
struct PendingReferences {
  private static let attempts = 3
  let context: ManagedObjectContext
  let job: String
  /// How many rows are set by one save.
  var batchSize = 5_000
  /// What the recipe says of the relationships.
  var options = MappingOptions()
  /// Where objects that are made on the way are noted, if somebody has to know them.
  var seen: SeenObjects?

  /// What is kept of one row.
  struct Note {
    /// The key of the object that each relationship is to point to, by the relationship's name.
    var keys: [String: String]
    /// Whether the row was counted as unchanged, which it isn't any more once a reference is set.
    var isCountedUnchanged: Bool
    /// Of to-many relationships, by name: the keys that lead nowhere yet.
    var sets: [String: MissingKeys] = [:]

    var isEmpty: Bool { keys.isEmpty && sets.isEmpty }

    /// The keys that each relationship is about.
    var allKeys: [String: [String]] { keys.mapValues { [$0] }.merging(sets.mapValues { $0.missing + $0.order }) { $1 } }
  }

  /// Keys of a to-many relationship.
  struct MissingKeys: Codable {
    /// Those that lead nowhere yet.
    var missing: [String]
    /// All of them in the record's order, when the relationship has one.
    var order: [String]
  }

  /// Whether the job has any.
  func isEmpty() throws -> Bool {
    try context.count(for: FetchRequest(entityName: ImportModel.referenceEntity, predicate: ofJob, fetchLimit: 1)) == 0
  }

  /// Keeps references for later. The object has its permanent ID, or an attribute that numbers it.
  func keep(_ note: Note, of object: ManagedObject) throws {
    let pending = try context.insert(ImportModel.referenceEntity)
    try pending.setValue(.string(job), forKey: "job")
    try pending.setValue(.string(object.entity.name), forKey: "entity")
    try pending.setValue(Self.number(of: object), forKey: "row")
    try pending.setValue(.string(String(decoding: JSONEncoder.sorted.encode(note.keys), as: UTF8.self)), forKey: "keys")
    if !note.sets.isEmpty {
      let sets = try JSONEncoder.sorted.encode(note.sets)
      try pending.setValue(.string(String(decoding: sets, as: UTF8.self)), forKey: "sets")
    }
    try pending.setValue(.string(note.isCountedUnchanged ? "unchanged" : "changed"), forKey: "counted")
  }

  /// What earlier batches kept of these objects, by the objects' numbers.
  func kept(of objects: [ManagedObject]) throws -> [Value: ManagedObject] {
    var found: [Value: ManagedObject] = [:]
    for part in objects.map(Self.number).parts(of: 10_000) {
      let request = FetchRequest<ManagedObject>(
        entityName: ImportModel.referenceEntity, predicate: ofJob && .isIn("row", Array(part)))
      for pending in try context.fetch(request) { found[pending.value(forKey: "row") ?? .null] = pending }
    }
    return found
  }

  /// What is kept in one object of `lade_unresolved`.
  static func note(_ pending: ManagedObject) throws -> Note {
    let text = pending.value(forKey: "keys")?.plainText ?? ""
    var note = Note(
      keys: try JSONDecoder().decode([String: String].self, from: Data(text.utf8)),
      isCountedUnchanged: pending.value(forKey: "counted") == .string("unchanged"))
    if case .string(let sets)? = pending.value(forKey: "sets"), !sets.isEmpty {
      note.sets = try JSONDecoder().decode([String: MissingKeys].self, from: Data(sets.utf8))
    }
    return note
  }

  /// What numbers an object's row: known before the object is saved.
  static func number(of object: ManagedObject) -> Value {
    object.entity.primaryKey.map { object.value(at: $0.slot) } ?? .int(object.objectID.number)
  }

  /// Takes away everything that is kept for the job.
  func removeAll() throws {
    while true {
      let some = try next()
      if some.isEmpty { return }
      for pending in some { context.delete(pending) }
      try context.save()
      context.reset()
    }
  }

  /// References that lead nowhere, by relationship.
  typealias Lost = [String: (count: Int64, examples: [String])]

  /// Sets what can be found now, and takes all of the job's references away, a batch a save.
  ///
  /// - Returns: those that lead nowhere; nil when `shouldStop` said so before the end.
  func resolve(
    _ resolver: ReferenceResolver, _ checkpoint: inout ImportCheckpoint, shouldStop: () -> Bool
  ) throws -> Lost? {
    var lost: Lost = [:]
    var attempt = 1
    while true {
      if shouldStop() { return nil }
      // Others may have changed or deleted rows since.
      resolver.forget()
      do {
        var next = checkpoint
        var nextLost = lost
        guard try resolveSome(resolver, &next, &nextLost) else { return lost }
        (checkpoint, lost, attempt) = (next, nextLost, 1)
      } catch ManagedObjectError.mergeConflicts where attempt < Self.attempts {
        // Somebody else changed one of the rows between reading and saving it.
        attempt += 1
      } catch ManagedObjectError.brokenReferences where attempt < Self.attempts {
        // Somebody else deleted an object that was found just before.
        attempt += 1
      } catch ManagedObjectError.constraintConflicts where attempt < Self.attempts {
        // Somebody else has made an object that was to be made here.
        attempt += 1
      }
      context.reset()
    }
  }

  private func resolveSome(
    _ resolver: ReferenceResolver, _ checkpoint: inout ImportCheckpoint, _ lost: inout Lost
  ) throws -> Bool {
    let record = try ImportCheckpoint.object(job, in: context)
    let pending = try next()
    if pending.isEmpty { return false }
    var references = PendingKeys(model: context.model, options: options)
    let notes = try pending.map { try ($0, Self.note($0)) }
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
        if object != nil,
          let target = try references.target(relationship, text, in: context, created: &checkpoint.counts.created)
        {
          isSet = isSet || object?.value(at: relationship.slot) != .object(target)
          object?.point(relationship, to: target)
          if options.properties[name]?.creates == true { referred.append(target) }
        } else {
          checkpoint.counts.unresolved += 1
          lost.note(name, text)
        }
      }
      for (name, set) in note.sets.sorted(by: { $0.key < $1.key }) {
        guard let relationship = object?.entity.propertiesByName[name] as? RelationshipDescription else { continue }
        var found: [ManagedObjectID] = []
        for text in set.missing {
          if let object,
            let target = try references.target(relationship, text, in: context, created: &checkpoint.counts.created)
          {
            if !object.resolved(relationship).contains(target) { found.append(target) }
            if options.properties[name]?.creates == true { referred.append(target) }
          } else {
            checkpoint.counts.unresolved += 1
            lost.note(name, text)
          }
        }
        guard !found.isEmpty else { continue }
        object?.join(relationship, found, order: set.order.compactMap { references.known(relationship, $0) })
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
    // The rows were checked when they were written, and a reference that may be empty breaks no rule.
    try context.saveValidated()
    return true
  }

  private var ofJob: FetchPredicate { .equal("job", .string(job)) }

  private func next() throws -> [ManagedObject] {
    try context.fetch(
      FetchRequest(entityName: ImportModel.referenceEntity, predicate: ofJob, fetchLimit: max(1, batchSize)))
  }

  /// The object whose references they are; nil when somebody deleted it in the meantime.
  private func owner(of pending: ManagedObject) throws -> ManagedObject? {
    guard let entity = pending.value(forKey: "entity")?.plainText, case .int(let number)? = pending.value(forKey: "row")
    else { return nil }
    do {
      return try context.existingObject(
        with: context.persistentStoreCoordinator.managedObjectID(entity: entity, number: number))
    } catch ManagedObjectError.objectNotFound {
      return nil
    }
  }
}

extension PendingReferences.Lost {
  fileprivate mutating func note(_ name: String, _ text: String) {
    self[name, default: (0, [])].count += 1
    if self[name, default: (0, [])].examples.count < 3 { self[name]?.examples.append("“\(text.shown)”") }
  }
}

extension JSONEncoder {
  /// Says the same thing the same way each time.
  fileprivate static var sorted: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}
