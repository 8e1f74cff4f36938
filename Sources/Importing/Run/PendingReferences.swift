import ManagedObjects

/// References to objects that the file hasn't shown yet. They stand in the store beside the rows, saved with them, so
/// that a job killed in the middle knows them; at the end of the file they are looked up once more.
struct PendingReferences {
  private static let batch = 5_000
  private static let examples = 3
  let context: ManagedObjectContext
  let job: String

  /// Keeps a reference for later. The object has its permanent ID, or an attribute that numbers it.
  static func note(
    _ key: Value, _ reference: RecordMapping.Reference, of object: ManagedObject, job: String,
    in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let number = object.entity.primaryKey.map { object.value(at: $0.slot) } ?? .int(object.objectID.number)
    let pending = try context.insert(ImportModel.referenceEntity)
    try pending.setValue(.string(job), forKey: "job")
    try pending.setValue(.string(object.entity.name), forKey: "entity")
    try pending.setValue(number, forKey: "row")
    try pending.setValue(.string(reference.relationship.name), forKey: "relationship")
    try pending.setValue(.string(key.plainText), forKey: "key")
    return pending
  }

  /// Sets what can be found now, and takes all of the job's references away.
  /// - Returns: a line for each relationship that has references which lead nowhere.
  func resolve(
    _ mapping: RecordMapping, _ resolver: ReferenceResolver, _ checkpoint: inout ImportCheckpoint
  ) throws -> [String] {
    resolver.forget()
    var lost: [String: (count: Int, examples: [String])] = [:]
    let references = Dictionary(uniqueKeysWithValues: mapping.references.map { ($0.relationship.name, $0) })
    while true {
      let request = FetchRequest<ManagedObject>(
        entityName: ImportModel.referenceEntity, predicate: .equal("job", .string(job)), fetchLimit: Self.batch)
      let pending = try context.fetch(request)
      if pending.isEmpty { break }
      for (name, group) in Dictionary(grouping: pending, by: { $0.value(forKey: "relationship")?.plainText ?? "" }) {
        guard let reference = references[name] else { continue }
        let keys = group.map { Self.key($0, reference) }
        let found = try resolver.find(reference, keys: Set(keys))
        for (item, key) in zip(group, keys) {
          if let target = found[key], let object = try owner(of: item) {
            object.point(reference.relationship, to: target)
          } else {
            checkpoint.counts.unresolved += 1
            lost[name, default: (0, [])].count += 1
            if lost[name, default: (0, [])].examples.count < Self.examples {
              lost[name]?.examples.append("“\(key.plainText)”")
            }
          }
        }
      }
      for item in pending { context.delete(item) }
      try checkpoint.write(to: ImportCheckpoint.object(job, in: context))
      try context.save()
      context.reset()
    }
    return lost.sorted { $0.key < $1.key }.map { name, what in
      "\(what.count) reference(s) \(name) lead nowhere and were left empty, such as \(what.examples.joined(separator: ", "))"
    }
  }

  private static func key(_ pending: ManagedObject, _ reference: RecordMapping.Reference) -> Value {
    var text = pending.value(forKey: "key")?.plainText ?? ""
    return text.withUTF8 { buffer in
      do {
        return try reference.converter.convert(text: UnsafeRawBufferPointer(buffer))
      } catch {
        // It was converted once, from the file; what can't be read back is a key that nothing has.
        return .null
      }
    }
  }

  private func owner(of pending: ManagedObject) throws -> ManagedObject? {
    guard let entity = pending.value(forKey: "entity")?.plainText,
      case .int(let number)? = pending.value(forKey: "row")
    else { return nil }
    let id = try context.persistentStoreCoordinator.managedObjectID(entity: entity, number: number)
    do {
      return try context.existingObject(with: id)
    } catch ManagedObjectError.objectNotFound {
      // Somebody deleted the row in the meantime: there is nothing left to set.
      return nil
    }
  }
}
