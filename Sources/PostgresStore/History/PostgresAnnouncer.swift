// NOTIFY takes a lock of the whole cluster until the transaction's end, so no save does it. A thread announces commits in
// statements of its own, at most once in a while.

import Foundation
import PostgreSQL
import Synchronization

/// Tells other processes that something was committed. Safe from any thread.
final class PostgresAnnouncer: Sendable {
  /// The least time between two announcements.
  private static let interval = 0.05

  private let pool: PostgresPool
  private let channel: String
  private let queue = DispatchQueue(label: "postgres-notify", qos: .utility)
  private let isPending = Atomic(false)

  init(_ pool: PostgresPool, channel: String) {
    self.pool = pool
    self.channel = channel
  }

  /// Announces a commit soon.
  func announce() {
    guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { [self] in
      isPending.store(false, ordering: .releasing)
      // Who listens looks by itself from time to time, too.
      _ = Result {
        try pool.once { try $0.query("SELECT pg_notify($1, '')", [.text(channel)]) }
      }
      Thread.sleep(forTimeInterval: Self.interval)
    }
  }

  /// Waits for what was announced.
  func finish() { queue.sync {} }
}
