/// Inserts the rows of a request, some thousand at a time, within one transaction of a store.
struct BatchInsertion {
  let policy: MergePolicy.MergeType
  let wantsIDs: Bool
  let contextName: String?
  let transactionAuthor: String?

  private static var chunk: Int { 2000 }
  /// The greatest number of rounds that settle the conflicts of a chunk. Each may meet the next constraint of its rows.
  private static var attempts: Int { 8 }

  func run(_ rows: BatchRows, in transaction: any StoreTransaction) throws -> StoreBatchResult {
    var result = StoreBatchResult()
    while true {
      var plan = BatchInsertPlan()
      while plan.count < Self.chunk, let row = try rows.next() { plan.append(row) }
      if plan.count == 0 { return result }
      let (ids, gone) = try write(&plan, in: transaction)
      result.count += ids.count
      if !gone.isEmpty { result.ids.removeAll { gone.contains($0) } }
      if wantsIDs { result.ids += ids }
    }
  }

  /// Returns the IDs of the rows that were inserted or changed, and of those that were deleted for them.
  private func write(
    _ plan: inout BatchInsertPlan, in transaction: any StoreTransaction
  ) throws -> (ids: [ManagedObjectID], gone: Set<ManagedObjectID>) {
    var attempt = 1
    var gone: Set<ManagedObjectID> = []
    while true {
      var changes = StoreChanges(contextName: contextName, transactionAuthor: transactionAuthor)
      plan.fill(&changes)
      do {
        let ids = changes.isEmpty ? [] : try transaction.write(changes).ids
        return (ids + changes.updated.map(\.id), gone)
      } catch ManagedObjectError.constraintConflicts(let conflicts) where policy != .error && attempt < Self.attempts {
        let superseded = try plan.settle(conflicts, by: policy)
        if !superseded.isEmpty { gone.formUnion(try remove(superseded, &plan, in: transaction)) }
        attempt += 1
      }
    }
  }

  /// Deletes rows for others, by their delete rules. Returns the IDs of all deleted rows.
  private func remove(
    _ ids: [ManagedObjectID], _ plan: inout BatchInsertPlan, in transaction: any StoreTransaction
  ) throws -> [ManagedObjectID] {
    let deletion = BatchDeletion(contextName: contextName, transactionAuthor: transactionAuthor)
    let gone = try deletion.run(ids, in: transaction).ids
    // Delete rules may have changed or deleted the rows that others are merged into.
    plan.rebase(on: try transaction.rows(with: plan.targets))
    return gone
  }
}
