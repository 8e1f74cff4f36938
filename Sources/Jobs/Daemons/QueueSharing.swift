// A queue that several daemons share is polled: others submit, end and stop jobs without this process knowing. A poll costs a few
// look-ups by index, however many jobs there are, and comes every second or so, at random, so that daemons don't all come at once.
// Announcements of new work only make the next one come earlier.

import Dispatch
import Foundation
import Logging
import ManagedObjects
import Synchronization

/// Renews the lease of a daemon, and has its queue look at what the others do. Safe from any thread.
final class QueueSharing: Sendable {
  /// The queue that is shared.
  protocol Subject: AnyObject, Sendable {
    /// Looks at what other daemons have done, on the ledger's queue.
    func poll()
    /// Stops everything of this process: its jobs may be others' at any moment. Called once.
    func loseLease()
  }

  private enum Call: Hashable { case renewal, watch, poll }

  private struct Calls {
    /// What cancels each.
    var pending: [Call: @Sendable () -> Void] = [:]
    var isEnded = false
    var isLost = false
  }

  let membership: QueueMembership
  private let ledger: JobLedger
  private let random: @Sendable () -> Double
  private let logger: Logger
  /// Renewals block there.
  private let renewing = DispatchQueue(label: "jobs.lease", qos: .userInitiated)
  private let calls = Mutex(Calls())
  private let isPollComing = Atomic<Bool>(false)

  init(
    _ membership: QueueMembership, ledger: JobLedger, random: @escaping @Sendable () -> Double, logger: Logger
  ) {
    self.membership = membership
    self.ledger = ledger
    self.random = random
    self.logger = logger
  }

  /// Begins to renew the lease, which has been taken, and to poll.
  func begin(for subject: any Subject) {
    renewLater(subject)
    watch(subject)
    pollLater(subject)
    guard membership.timing.listens else { return }
    do {
      try membership.listen { [weak self, weak subject] in
        guard let self, let subject else { return }
        pollSoon(subject)
      } heard: { [logger] isHeard in
        logger.info(
          isHeard
            ? "jobs: hears what other daemons announce" : "jobs: hears no other daemons, and looks for what they do")
      }
    } catch {
      logger.warning(
        "jobs: what other daemons announce isn't heard, and is found late", metadata: ["error": "\(error)"])
    }
  }

  /// Neither renews nor polls any more.
  func end() {
    let pending = calls.withLock { calls in
      defer { calls.pending = [:] }
      calls.isEnded = true
      return Array(calls.pending.values)
    }
    for cancel in pending { cancel() }
  }

  // MARK: The lease

  private func renewLater(_ subject: any Subject) {
    call(.renewal, after: membership.timing.interval) { [weak self, weak subject] in
      guard let self else { return }
      renewing.async { [weak self, weak subject] in
        guard let self, let subject else { return }
        do {
          try membership.renew()
        } catch {
          logger.warning("jobs: the lease couldn't be renewed", metadata: ["error": "\(error)"])
        }
        if membership.timeLeft == nil { loseLease(subject) } else { renewLater(subject) }
      }
    }
  }

  /// Looks when the lease would be lost, also while a renewal waits for a server that doesn't answer.
  private func watch(_ subject: any Subject) {
    guard let left = membership.timeLeft else { return loseLease(subject) }
    call(.watch, after: left) { [weak self, weak subject] in
      guard let self, let subject else { return }
      watch(subject)
    }
  }

  private func loseLease(_ subject: any Subject) {
    let isNew = calls.withLock { calls in
      defer { calls.isLost = true }
      return !calls.isLost && !calls.isEnded
    }
    if isNew { subject.loseLease() }
  }

  // MARK: Polls

  private func pollLater(_ subject: any Subject) {
    call(.poll, after: membership.timing.poll * (0.5 + random())) { [weak self, weak subject] in
      guard let self, let subject else { return }
      pollSoon(subject)
      pollLater(subject)
    }
  }

  /// Has the queue polled as soon as the ledger comes to it.
  private func pollSoon(_ subject: any Subject) {
    guard !isPollComing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    ledger.queue.perform { [weak self, weak subject] _ in
      self?.isPollComing.store(false, ordering: .releasing)
      subject?.poll()
    }
  }

  /// Calls a closure after so many seconds, unless ``end()`` comes first.
  private func call(_ call: Call, after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) {
    let cancel = JobClock.after(seconds, body)
    let isEnded = calls.withLock { calls in
      calls.pending[call] = cancel
      return calls.isEnded
    }
    if isEnded { cancel() }
  }
}
