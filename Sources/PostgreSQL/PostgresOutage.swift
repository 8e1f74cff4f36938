package import Foundation
import Synchronization

/// Tells of each time that a server can't be reached, once for all pools of a store. Safe from any thread.
package final class PostgresOutage: Sendable {
  /// How many seconds connections are lost, and made again, without a word.
  private static let longestSilence: TimeInterval = 0.5

  private let isOn = Atomic<Bool>(false)
  private let report: @Sendable (PostgresError) -> Void

  /// - Parameter report: is called with the first error of each, on the thread that waits.
  package init(_ report: @escaping @Sendable (PostgresError) -> Void) { self.report = report }

  /// Notes that work has failed, and is tried again.
  /// - Parameter begin: when it was first tried.
  package func note(_ error: PostgresError, since begin: Date) {
    guard error.isLoss, -begin.timeIntervalSinceNow >= Self.longestSilence else { return }
    if isOn.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged { report(error) }
  }

  /// Notes that the server has accepted a connection.
  func end() {
    if isOn.load(ordering: .relaxed) { isOn.store(false, ordering: .relaxed) }
  }
}
