import GRDB
import ManagedObjects

/// The files of a store's large values, as its writing connection keeps them.
struct ExternalFiles: Sendable {
  let data: ExternalData
  let path: String
  /// Whether a commit waits for the disk.
  let isDurable: Bool
  /// Receives failures to remove files, which make no save fail.
  let failed: @Sendable (StoreFailure) -> Void

  /// nil when the store has no such values.
  init?(_ data: ExternalData?, path: String, isDurable: Bool, failed: @escaping @Sendable (StoreFailure) -> Void) {
    guard let data else { return nil }
    self.data = data
    self.path = path
    self.isDurable = isDurable
    self.failed = failed
  }

  private var log: String? { isDurable ? nil : path + "-wal" }

  /// After a transaction.
  func settle(_ db: Database) {
    do {
      try data.settle(db, synchronizing: log)
    } catch {
      report(error)
    }
  }

  /// Before the connection is closed.
  func close(_ db: Database) {
    do {
      try data.close(db, synchronizing: log)
    } catch {
      report(error)
    }
  }

  func report(_ error: any Error) {
    failed(
      StoreFailure(error, path: path, while: "files of former values stay until the next save can remove them"))
  }
}
