import Foundation
import Logging
import ManagedObjects
import Synchronization

/// Says in the log that a store is migrated, and when it is. One opening of a store has one.
final class MigrationLog: Sendable {
  private let store: String
  private let logger: Logger
  private let begun = Mutex<ContinuousClock.Instant?>(nil)

  init(store: String, _ logger: Logger) {
    self.store = store
    self.logger = logger
  }

  func begin(_ differences: [VersionDifference]) {
    begun.withLock { $0 = .now }
    let what = differences.map { "\($0)" }.joined(separator: "; ")
    logger.notice("store \(store): its model has changed, and it is migrated: \(what)", metadata: ["store": "\(store)"])
  }

  func warn(_ message: String) { logger.warning("store \(store): \(message)", metadata: ["store": "\(store)"]) }

  /// The store is open.
  func end() {
    guard let begun = begun.withLock({ $0 }) else { return }
    let time = begun.duration(to: .now).formatted(.units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow))
    logger.notice(
      "store \(store): migrated in \(time)", metadata: JournalMessage.storeMigrated.metadata(["store": "\(store)"]))
  }
}
