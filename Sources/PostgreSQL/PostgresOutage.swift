import Synchronization

/// Tells of each time that a server can't be reached, once for all pools of a store. Safe from any thread.
package final class PostgresOutage: Sendable {
  private let isOn = Atomic<Bool>(false)
  private let report: @Sendable (PostgresError) -> Void

  /// - Parameter report: is called with the first error of each, on the thread that waits.
  package init(_ report: @escaping @Sendable (PostgresError) -> Void) { self.report = report }

  /// Notes that the server couldn't be reached for a while.
  func begin(_ error: PostgresError) {
    if isOn.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged { report(error) }
  }

  /// Notes that it answers.
  func end() {
    if isOn.load(ordering: .relaxed) { isOn.store(false, ordering: .relaxed) }
  }
}
