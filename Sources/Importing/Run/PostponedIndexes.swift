import ManagedObjects

/// The indexes that one large load drops and rebuilds at its end.
final class PostponedIndexes {
  private let entity: EntityDescription
  private let store: (any BulkLoading)?
  private let largeLoad: Int64
  /// Whether a load that fails is rolled back, and its indexes with it.
  private let isWhole: Bool
  /// Whether it is rolled back in any case.
  private let isDryRun: Bool
  private var isDecided = false
  private var isPostponed = false

  init(of entity: EntityDescription, in store: PersistentStore, largeLoad: Int64, _ options: ImportOptions) {
    self.entity = entity
    self.store = store.content as? any BulkLoading
    self.largeLoad = largeLoad
    isWhole = options.isWhole
    isDryRun = options.isDryRun
  }

  /// Keeps the indexes, because the load itself needs them. Does nothing once they have been dropped.
  func keep() { isDecided = true }

  /// Decides after the first batch, by an estimate of how many records are still to come.
  func decide(records: Int64, in bytes: Int64, of total: Int64) throws {
    guard !isDecided, bytes > 0 else { return }
    isDecided = true
    let rest = Double(records) / Double(bytes) * Double(total - bytes)
    guard rest >= Double(largeLoad) else { return }
    // A sparse file may claim more bytes than there could be records.
    isPostponed = try store?.postponeIndexes(of: entity, expecting: Int64(min(rest, 1e15))) ?? false
  }

  /// Runs the load, and rebuilds the indexes also when it fails or is stopped.
  func rebuilt<T>(_ load: () throws -> T) throws -> T {
    do {
      let result = try load()
      if isPostponed { try conclude() }
      return result
    } catch let failure {
      if isPostponed {
        do {
          try conclude()
        } catch {
          // Report the failure of the load. The entity's next load rebuilds the indexes, or the next opening of the store.
          throw failure
        }
      }
      throw failure
    }
  }

  /// Rebuilds them, and those that an earlier load couldn't rebuild. Must come before the checkpoint says that the load is
  /// finished: otherwise a missing index would never be rebuilt.
  func rebuild() throws {
    endPostponement()
    if !isDryRun { try store?.makeIndexes(of: entity) }
  }

  /// Cleans up after a load that didn't reach its end.
  private func conclude() throws { if isWhole { endPostponement() } else { try rebuild() } }

  private func endPostponement() {
    if isPostponed { store?.endPostponement(of: entity) }
    isPostponed = false
  }
}
