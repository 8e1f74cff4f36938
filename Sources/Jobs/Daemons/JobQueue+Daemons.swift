// A queue that several daemons share is polled: others submit, end and stop jobs without this process knowing. A poll costs a few
// look-ups by index, however many jobs there are, and comes every second or so, at random, so that daemons don't all come at once.

import Foundation
import Logging

/// A daemon that works on a shared queue.
package struct QueueDaemon: Sendable, Hashable {
  package var incarnation: String
  package var host: String
  package var startedAt: Date
  /// By the store's clock; nil for one whose lease was found over and whose jobs are being put back.
  package var leaseUntil: Date?
}

/// The calls of the clock that a shared queue asks for.
enum SharingCall: Hashable { case renewal, poll }

extension JobQueue {
  /// The seconds between polls, on average.
  private static let pollInterval: TimeInterval = 1

  /// The daemons that work on the queue; empty for one that isn't shared.
  package func daemons() async throws -> [QueueDaemon] { try await ledger.daemons() }

  /// Begins to renew the lease and to poll. On the ledger's queue, once the lease is taken.
  func beginSharing() {
    guard let membership else { return }
    renewLater(membership)
    pollLater()
  }

  private func renewLater(_ membership: QueueMembership) {
    let time = clock.now().addingTimeInterval(membership.timing.interval)
    keep(
      clock.schedule(time) { [weak self] in
        guard let self else { return }
        do {
          try membership.renew()
        } catch {
          logger.warning("jobs: the lease couldn't be renewed", metadata: ["error": "\(error)"])
        }
        if membership.isHeld { renewLater(membership) } else { loseLease(membership) }
      }, as: .renewal)
  }

  /// Stops everything of this process: its jobs may be others' at any moment.
  private func loseLease(_ membership: QueueMembership) {
    logger.error(
      "jobs: the lease is lost, and all jobs of this daemon are stopped",
      metadata: ["incarnation": "\(membership.incarnation)"])
    state.beginDrain()
    for operation in state.operations { operation.drain() }
    delegate?.jobQueueDidLoseLease(self)
  }

  private func pollLater() {
    let time = clock.now().addingTimeInterval(Self.pollInterval * (0.5 + random()))
    keep(
      clock.schedule(time) { [weak self] in
        guard let self, state.isOpen else { return }
        ledger.queue.perform { _ in
          self.poll()
          self.pollLater()
        }
      }, as: .poll)
  }

  /// Looks at what other daemons have done. On the ledger's queue.
  func poll() {
    guard let membership, state.isOpen else { return }
    ledger.forgetObjects()
    do {
      let (lost, stopped) = try ledger.changes(of: state.running.filter { state.isClaimed($0.id) })
      for id in lost { state.operation(of: id)?.drain() }
      for id in stopped { state.operation(of: id)?.cancel() }
      try loadSettings()
      let rescued = try ledger.rescueGone(at: membership.time(), endBefore)
      if rescued > 0 {
        logger.notice("jobs: put back what daemons that are gone left running", metadata: ["jobs": "\(rescued)"])
      }
      for lane in lanesNow { state.noteWork(in: lane) }
      try openWaiters()
    } catch {
      report(error, "what other daemons have done couldn't be read")
    }
    wakeUp()
  }

  /// Lets those go on who wait for a job that another daemon has ended.
  private func openWaiters() throws {
    let ids = state.awaited
    guard !ids.isEmpty else { return }
    for id in try ledger.ended(among: ids) where !state.isSettling(id) {
      for waiter in state.takeWaiters(for: id) { waiter.open() }
    }
  }
}
