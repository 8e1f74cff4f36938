// The object graph's half of a check: what the model says of objects, and the file doesn't know. It reads one state of the
// store, a batch at a time, so that what an import changes meanwhile isn't taken for a mistake. What it mends it mends in the
// store as it is then, through objects, batch by batch, and only where there is one thing that can be meant:
//   - a to-one relationship that may be empty and leads to an object that isn't there is emptied;
//   - of two objects that are each other's only one, where one doesn't know of it, that one is told; where it is another's
//     already, and that other's alone, the one that claims it is emptied;
//   - a pair of a many-to-many relationship of which one object isn't there is removed.
// Values are never made up, and no object is deleted.

package import ManagedObjects

/// Looks for what is wrong with the objects of a store, and mends what is safe to mend.
package struct ObjectGraphCheck {
  /// What it needs to be told and asked while it goes on.
  package struct Watch {
    /// Whether it is to stop at the next batch.
    package var shouldStop: () -> Bool
    /// Told how many objects were looked at, of how many.
    package var report: (_ done: Int64, _ total: Int64) -> Void
    /// Told each problem, with the object's ID and what to do; what it throws ends the check.
    package var found: (StoreProblem) throws -> Void

    package init(
      shouldStop: @escaping () -> Bool, report: @escaping (_ done: Int64, _ total: Int64) -> Void,
      found: @escaping (StoreProblem) throws -> Void
    ) {
      self.shouldStop = shouldStop
      self.report = report
      self.found = found
    }
  }

  private let coordinator: PersistentStoreCoordinator
  private let repairs: Bool
  private let tellsReferences: Bool
  private let batchSize: Int
  private let author: String

  /// - Parameters:
  ///   - repairs: whether it mends what is safe.
  ///   - tellsReferences: whether it tells of references to objects that aren't there even if it doesn't mend them: not
  ///     needed where the store's own check does.
  ///   - author: who makes the changes, for whoever is told of them.
  package init(
    _ coordinator: PersistentStoreCoordinator, repairs: Bool, tellsReferences: Bool = true, batchSize: Int = 500,
    author: String
  ) {
    self.coordinator = coordinator
    self.repairs = repairs
    self.tellsReferences = tellsReferences
    self.batchSize = batchSize
    self.author = author
  }

  /// Checks everything. On the calling thread, in contexts of its own.
  /// - Returns: false when it was stopped before the end.
  package func run(_ watch: Watch) throws -> Bool {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "check")
    try context.setQueryGenerationFrom(.current)
    let entities = DataEntities.of(coordinator.model)
    let roots = entities.filter { $0.superentity == nil }
    let total = try roots.reduce(into: Int64(0)) { sum, root in
      sum += Int64(try context.count(for: FetchRequest<ManagedObject>(entityName: root.name)))
    }
    var done: Int64 = 0
    watch.report(done, total)
    for root in roots {
      var last: ManagedObjectID?
      while true {
        if watch.shouldStop() { return false }
        let rows = try context.rows(for: request(root, after: last))
        guard let end = rows.last else { break }
        last = end.id
        var batch = ObjectGraphBatch(rows, in: context)
        try batch.check()
        try settle(batch, watch)
        done += Int64(rows.count)
        watch.report(done, max(total, done))
      }
    }
    for entity in entities {
      if watch.shouldStop() { return false }
      for problem in try UniquenessCheck(entity, in: context).problems() { try watch.found(problem) }
    }
    try checkPairs(watch)
    return true
  }

  private func request(_ entity: EntityDescription, after last: ManagedObjectID?) -> FetchRequest<ManagedObject> {
    FetchRequest(
      entityName: entity.name,
      predicate: last.map { .comparison(.path("SELF"), .greater, .constant(.object($0))) }, fetchLimit: batchSize,
      includesPendingChanges: false)
  }

  /// Mends what can be mended of a batch, and tells of everything.
  private func settle(_ batch: ObjectGraphBatch, _ watch: Watch) throws {
    for problem in batch.problems { try watch.found(problem) }
    let repair = ObjectGraphRepair(coordinator, author: author)
    let mended = repairs ? try repair.mend(batch.findings.compactMap(\.fix)) : []
    for finding in batch.findings {
      var problem = finding.problem
      if let fix = finding.fix, mended.contains(fix) {
        problem.message += ": " + fix.deed
        problem.isRepaired = true
      } else {
        if problem.kind == .reference, !repairs, !tellsReferences { continue }
        problem.message += ": " + finding.advice(canRepair: !repairs)
      }
      try watch.found(problem)
    }
  }

  private func checkPairs(_ watch: Watch) throws {
    for store in coordinator.persistentStores {
      guard let pairs = store.content as? any PairMaintenance, repairs || tellsReferences else { continue }
      for (relationship, count) in repairs ? try pairs.removeDanglingPairs() : try pairs.danglingPairs() {
        try watch.found(
          StoreProblem(
            .reference, entity: relationship.entity.name, property: relationship.name,
            message: "\(count) pair\(count == 1 ? "" : "s") of which one object isn't there: "
              + (repairs ? "removed" : "repair: true removes them"), isRepaired: repairs ? true : nil))
      }
    }
  }
}
