import ManagedObjects

/// Runs an import in one transaction of its store: batches, references, checkpoint and indexes are committed together.
///
/// Readers see the whole file or nothing. A kill leaves nothing behind, so the next run starts again, with a new
/// checkpoint and a new reject file. A dry run works the same way and is never committed.
///
/// A load that finds out too late which objects have to stay as they are is repeated: see ``ProtectedObjects``.
///
/// Indexes are postponed as for any large load. Dropping and rebuilding them belongs to the transaction, so readers keep
/// them throughout. Maintaining them row by row would write the same pages to the log again and again.
struct WholeFileTransaction {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let isDryRun: Bool
  let protected: ProtectedObjects

  /// Runs `load` and commits it when it has reached the end of its source. It must begin again each time it is called.
  ///
  /// - Parameter begin: the state that the store returns to on rollback. A load that fails reports its progress once more,
  ///   with the counts of this state.
  func run(
    from begin: ImportCheckpoint, _ control: ImportControl, _ load: (ImportControl) throws -> ImportEnd
  ) throws -> ImportEnd {
    var last: ImportProgress?
    let recording = ImportControl(shouldStop: control.shouldStop) { progress in
      last = progress
      control.report(progress)
    }
    do {
      while true {
        do {
          return try pass(recording, load)
        } catch let objects as IncompleteObjects {
          try protected.protect(objects)
        }
      }
    } catch {
      if let last { control.report(last.rolledBack(to: begin)) }
      throw error
    }
  }

  private func pass(_ control: ImportControl, _ load: (ImportControl) throws -> ImportEnd) throws -> ImportEnd {
    try coordinator.inOneTransaction(of: store) {
      let end = try load(control)
      switch end {
      case .finished(let progress, _, let notes) where isDryRun:
        return (.finished(progress, .dryRun, notes: notes), .rollBack)
      case .finished: return (end, .commit)
      case .stopped: return (end, .rollBack)
      }
    }
  }
}
