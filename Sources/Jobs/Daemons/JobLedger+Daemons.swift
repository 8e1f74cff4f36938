// Rescue by lease, and by nothing else: that a job has run for long says nothing about its owner. Whoever looks first marks the
// daemon and puts its jobs back in one transaction, which fails if the daemon has renewed its lease since. A row is removed when
// no job names it any more.

import Foundation
import ManagedObjects

extension JobLedger {
  /// Jobs that are put back in one transaction, at most.
  private static let rescuedTogether = 100

  /// Puts back what daemons left running whose leases are over, on the ledger's queue, where the caller is.
  /// - Parameters:
  ///   - time: by the clock of the store.
  ///   - endBefore: how a job ended that had done all of its work.
  /// - Returns: how many jobs there were; there may be more.
  func rescueGone(at time: Date, _ endBefore: (Job) -> JobOutcome?) throws -> Int {
    try retrying {
      try turn { turn in
        try turn.markGone(at: time)
        let isGone = FetchPredicate.equal(DaemonRecord.Key.isGone.name, .bool(true))
        var count = 0
        for daemon in try turn.context.fetch(
          FetchRequest<DaemonRecord>(entityName: QueueModel.daemon, predicate: isGone))
        {
          let jobs = try turn.context.fetch(
            FetchRequest<JobRecord>(
              entityName: QueueModel.job,
              predicate: .equal(JobRecord.Key.owner.name, .string(daemon.incarnation)),
              fetchLimit: Self.rescuedTogether))
          for job in jobs {
            try turn.rescue(job, reason: "the daemon on \(daemon.host) that ran it is gone", endBefore)
          }
          count += jobs.count
          if jobs.isEmpty { turn.context.delete(daemon) }
        }
        return count
      }
    }
  }

  /// Runs turns that meet those of other daemons until one of them meets none.
  func retrying<T>(_ body: () throws -> T) throws -> T {
    var attempt = 1
    while true {
      do {
        return try body()
      } catch ManagedObjectError.mergeConflicts where attempt < Self.conflicts {
        attempt += 1
      }
    }
  }

  private static var conflicts: Int { 20 }

  /// What other daemons have made of jobs that run here, on the ledger's queue, where the caller is.
  /// - Returns: the jobs that aren't this daemon's any more, and those that somebody wants to stop.
  func changes(of running: [Job]) throws -> (lost: [Int64], stopped: [Int64]) {
    var lost: [Int64] = []
    var stopped: [Int64] = []
    for job in running {
      let id = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: job.id)
      let request = FetchRequest<JobRecord>(
        entityName: QueueModel.job,
        predicate: .comparison(.evaluatedObject, .equal, .constant(.object(id))), fetchLimit: 1)
      guard let row = try context.fetch(request).first, row.claim == job.claim, row.jobState == .running else {
        lost.append(job.id)
        continue
      }
      if row.isCancelRequested { stopped.append(job.id) }
    }
    return (lost, stopped)
  }

  /// The daemons that work on the queue.
  func daemons() async throws -> [QueueDaemon] {
    try await reader.perform { context in
      let leases = try context.fetch(FetchRequest<LeaseRecord>(entityName: QueueModel.lease))
      let until = Dictionary(leases.map { ($0.incarnation, $0.until) }) { first, _ in first }
      return try context.fetch(
        FetchRequest<DaemonRecord>(
          entityName: QueueModel.daemon,
          sortDescriptors: [FetchSortDescriptor(DaemonRecord.Key.startedAt.name), FetchSortDescriptor("SELF")])
      ).map {
        QueueDaemon(
          incarnation: $0.incarnation, host: $0.host, startedAt: $0.startedAt, leaseUntil: until[$0.incarnation])
      }
    }
  }

  /// Those of some jobs that have ended or aren't there any more, on the ledger's queue, where the caller is.
  func ended(among ids: [Int64]) throws -> [Int64] {
    try ids.filter { number in
      let id = try context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: number)
      let request = FetchRequest<JobRecord>(
        entityName: QueueModel.job,
        predicate: .comparison(.evaluatedObject, .equal, .constant(.object(id))), fetchLimit: 1)
      return try context.fetch(request).first?.jobState?.isEnded ?? true
    }
  }
}

extension LedgerTurn {
  /// Marks daemons whose leases are over. The lease is removed with that, so that one which was renewed since is a conflict.
  fileprivate func markGone(at time: Date) throws {
    let isOver = FetchPredicate.comparison(.path(LeaseRecord.Key.until.name), .less, .constant(.date(time)))
    for lease in try context.fetch(FetchRequest<LeaseRecord>(entityName: QueueModel.lease, predicate: isOver)) {
      let request = FetchRequest<DaemonRecord>(
        entityName: QueueModel.daemon,
        predicate: .equal(DaemonRecord.Key.incarnation.name, .string(lease.incarnation)), fetchLimit: 1)
      try context.fetch(request).first?.isGone = true
      context.delete(lease)
    }
  }
}
