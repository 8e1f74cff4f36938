/// Which save was the last to change the members of an object's one-to-many sets.
///
/// Rows are compared by value, but an object's row doesn't say who is in its sets. So the coordinator numbers the changes of sets
/// as Core Data numbers the versions of rows: a context whose object is older than the last change of its sets can't change them
/// unseen. The numbers are those of the coordinator's saves, and live as long as it does.
struct SetVersions {
  private var recent: [ManagedObjectID: Int64] = [:]
  private var older: [ManagedObjectID: Int64] = [:]

  /// As many owners are remembered, those that changed last, and at most twice as many.
  private static let capacity = 50_000

  /// Whether a save after that one changed the members of an object's sets.
  func hasChanged(_ owner: ManagedObjectID, after save: Int64) -> Bool {
    guard let last = recent[owner] ?? older[owner] else { return false }
    return last > save
  }

  /// Notes a save that changed the members of an object's sets.
  mutating func note(_ owner: ManagedObjectID, in save: Int64) {
    if recent.count >= Self.capacity {
      older = recent
      recent = [:]
    }
    recent[owner] = save
  }

  /// Forgets saves that were rolled back: those after a number.
  mutating func forget(after save: Int64) {
    recent = recent.filter { $0.value <= save }
    older = older.filter { $0.value <= save }
  }

  /// Counts the saves of a transaction as its last one.
  mutating func endTransaction(with save: Int64) {
    recent = recent.mapValues { min($0, save) }
  }
}
