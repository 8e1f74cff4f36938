import ManagedObjects

/// Repairs relationships in the current state of the store. Values that have changed since the check are left alone.
struct ObjectGraphRepair {
  private let coordinator: PersistentStoreCoordinator
  private let author: String
  private let fence: SaveFence?

  init(_ coordinator: PersistentStoreCoordinator, author: String, _ fence: SaveFence?) {
    self.coordinator = coordinator
    self.author = author
    self.fence = fence
  }

  /// Makes all repairs in one save or, if that isn't possible, each in its own.
  /// - Returns: those that were made.
  func repair(_ fixes: [GraphFix]) throws -> Set<GraphFix> {
    guard !fixes.isEmpty else { return [] }
    if let repaired = try save(fixes) { return repaired }
    guard fixes.count > 1 else { return [] }
    return try fixes.reduce(into: []) { repaired, fix in repaired.formUnion(try save([fix]) ?? []) }
  }

  /// nil when the save is refused, because of another object or a concurrent change.
  private func save(_ fixes: [GraphFix]) throws -> Set<GraphFix>? {
    let context = ManagedObjectContext(
      .confinement, coordinator: coordinator, name: "check", transactionAuthor: author)
    context.fence = fence
    var repaired: Set<GraphFix> = []
    let ids = Array(Set(fixes.map(\.object)))
    let rows = Dictionary(try context.existingRows(of: ids).map { ($0.id, $0) }) { first, _ in first }
    for fix in fixes {
      guard let slot = fix.object.entity.propertiesByName[fix.relationship]?.slot,
        rows[fix.object]?.values[slot] == fix.former
      else { continue }
      // The slot alone: the other end is as it should be, or isn't there.
      try context.existingObject(with: fix.object).setValue(fix.value, at: slot)
      repaired.insert(fix)
    }
    do {
      try context.save()
      return repaired
    } catch let error as ManagedObjectError {
      switch error {
      case .validation, .mergeConflicts, .brokenReferences, .constraintConflicts: return nil
      default: throw error
      }
    }
  }
}
