// The object graph's half of a check: rules of the model that the file doesn't know. It reads one state of the store, a batch
// at a time, so that a concurrent import isn't taken for a mistake. It repairs the current state of the store, through objects,
// batch by batch, and only where the right value is unambiguous:
//   - An optional to-one relationship to a missing object is set to null.
//   - In a one-to-one pair of which only one side points to the other, the other side is set. If that side already points to a
//     third object, which points back to it, the first side is set to null.
//   - A pair of a many-to-many relationship with a missing object is removed.
// No value is invented, and no object is deleted.

package import ManagedObjects

/// Checks the objects of a store, and repairs them where that is safe.
package struct ObjectGraphCheck {
  /// Its connection to the caller while it runs.
  package struct Watch {
    /// Whether it is to stop at the next batch.
    package var shouldStop: () -> Bool
    /// Called with the number of objects that were checked, and of all.
    package var report: (_ done: Int64, _ total: Int64) -> Void
    /// Called with each problem, which names the object's ID and what to do; an error that it throws ends the check.
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
  private let reportsReferences: Bool
  private let batchSize: Int
  private let author: String
  private let fence: SaveFence?

  /// - Parameters:
  ///   - repairs: whether it repairs what is safe to repair.
  ///   - reportsReferences: whether it reports references to missing objects that it doesn't repair. The store's own check
  ///     may do that already.
  ///   - author: the transaction author of the repairs.
  ///   - fence: what their saves compare.
  package init(
    _ coordinator: PersistentStoreCoordinator, repairs: Bool, reportsReferences: Bool = true, batchSize: Int = 500,
    author: String, fence: SaveFence? = nil
  ) {
    self.coordinator = coordinator
    self.repairs = repairs
    self.reportsReferences = reportsReferences
    self.batchSize = batchSize
    self.author = author
    self.fence = fence
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

  /// Repairs what can be repaired of a batch, and reports all problems.
  private func settle(_ batch: ObjectGraphBatch, _ watch: Watch) throws {
    for problem in batch.problems { try watch.found(problem) }
    let repair = ObjectGraphRepair(coordinator, author: author, fence)
    let repaired = repairs ? try repair.repair(batch.findings.compactMap(\.fix)) : []
    for finding in batch.findings {
      var problem = finding.problem
      if let fix = finding.fix, repaired.contains(fix) {
        problem.message += ": " + fix.deed
        problem.isRepaired = true
      } else {
        if problem.kind == .reference, !repairs, !reportsReferences { continue }
        problem.message += ": " + finding.advice(canRepair: !repairs)
      }
      try watch.found(problem)
    }
  }

  private func checkPairs(_ watch: Watch) throws {
    for store in coordinator.persistentStores {
      guard let pairs = store.content as? any PairMaintenance, repairs || reportsReferences else { continue }
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
