package import ManagedObjects

/// Deletes objects by the model's delete rules, and finds out which of them must stay. Each save records in a job's
/// checkpoint how many it deleted, so that a killed job counts none twice when it runs again.
package struct Deletion {
  /// How often objects that a save refuses are left out before the rest is split in halves.
  private static let rounds = 8
  private static let retries = 3
  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let job: String
  private let predicate: FetchPredicate?
  private let includesSubentities: Bool
  private let lineage: LineageRecorder?

  /// - Parameters:
  ///   - job: names the checkpoint.
  ///   - predicate: what must still be true for an object when it is read to be deleted.
  ///   - lineage: records what is deleted; nil where nothing is recorded.
  package init(
    context: ManagedObjectContext, entity: EntityDescription, job: String, predicate: FetchPredicate? = nil,
    includesSubentities: Bool = false, lineage: LineageRecorder? = nil
  ) {
    self.lineage = lineage
    self.context = context
    self.entity = entity
    self.job = job
    self.predicate = predicate
    self.includesSubentities = includesSubentities
  }

  private enum Outcome {
    case done
    /// The objects to blame, as far as the error names them.
    case refused(Set<ManagedObjectID>)
  }

  /// Deletes as many objects as possible, in as few saves as possible, and counts them in the checkpoint. The context is
  /// reset.
  /// - Returns: the objects that stay.
  package func delete(_ ids: [ManagedObjectID], _ checkpoint: inout ImportCheckpoint) throws -> [ManagedObjectID] {
    var rest = ids
    var refused: [ManagedObjectID] = []
    func takeOut(_ culprits: Set<ManagedObjectID>) {
      refused += rest.filter(culprits.contains)
      rest.removeAll(where: culprits.contains)
    }
    for _ in 0..<Self.rounds {
      while true {
        let needed = try neededByOthers(rest)
        if needed.isEmpty { break }
        takeOut(needed)
      }
      if rest.isEmpty { return refused }
      switch try save(rest, &checkpoint) {
      case .done: return refused
      case .refused(let culprits) where culprits.isDisjoint(with: rest): return try refused + halves(rest, &checkpoint)
      case .refused(let culprits): takeOut(culprits)
      }
    }
    return try refused + halves(rest, &checkpoint)
  }

  /// Tries each half alone: with a single object it is clear which one is to blame.
  private func halves(
    _ ids: [ManagedObjectID], _ checkpoint: inout ImportCheckpoint
  ) throws -> [ManagedObjectID] {
    if ids.count <= 1 { return ids }
    let middle = ids.count / 2
    return try delete(Array(ids[..<middle]), &checkpoint) + delete(Array(ids[middle...]), &checkpoint)
  }

  private func save(_ ids: [ManagedObjectID], _ checkpoint: inout ImportCheckpoint) throws -> Outcome {
    var attempt = 1
    while true {
      context.reset()
      lineage?.begin()
      let record = try ImportCheckpoint.object(job, in: context)
      for part in ids.parts(of: 10_000) {
        let request = FetchRequest<ManagedObject>(
          entityName: entity.name,
          predicate: .and([.isIn("SELF", part.map { .object($0) }), predicate].compactMap { $0 }),
          includesSubentities: includesSubentities)
        for object in try context.fetch(request) { context.delete(object) }
      }
      // Now the objects deleted by a cascade are known too.
      context.processPendingChanges()
      var next = checkpoint
      next.counts.deleted += Int64(
        context.deletedObjects.lazy.filter { includesSubentities ? $0.entity.isKindOf(entity) : $0.entity === entity }
          .count)
      try next.write(to: record)
      try lineage?.record()
      do {
        try context.save()
        checkpoint = next
        return .done
      } catch ManagedObjectError.validation(let failures) {
        return .refused(Set(failures.lazy.filter { $0.reason == .deleteDenied }.compactMap(\.objectID)))
      } catch ManagedObjectError.brokenReferences(let references) {
        return .refused(Set(references.lazy.filter(\.isDeletedBySave).map(\.missingObjectID)))
      } catch ManagedObjectError.mergeConflicts where attempt < Self.retries {
        // Another writer changed one of the rows between reading and saving it.
        attempt += 1
      }
    }
  }

  /// The objects that are required by objects that stay. A relationship without an inverse has no delete rule to deny the
  /// deletion, and the store would clear it.
  private func neededByOthers(_ ids: [ManagedObjectID]) throws -> Set<ManagedObjectID> {
    var needed: Set<ManagedObjectID> = []
    for reference in entity.references
    where !reference.isToMany && !reference.isOptional && reference.inverseRelationship?.deleteRule != .cascade {
      for part in ids.parts(of: 10_000) {
        var predicate = FetchPredicate.isIn(reference.name, part.map { .object($0) })
        if reference.entity.rootEntity === entity.rootEntity {
          predicate = predicate && .not(.isIn("SELF", ids.map { .object($0) }))
        }
        var request = FetchRequest<ManagedObject>(entityName: reference.entity.name, predicate: predicate)
        request.propertiesToFetch = [.property(reference.name)]
        request.returnsDistinctResults = true
        for row in try context.fetchDictionaries(request) {
          if let id = row.objectID(forKey: reference.name) { needed.insert(id) }
        }
      }
    }
    return needed
  }
}

extension ManagedObject {
  /// How messages name an object: by its key, or by its number if it has none.
  package var keyDescription: String {
    for constraint in entity.uniquenessConstraints {
      let values = constraint.map { value(at: $0.slot) }
      if !values.contains(.null) { return "“\(values.map(\.plainText.shown).joined(separator: ", "))”" }
    }
    return "number \(objectID.number)"
  }
}
