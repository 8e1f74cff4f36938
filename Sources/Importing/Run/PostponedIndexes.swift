import ManagedObjects

/// The indexes that one large load goes on without, and makes at its end.
final class PostponedIndexes {
  private let entity: EntityDescription
  private let store: PersistentStore
  private let largeLoad: Int64
  /// Whether a load that doesn't come to its end is taken back, and its indexes with it.
  private let isWhole: Bool
  /// Whether it is taken back in any case.
  private let isDryRun: Bool
  private var hasLooked = false
  private var isPostponed = false

  init(of entity: EntityDescription, in store: PersistentStore, largeLoad: Int64, _ options: ImportOptions) {
    self.entity = entity
    self.store = store
    self.largeLoad = largeLoad
    isWhole = options.isWhole
    isDryRun = options.isDryRun
  }

  /// Has them stay, since the load itself needs them; unless it goes on without them already.
  func keep() { hasLooked = true }

  /// Decides, once the first records are in, by how many there will be in all.
  func look(records: Int64, in bytes: Int64, of total: Int64) throws {
    guard !hasLooked, bytes > 0 else { return }
    hasLooked = true
    let rest = Double(records) / Double(bytes) * Double(total - bytes)
    guard rest >= Double(largeLoad) else { return }
    // A sparse file may say that it has more bytes than there could be records.
    isPostponed = try store.content.postponeIndexes(of: entity, expecting: Int64(min(rest, 1e15)))
  }

  /// Runs the load, and makes them also when it fails or is stopped.
  func made<T>(_ load: () throws -> T) throws -> T {
    do {
      let result = try load()
      if isPostponed { try conclude() }
      return result
    } catch let failure {
      if isPostponed {
        do {
          try conclude()
        } catch {
          // What ended the load is what is to be told; the next load of the entity makes the indexes, or whoever opens the
          // store next.
          throw failure
        }
      }
      throw failure
    }
  }

  /// Makes them, and those that an earlier load couldn't make. Before the load is noted as finished, lest one be missing
  /// and nobody try again.
  func make() throws {
    end()
    if !isDryRun { try store.content.makeIndexes(of: entity) }
  }

  /// Sees to them when the load hasn't come to its end.
  private func conclude() throws { if isWhole { end() } else { try make() } }

  private func end() {
    if isPostponed { store.content.endPostponement(of: entity) }
    isPostponed = false
  }
}
