// A daemon that works on a queue which others work on, too, is known there by its incarnation: a random number that each start makes
// anew and that is in no way derived from host, process or name, since a new process may have all of these of one that is gone.
// It holds a lease by the store's clock, which it renews several times before it ends. Who finds a lease over removes it, marks
// the incarnation as gone and puts its jobs back, in one transaction; see `JobLedger+Daemons`.
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
    package var lease: TimeInterval = 30
    package var interval: TimeInterval = 5
    /// How long before the end of its lease a daemon takes it for lost.
    package var margin: TimeInterval = 2

    package init() {}
  }

  /// The queue's store has no clock that daemons could share.
  package struct NoClock: Error, CustomStringConvertible {
    package let description = "the queue's store has no clock of its own: only a queue in PostgreSQL can be shared"
  }

  /// Names this start of the daemon, and no other one ever.
  package let incarnation = UUID().uuidString.lowercased()
  /// Where it runs: jobs with files belong to the host that has them.
  package let host: String
  let timing: Timing
  private let clock: JobClock
  private let context: ContextQueue
  private let store: any TimeKeeping
  /// Until when the lease is held, in seconds of `clock.elapsed`; nil before it is taken and once it is lost.
  private let heldUntil = Mutex<TimeInterval?>(nil)

  /// - Throws: ``NoClock``, or the store's error.
  package init(
    in coordinator: PersistentStoreCoordinator, host: String, timing: Timing = Timing(), clock: JobClock = .system
  ) throws {
    guard let entity = coordinator.model.entitiesByName[QueueModel.daemon],
      let store = try coordinator.store(of: entity).content as? any TimeKeeping
    else { throw NoClock() }
    self.store = store
    self.host = host
    self.timing = timing
    self.clock = clock
    context = ContextQueue(.privateQueue, coordinator: coordinator, name: "jobs.daemons")
  }

  /// The time by the clock that all daemons of the queue share. Blocks.
  func time() throws -> Date { try store.time() }

  /// Whether the lease is held, and will be for the margin.
  package var isHeld: Bool {
    heldUntil.withLock { until in until.map { clock.elapsed() < $0 - timing.margin } ?? false }
  }

  /// Takes the lease. Blocks.
  /// - Returns: what everything that the daemon writes to the queue is to compare.
  func join() throws -> SaveFence {
    let (began, time) = (clock.elapsed(), try store.time())
    let fence = try context.performAndWait { [incarnation, host, timing] context in
      let daemon = try context.insert(DaemonRecord.self)
      daemon.incarnation = incarnation
      daemon.host = host
      daemon.startedAt = time
      let lease = try context.insert(LeaseRecord.self)
      lease.incarnation = incarnation
      lease.until = time.addingTimeInterval(timing.lease)
      try context.save()
      let fence = SaveFence(daemon)
      context.fence = fence
      return fence
    }
    heldUntil.withLock { $0 = began + timing.lease }
    return fence
  }

  /// Renews the lease. Blocks.
  /// - Throws: `SupersededSave` when the lease was found over: then it is lost for good. Or the store's error.
  func renew() throws {
    // Read before anything else, so that the lease which this process counts on ends before the one that others see.
    let (began, time) = (clock.elapsed(), try store.time())
    do {
      try context.performAndWait { [incarnation, timing] context in
        context.reset()
        guard let fence = context.fence else { return }
        guard let lease = try Self.lease(incarnation, in: context) else { throw SupersededSave(fence: fence.id) }
        lease.until = time.addingTimeInterval(timing.lease)
        do {
          try context.save()
        } catch ManagedObjectError.mergeConflicts {
          throw SupersededSave(fence: fence.id)
        }
      }
    } catch {
      if error is SupersededSave { heldUntil.withLock { $0 = nil } }
      throw error
    }
    heldUntil.withLock { $0 = began + timing.lease }
  }

  /// Gives the lease up: what is still this daemon's is put back by the next who looks. Blocks.
  func leave() throws {
    heldUntil.withLock { $0 = nil }
    try context.performAndWait { [incarnation] context in
      context.reset()
      guard let lease = try Self.lease(incarnation, in: context) else { return }
      lease.until = .distantPast
      try context.save()
    }
  }

  private static func lease(_ incarnation: String, in context: ManagedObjectContext) throws -> LeaseRecord? {
    try context.fetch(
      FetchRequest<LeaseRecord>(
        entityName: QueueModel.lease, predicate: .equal(LeaseRecord.Key.incarnation.name, .string(incarnation)),
        fetchLimit: 1)
    ).first
  }
}
