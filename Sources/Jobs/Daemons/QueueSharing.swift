// A queue that several daemons share is polled: others submit, end and stop jobs without this process knowing. A poll is one
// statement as long as no daemon has changed anything (`QueueMembership.changes`), and otherwise some look-ups by index, however
// many jobs there are. It comes every second or so, at random, so that daemons don't all come at once.
//
// Announcements of new work make the next poll come at once. A daemon that hears them polls less and less while it has nothing to
// do, up to a third of its lease apart (`PollPace`). It polls every second again from when it runs a job, or something waits for
// one, and when its connection for announcements is lost. So announcements save polls, and are never needed.

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
    /// - Parameter isAnnounced: whether the look comes early: then new work is what matters, and the rest may wait for the next.
    func poll(isAnnounced: Bool) -> QueuePoll
    /// What was seen of other daemons may be of before a crash of the server: the next look is at everything.
    func forgetChanges()
    /// Whether what other daemons do is to be noticed within a second or so.
    var isWatchful: Bool { get }
    /// Stops everything of this process: its jobs may be others' at any moment. Called once.
    func loseLease()
  }

  private enum Call: Hashable { case renewal, watch, poll }

  private struct Calls {
    /// What cancels each.
    var pending: [Call: @Sendable () -> Void] = [:]
    var pace: PollPace
    var isEnded = false
    var isLost = false
  }

  let membership: QueueMembership
  private let ledger: JobLedger
  private let random: @Sendable () -> Double
  private let logger: Logger
  /// Renewals block there.
  private let renewing = DispatchQueue(label: "jobs.lease", qos: .userInitiated)
  private let calls: Mutex<Calls>
  private let isPollComing = Atomic<Bool>(false)

  init(
    _ membership: QueueMembership, ledger: JobLedger, random: @escaping @Sendable () -> Double, logger: Logger
  ) {
    self.membership = membership
    self.ledger = ledger
    self.random = random
    self.logger = logger
    calls = Mutex(Calls(pace: PollPace(membership.timing)))
  }

  /// Begins to renew the lease, which has been taken, and to poll.
  func begin(for subject: any Subject) {
    renewLater(subject)
    watch(subject)
    pollLater(subject, after: membership.timing.poll)
    guard membership.timing.listens else { return }
    do {
      try membership.listen { [weak self, weak subject] news in
        guard let self, let subject else { return }
        hear(news, subject)
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

  private func hear(_ news: StoreNews, _ subject: any Subject) {
    let hears = news == .announcement
    let heard = calls.withLock { calls in
      defer { calls.pace.hears = hears }
      return calls.pace.hears
    }
    if hears, !heard { logger.info("jobs: hears what other daemons announce") }
    switch news {
    // This one's own is proof enough that they arrive: a pooler between may let the connection be, and pass on nothing.
    case .connected:
      subject.forgetChanges()
      membership.announce()
    case .disconnected:
      logger.info("jobs: hears no other daemons, and looks for what they do")
      return hasten(subject)
    case .announcement: break
    }
    pollSoon(subject, isAnnounced: true)
  }

  /// What other daemons do is to be noticed soon from now on: ``Subject/isWatchful`` has become true.
  func hasten(_ subject: any Subject) {
    let wasSlow = calls.withLock { calls in
      defer { calls.pace.hasten() }
      return calls.pace.isSlow
    }
    if wasSlow { pollLater(subject, after: membership.timing.poll) }
  }

  /// - Parameters:
  ///   - pause: seconds, on average.
  ///   - latest: seconds after which it comes in the second that follows.
  private func pollLater(_ subject: any Subject, after pause: TimeInterval, latest: TimeInterval? = nil) {
    let spread = random()
    let latest = latest.map { max(0, $0) + spread } ?? .infinity
    call(.poll, after: min(pause * (0.5 + spread), latest)) { [weak self, weak subject] in
      guard let self, let subject else { return }
      pollSoon(subject, isAnnounced: false)
    }
  }

  /// Has the queue polled as soon as the ledger comes to it.
  private func pollSoon(_ subject: any Subject, isAnnounced: Bool) {
    guard !isPollComing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    ledger.queue.perform { [weak self, weak subject] _ in
      guard let self, let subject else { return }
      isPollComing.store(false, ordering: .releasing)
      let poll = subject.poll(isAnnounced: isAnnounced)
      let isWatchful = subject.isWatchful
      let pause = calls.withLock { $0.pace.next(after: poll, isWatchful: isWatchful) }
      pollLater(subject, after: pause, latest: poll.latest)
      // It may have become so before the pause was a long one, and been missed.
      if !isWatchful, subject.isWatchful { pollLater(subject, after: membership.timing.poll) }
    }
  }

  /// Calls a closure after some seconds, unless a later call of the same kind replaces it, or ``end()`` comes first.
  private func call(_ call: Call, after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void) {
    let replaced = calls.withLock { calls -> (@Sendable () -> Void)? in
      if calls.isEnded { return nil }
      // Within the lock: it may come at once, and what it asks for in its turn must not be replaced by it.
      return calls.pending.updateValue(JobClock.after(seconds, body), forKey: call)
    }
    replaced?()
  }
}
