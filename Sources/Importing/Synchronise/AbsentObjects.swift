// `synchronise` and `replace` delete, at the end of their source, the objects of exactly the imported entity that no record
// was about. Objects of entities that inherit from it stay, though a record may have updated one.
//
// Rule 4 (ARCHITECTURE.md): each save deletes some objects and counts them in the checkpoint. A killed job goes through all
// objects again; deleted ones can't be counted twice. Rule 9 (ARCHITECTURE.md): objects are read in the order of their numbers, batch by batch.
//
// An object that a delete rule or a required reference protects stays. What protects it may be deleted later in the same
// pass, so passes are repeated until one deletes nothing.

import ManagedObjects

/// The objects that the source doesn't have.
struct AbsentObjects {
  let seen: SeenObjects
  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let mode: ImportMode
  private let batchSize: Int
  /// Whether everything may be deleted.
  private let allowsEmpty: Bool
  /// The objects that the source could have: if the recipe gives a part of the key, no record can be about an object with
  /// another value there. nil for all.
  private let scope: FetchPredicate?
  private let given: [(slot: Int, value: Value)]
  private let lineage: LineageRecorder?

  init(
    context: ManagedObjectContext, mode: ImportMode, job: String, rules: MappingRules, batchSize: Int,
    allowsEmpty: Bool, lineage: LineageRecorder? = nil
  ) {
    self.context = context
    self.lineage = lineage
    entity = rules.entity
    self.mode = mode
    self.batchSize = batchSize
    self.allowsEmpty = allowsEmpty
    given = rules.constants.filter { slot, _ in rules.identities.joined().contains { $0.slot == slot }
    }
    let conditions = given.compactMap { slot, value in
      rules.entity.attributes.first { $0.slot == slot }.map { FetchPredicate.equal($0.name, value) }
    }
    scope = conditions.isEmpty ? nil : .and(conditions)
    seen = SeenObjects(
      context: context, job: job, entity: rules.entity, hidesOthers: mode == .replace && given.isEmpty)
  }

  /// Objects that can't be deleted because others need them.
  private struct Kept {
    var count: Int64 = 0
    var examples: [String] = []
  }

  /// Whether an object is deleted unless the source has it.
  func covers(_ object: ManagedObject) -> Bool {
    object.entity === entity && given.allSatisfy { object.value(at: $0.slot) == $0.value }
  }

  /// Refuses to delete objects because of a source that gave nothing, which is probably a mistake.
  func check(_ checkpoint: ImportCheckpoint) throws {
    guard !allowsEmpty, checkpoint.counts.taken == 0, checkpoint.unidentified == 0 else { return }
    let count = try countAbsent()
    guard count > 0 else { return }
    throw MappingError.wouldDeleteAll(
      entity: entity.name, count: count, mode: mode, records: checkpoint.counts.records)
  }

  private func countAbsent() throws -> Int {
    var count = 0
    var last: ManagedObjectID?
    while true {
      let ids = try page(after: last)
      guard let end = ids.last else { return count }
      count += try seen.absent(among: ids).count
      last = end
      context.reset()
    }
  }

  /// Refuses to end with objects that stay without a unique value that another record took from them.
  func checkValues(_ checkpoint: ImportCheckpoint) throws {
    guard mode == .replace else { return }
    let numbers = try seen.incomplete(isEachKept: checkpoint.unidentified > 0)
    if numbers.isEmpty { return }
    let coordinator = context.persistentStoreCoordinator
    let some = try numbers.prefix(3).map { try coordinator.managedObjectID(entity: entity.name, number: $0) }
    let examples = try descriptions(of: some)
    let others = try ValueExchanges(context: context, entity: entity, seen: seen).losers(
      ifKept: numbers, limit: ProtectedObjects.limit)
    throw IncompleteObjects(job: seen.job, entity: entity.name, numbers: numbers + others, examples: examples)
  }

  /// Deletes them.
  /// - Returns: notes for a person; nil when `shouldStop` returned true before the end.
  func delete(_ checkpoint: inout ImportCheckpoint, shouldStop: () -> Bool) throws -> [String]? {
    if checkpoint.unidentified > 0 {
      return [
        "nothing was deleted: \(checkpoint.unidentified) rejected record(s) don't say which \(entity.name) they are, the "
          + "first in line \(checkpoint.unidentifiedLine); correct the file and import all of it again"
      ]
    }
    guard let kept = try deleteAll(&checkpoint, shouldStop) else { return nil }
    if kept.count == 0 { return [] }
    guard mode != .replace else {
      throw MappingError.cannotReplace(entity: entity.name, count: kept.count, examples: kept.examples)
    }
    return [
      "\(kept.count) \(entity.name) that the file doesn't have stay, since others need them, such as "
        + kept.examples.joined(separator: ", ")
    ]
  }

  private func deleteAll(_ checkpoint: inout ImportCheckpoint, _ shouldStop: () -> Bool) throws -> Kept? {
    while true {
      var kept = Kept()
      let before = checkpoint.counts.deleted
      var last: ManagedObjectID?
      while true {
        if shouldStop() { return nil }
        let ids = try page(after: last)
        guard let end = ids.last else { break }
        last = end
        let absent = try seen.absent(among: ids)
        context.reset()
        if absent.isEmpty { continue }
        let refused = try Deletion(context: context, entity: entity, job: seen.job, lineage: lineage).delete(
          absent, &checkpoint)
        // The refused objects are still marked as deleted in the context.
        context.reset()
        try note(refused, &kept)
        context.reset()
      }
      if kept.count == 0 || checkpoint.counts.deleted == before { return kept }
    }
  }

  /// The next objects, in the order of their numbers.
  private func page(after last: ManagedObjectID?) throws -> [ManagedObjectID] {
    let rest = last.map { FetchPredicate.comparison(.path("SELF"), .greater, .constant(.object($0))) }
    return try context.fetchIDs(
      FetchRequest<ManagedObject>(
        entityName: entity.name, predicate: .and([rest, scope].compactMap { $0 }), fetchLimit: max(1, batchSize),
        includesSubentities: false, includesPendingChanges: false))
  }

  private func note(_ refused: [ManagedObjectID], _ kept: inout Kept) throws {
    kept.count += Int64(refused.count)
    let some = refused.prefix(3 - kept.examples.count)
    if !some.isEmpty { kept.examples += try descriptions(of: Array(some)) }
  }

  private func descriptions(of ids: [ManagedObjectID]) throws -> [String] {
    let objects = try context.fetch(
      FetchRequest<ManagedObject>(entityName: entity.name, predicate: .isIn("SELF", ids.map { .object($0) })))
    return objects.sorted { $0.objectID.number < $1.objectID.number }.map(\.keyDescription)
  }
}
