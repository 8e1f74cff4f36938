// What the spool reports about a job's file. A job with a file may run when the file is in `active/`; that the move is durable,
// even after a loss of power, may be known only later. Until then the job keeps its origin, so that its entry makes no second
// job if it is met again. The job isn't removed either, and when it has ended its file isn't put away and those who wait for
// it wait on, so that changes on the disk keep their order.

import Foundation

extension JobQueue {
  /// Notes that files are in `active/`, so that their jobs may run. A loss of power may still bring their entries back, so the
  /// jobs keep their origins. If this can't be written, ``handOverCompleted(of:by:named:)`` makes up for it.
  /// - Parameter named: returns the name of a job's file there, for the job's number and source.
  package func filesArrived(of ids: [Int64], by who: String, named: @escaping @Sendable (Int64, String?) -> String) {
    ledger.write({ turn in
      for id in ids { try turn.takeFile(of: try turn.job(id), named: named, isOnDisk: false, by: who) }
      return {}
    }) { [weak self] (result: Result<Void, any Error>) in
      guard case .failure(let error) = result else { return }
      self?.logger.debug("jobs: that files have come couldn't be written", metadata: ["error": "\(error)"])
    }
  }

  /// Notes that entries have left `incoming/` for good and their files are in `active/`. May be called more than once. Of a
  /// job that has ended, the delegate puts the file away.
  /// - Returns: the numbers without a job.
  package nonisolated(nonsending) func handOverCompleted(
    of ids: [Int64], by who: String, named: @escaping @Sendable (Int64, String?) -> String
  ) async throws -> [Int64] {
    try await ledger.write { turn in
      var unknown: [Int64] = []
      for id in ids {
        do {
          try turn.takeFile(of: try turn.job(id), named: named, isOnDisk: true, by: who)
        } catch JobQueueError.noSuchJob {
          unknown.append(id)
        }
      }
      let answer = unknown
      return { answer }
    }
  }

  /// Notes that a job's file is in `active/` for good, under that name, as ``handOverCompleted(of:by:named:)`` does.
  package func fileArrived(_ id: Int64, activeName: String?, by who: String) async throws -> Job {
    try await ledger.change { turn in
      let job = try turn.job(id)
      try turn.takeFile(of: job, named: activeName.map { name in { _, _ in name } }, isOnDisk: true, by: who)
      return job
    }
  }

  /// Lets a job wait for its file again, which isn't in `active/` after a restart. Before ``start()``.
  package func fileLost(_ id: Int64) async throws {
    _ = try await ledger.change { turn in
      let job = try turn.job(id)
      if job.jobState == .running { job.rescues += 1 }
      try turn.apply(.fileLost, to: job, reason: "its file's move was lost; waits for it", by: "spool")
      return job
    }
  }

  /// Ends a job whose file won't come; a job that needs no file, or no more, continues. A later entry with the same origin
  /// makes a new job.
  package func withdraw(_ id: Int64, reason: String) async throws -> Job {
    try await ledger.change { turn in
      let job = try turn.job(id)
      job.origin = nil
      if job.jobState?.isEnded == true {
        if !job.isAwaitingFile { turn.settle(job) }
      } else if job.isAwaitingFile {
        try turn.apply(.cancelRequested, to: job, reason: reason, by: "spool")
      }
      return job
    }
  }
}

extension LedgerTurn {
  fileprivate func takeFile(
    of job: JobRecord, named: ((Int64, String?) -> String)?, isOnDisk: Bool, by who: String
  ) throws {
    let isOfSpool = job.origin?.endsWithArrival == true
    let wasAwaited = job.isAwaitingFile
    if let named, wasAwaited || (isOfSpool && job.activeName == nil) {
      job.activeName = named(job.objectID.number, job.source)
    }
    if isOnDisk, isOfSpool { job.origin = nil }
    if wasAwaited {
      try apply(.fileArrived, to: job, reason: "its file has arrived", by: who)
      noteArrival(job)
    } else if isOnDisk, isOfSpool, job.jobState?.isEnded == true {
      settle(job)
    }
  }
}
