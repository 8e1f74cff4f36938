import Foundation
import ManagedObjects
import SQLiteStore

@testable import Jobs

/// The turns of a queue: jobs come, are claimed, and end.
struct QueueWork: Work {
  let name = "queue"
  private static let store = "queue.sqlite"

  func prepare(_ folder: URL) throws {
    let session = try Session(folder)
    try session.submit("before", after: nil)
    try session.close()
  }

  func begin(_ folder: URL) throws -> any WorkSession { try Session(folder) }

  /// The jobs by what they are, and each one's way, which a rescue may have made longer.
  func contents(_ folder: URL) throws -> [String] {
    let contents = StoreContents(folder: folder)
    let jobs = try contents.rows("SELECT uniqueKey, state FROM Job", of: Self.store)
    let broken = try contents.rows(
      """
      SELECT job_id, fromState, toState, 'doesn''t follow its predecessor' FROM (
        SELECT *, lag(toState) OVER (PARTITION BY job_id ORDER BY id) AS former FROM JobTransition
      ) WHERE fromState IS NOT former
      """, of: Self.store)
    return jobs + broken
  }

  private struct Session: WorkSession {
    private let coordinator: PersistentStoreCoordinator
    private let ledger: JobLedger

    init(_ folder: URL) throws {
      coordinator = PersistentStoreCoordinator(model: QueueModel.model)
      var description = PersistentStoreDescription.sqlite(
        at: folder.appendingPathComponent(QueueWork.store),
        options: .init(
          durability: .everySave, pageSize: 4096, writerCache: 64 << 10, readerCache: 64 << 10, readers: 2,
          checkpointSize: 64 << 10))
      description.backgroundFailureHandler = { _ in }
      try coordinator.addPersistentStore(description)
      ledger = JobLedger(
        coordinator: coordinator, now: { Date(timeIntervalSince1970: 1_000_000) },
        backoff: Backoff(first: 10, longest: 60, spread: 0.5))
    }

    /// Submits a job, unless it is there.
    @discardableResult
    func submit(_ name: String, after: Int64?) throws -> Int64 {
      let ledger = ledger
      return try ledger.queue.performAndWait { _ in
        var submission = JobSubmission(
          kind: "test", lane: "import", after: after.map { [JobDependency(job: $0, condition: .succeeded)] } ?? [],
          uniqueKey: name, uniqueStates: Set(JobState.allCases), maxAttempts: 3, submittedBy: "test")
        submission.resolvedOptions = "{}"
        let wanted = submission
        return try ledger.turn { turn in
          let job = try turn.existing(for: wanted) ?? turn.insert(wanted)
          try turn.context.obtainPermanentIDs(for: [job])
          return job.objectID.number
        }
      }
    }

    func work() throws -> String {
      let ledger = ledger
      _ = try ledger.queue.performAndWait { _ in try ledger.rescue { _ in nil } }
      let first = try submit("first", after: nil)
      try submit("second", after: first)
      for number in 3...6 { try submit("job \(number)", after: nil) }
      while true {
        let claimed = try ledger.queue.performAndWait { _ in
          var scope = ClaimScope(use: StoreUse(), access: { _ in .none })
          return try ledger.claim(lane: "import", limit: 2, &scope)
        }
        if claimed == 0 { break }
        try end()
      }
      return "done"
    }

    /// Ends the jobs that run.
    private func end() throws {
      let ledger = ledger
      try ledger.queue.performAndWait { context in
        let running = FetchPredicate.equal(JobRecord.Key.state.name, .string(JobState.running.rawValue))
        let jobs = try context.fetch(FetchRequest<JobRecord>(entityName: QueueModel.job, predicate: running))
        let numbers = jobs.map(\.objectID.number)
        for number in numbers {
          try ledger.turn { turn in
            try turn.record(.completed(JobProgress(records: 1)), of: turn.job(number), jitter: 0.5)
          }
        }
      }
    }

    func close() throws { try coordinator.close() }
  }
}
