import ManagedObjects
import Synchronization

/// The store that an operation looks after.
struct MaintainedStore {
  let name: String
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  let maintenance: any StoreMaintenance
}

extension JobOperation {
  /// What looks after the store that the job names.
  final func maintainedStore() throws -> MaintainedStore {
    let (name, coordinator) = try namedStore()
    guard let store = coordinator.persistentStores.first else {
      throw JobFailure(code: "no_such_store", message: "the store \(name) isn't open", isRetryable: true)
    }
    return MaintainedStore(
      name: name, coordinator: coordinator, store: store, maintenance: try coordinator.maintenance(of: store))
  }

  /// What the configuration says about looking after a store.
  final func upkeep(of name: String) throws -> StoreUpkeep {
    guard let upkeep = environment.upkeep[name] else {
      throw JobFailure(
        code: "not_configured", message: "nothing says where backups of \(name) are kept", isRetryable: false)
    }
    return upkeep
  }

  /// Runs maintenance that stops when the job is to stop, and reports its progress as the job's.
  /// - Parameter body: returns how the job ended; ``MaintenanceStopped`` ends it as it was asked to.
  final func watched(_ body: (MaintenanceWatch) throws -> JobOutcome) throws -> JobOutcome {
    let latest = Mutex(JobProgress())
    let watch = MaintenanceWatch(
      shouldStop: { self.isCancelled || self.isDraining },
      report: { progress in
        let now = JobProgress(progress)
        let before = latest.withLock { latest in
          defer { latest = now }
          return latest
        }
        if now != before { self.report(now) }
      })
    do {
      return try body(watch)
    } catch is MaintenanceStopped {
      let progress = latest.withLock { $0 }
      return isCancelled ? .cancelled(progress) : .interrupted(progress)
    }
  }
}

extension JobProgress {
  init(_ progress: MaintenanceProgress) {
    self.init(
      bytesDone: progress.bytesDone, bytesTotal: progress.bytesTotal, records: progress.items,
      phase: progress.phase)
  }
}
