// A daemon that works on a queue which others work on, too, is known there by its incarnation: a random number that each start
// makes and that is in no way derived from host, process or name, since a new process may have all of these of one that is gone.
// It holds a lease by the store's clock, which it renews several times before it ends. Another daemon that finds the lease over
// removes it and marks the incarnation as gone, and then puts its jobs back; see `JobLedger+Daemons`.
//
// The row of the incarnation is the fence of everything that the daemon writes to the queue: it doesn't change until it is marked.
// So a daemon that was stopped for longer than its lease can neither claim jobs nor end any when it goes on, and no job is ever
// owned by an incarnation that is marked and looked through. What it saves in data stores is kept out by the numbers of its claims
// (rule 11, ARCHITECTURE.md).
//
// A daemon that can't renew its lease stops its jobs before it ends, by a clock that goes on while the system sleeps. That is a
// courtesy to its successor.

package import Foundation
package import ManagedObjects
import Synchronization

/// A daemon's place among those that share a queue. Safe from any thread.
package final class QueueMembership: Sendable {
  /// How long leases are, and how often they are renewed.
  package struct Timing: Sendable {
    /// Seconds that a lease lasts.
    package let lease: TimeInterval
    /// Seconds between two renewals.
    var interval: TimeInterval { lease / 6 }
    /// Seconds before the end of its lease from which on a daemon takes it for lost.
    var margin: TimeInterval { lease / 10 }

    /// Seconds between two looks at what others do, on average.
    var poll: TimeInterval = 1
    /// Whether the daemon listens for new work, too. Tests do without.
    var listens = true

    package init(lease: TimeInterval = 30) { self.lease = lease }
  }

  /// What others are shown of a daemon.
  package struct Identity: Sendable {
    /// Where it runs: jobs with files belong to the host that has them.
    package let host: String
    /// Names the folder with the daemon's state, as no other one; nil where nothing has to tell folders from each other.
    package let folder: String?
    package let version: String

    package init(host: String, folder: String? = nil, version: String) {
      self.host = host
      self.folder = folder
      self.version = version
    }
  }

  /// The daemon can't have its host's name.
  package enum HostTaken: Error, Equatable, CustomStringConvertible {
    /// The name is that of another state folder, which has jobs, or a daemon at work.
    case byFolder(host: String, folder: String)
    /// A daemon works on the queue under the name that this host had before.
    case byFormerName(host: String)

    package var description: String {
      switch self {
      case .byFolder(let host, let folder):
        """
        host \(host) is that of another state folder, \(folder), which has a daemon at work or jobs: give each daemon a \
        `queue.host` of its own. If that folder is lost for good, write its name into folder-id in this state folder
        """
      case .byFormerName(let host):
        """
        host \(host), as this one was called before, has a daemon. If it was this one, its lease ends soon. Otherwise this state \
        folder is a copy of that one's: remove folder-id in it
        """
      }
    }
  }

  /// The queue's store isn't one that daemons could share.
  package struct NotShared: Error, CustomStringConvertible {
    package let description = "the queue's store is for one daemon: only a queue in PostgreSQL can be shared"
  }

  /// Another daemon has found the lease over.
  struct LeaseOver: Error, CustomStringConvertible {
    let description = "the lease was over, and another daemon has found that"
  }

  /// Names this start of the daemon, and no other one ever.
  package let incarnation = UUID().uuidString.lowercased()
  package let identity: Identity
  var host: String { identity.host }
  let timing: Timing
  /// Whether this daemon takes entries from a folder of several hosts, whose daemons see the same ones.
  let takesSharedEntries: Bool
  /// The time of all daemons of the queue.
  let clock: JobClock
  private let time: SharedClock
  private let elapsed = JobClock.system.elapsed
  /// The queue's store.
  private let store: any SharedStore
  /// The same, by the connections that are kept for the lease.
  private let leases: any SharedStore
  /// Where the lease is kept.
  private let context: ContextQueue
  /// The lease; nil before it is taken and once it is lost.
  private let held = Mutex<Held?>(nil)

  private struct Held {
    let lease: ManagedObjectID
    /// Until when, in seconds of `elapsed`.
    var until: TimeInterval
  }

  /// - Parameters:
  ///   - coordinator: the queue's.
  ///   - leases: a coordinator of the same store with connections of its own, so that a renewal waits for no turn of the queue;
  ///     nil for the queue's.
  ///   - takesSharedEntries: whether other daemons may make jobs of the same entries of a spool.
  /// - Throws: ``NotShared``, or the store's error.
  package init(
    in coordinator: PersistentStoreCoordinator, leases: PersistentStoreCoordinator? = nil, as identity: Identity,
    timing: Timing = Timing(), takesSharedEntries: Bool = false
  ) throws {
    store = try Self.store(of: coordinator)
    self.identity = identity
    self.timing = timing
    self.takesSharedEntries = takesSharedEntries
    let coordinator = leases ?? coordinator
    self.leases = try Self.store(of: coordinator)
    context = ContextQueue(.privateQueue, coordinator: coordinator, name: "jobs.daemons")
    time = try SharedClock(self.leases)
    clock = time.clock
    try store.countCommits()
    try self.leases.countCommits()
  }

  private static func store(of coordinator: PersistentStoreCoordinator) throws -> any SharedStore {
    guard let entity = coordinator.model.entitiesByName[QueueModel.daemon],
      let store = try coordinator.store(of: entity).content as? any SharedStore
    else { throw NotShared() }
    return store
  }

  // MARK: What daemons share beside rows

  /// Keeps other daemons from doing what is named until the end of the thread's transaction.
  /// - Returns: whether none of them does it.
  func lock(_ name: String, isShared: Bool = false, waits: Bool) throws -> Bool {
    try store.lock(name, isShared: isShared, waits: waits)
  }

  /// Tells other daemons that there is work.
  func announce() { store.announce() }

  /// Calls `handler` with what is heard of announcements.
  func listen(_ handler: @escaping @Sendable (StoreNews) -> Void) throws { try store.listen(handler) }

  /// A number that is another after any daemon has changed the queue. Renewals of leases don't count.
  func changes() throws -> Int64 { try store.commits() }

  // MARK: The lease

  /// Seconds until the lease counts as lost unless it is renewed before; nil if it is lost, or was never taken.
  var timeLeft: TimeInterval? {
    held.withLock { held in
      guard let left = held.map({ $0.until - timing.margin - elapsed() }), left > 0 else { return nil }
      return left
    }
  }

  /// Takes the lease. Blocks.
  func join() throws {
    let (began, time) = (elapsed(), try time.measure())
    let lease = try context.performAndWait { [incarnation, identity, timing] context in
      let daemon = try context.insert(DaemonRecord.self)
      daemon.incarnation = incarnation
      daemon.host = identity.host
      daemon.version = identity.version
      daemon.process = Int64(ProcessInfo.processInfo.processIdentifier)
      daemon.startedAt = time
      let lease = try context.insert(LeaseRecord.self)
      lease.incarnation = incarnation
      lease.until = time.addingTimeInterval(timing.lease)
      try context.save()
      context.fence = SaveFence(daemon)
      return lease.objectID
    }
    held.withLock { $0 = Held(lease: lease, until: began + timing.lease) }
  }

  /// What everything that the daemon writes to the queue is to compare.
  func fence(in context: ManagedObjectContext) throws -> SaveFence? {
    try context.fetch(
      FetchRequest<DaemonRecord>(
        entityName: QueueModel.daemon, predicate: .equal(DaemonRecord.Key.incarnation.name, .string(incarnation)),
        fetchLimit: 1)
    ).first.map { SaveFence($0) }
  }

  /// Renews the lease, by one statement. It needs no fence, for a lease that is found over is removed with the mark. Blocks.
  /// - Throws: ``LeaseOver`` when another has found the lease over: then it is lost for good. Or the store's error.
  func renew() throws {
    // One after the other with `leave`.
    try context.performAndWait { [timing] context in
      guard let lease = held.withLock({ $0?.lease }), let until = LeaseRecord.until(in: context) else { return }
      // Read before anything else, so that the lease which this process counts on ends before the one that others see.
      let began = elapsed()
      guard let now = try leases.setTime(until, of: lease, ahead: timing.lease) else {
        held.withLock { $0 = nil }
        throw LeaseOver()
      }
      time.note(now, before: began)
      held.withLock { $0?.until = began + timing.lease }
    }
  }

  /// Gives the lease up: what is still this daemon's is put back by the next who looks. Blocks.
  func leave() throws {
    held.withLock { $0 = nil }
    try context.performAndWait { [incarnation] context in
      context.reset()
      let own = FetchPredicate.equal(LeaseRecord.Key.incarnation.name, .string(incarnation))
      let request = FetchRequest<LeaseRecord>(entityName: QueueModel.lease, predicate: own, fetchLimit: 1)
      guard let lease = try context.fetch(request).first else { return }
      lease.until = Date(timeIntervalSince1970: 0)
      try context.save()
    }
    announce()
  }
}

extension LeaseRecord {
  /// The attribute that says how long a lease is.
  fileprivate static func until(in context: ManagedObjectContext) -> AttributeDescription? {
    context.persistentStoreCoordinator.model.entitiesByName[QueueModel.lease]?.attributesByName[Key.until.name]
  }
}
