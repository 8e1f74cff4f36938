import Foundation
import Logging
import Synchronization
import Testing

@testable import Jobs

@Suite("The pruner", .timeLimit(.minutes(20)))
struct JobPrunerTests {
  /// A queue that lets a number of turns prune.
  private final class Pruned: JobPruner.Subject {
    private let turns: Mutex<Int?>
    private let queue: JobQueue

    /// - Parameter turns: nil for any number.
    init(_ queue: JobQueue, turns: Int?) {
      self.queue = queue
      self.turns = Mutex(turns)
    }

    /// Asked once before the first turn, and at the beginning of each.
    var mayPrune: Bool {
      turns.withLock { turns in
        defer { turns = turns.map { $0 - 1 } }
        return turns.map { $0 >= 0 } ?? true
      }
    }
    let retention = JobRetention(count: 0)
    func endedJobs() -> (count: Int, busy: Set<Int64>) { queue.endedJobs() }
    func notePruningCut() -> Bool { false }
  }

  private let house: TestHouse
  private let queue: JobQueue
  private let pruner: JobPruner
  /// More turns than the queue's own steps take while it is drained.
  private static let jobs = 6 * JobLedger.prunedTogether

  init() async throws {
    house = try TestHouse(.sqlite)
    queue = try house.queue()
    _ = try await queue.submit(
      batch: BatchSubmission(jobs: Array(repeating: .init(.of("noop")), count: Self.jobs), submittedBy: "anna"))
    try await withThrowingTaskGroup(of: Void.self) { [queue] group in
      for job in try await queue.jobs(JobFilter(limit: Self.jobs)) {
        group.addTask { _ = try await queue.cancel(job.id, by: "ben") }
      }
      try await group.waitForAll()
    }
    while !queue.isQuiet { await Task.yield() }
    pruner = JobPruner(
      ledger: queue.ledger, clock: house.clock.clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private var left: Int { get async throws { try await queue.counts()[.cancelled] } }

  @Test("stops between two turns when the queue begins to drain, and can begin again")
  func drained() async throws {
    #expect(try await left == Self.jobs)
    let draining = Pruned(queue, turns: 1)
    pruner.pruneSoon(draining)
    await pruner.stop()
    // The turn after the first found out.
    await queue.ledger.queue.perform { _ in }
    #expect(try await left == Self.jobs - JobLedger.prunedTogether)
    let open = Pruned(queue, turns: nil)
    pruner.pruneSoon(open)
    while try await left > 0 { await Task.yield() }
  }

  @Test("removes nothing more once it has been stopped, so that the store may be closed")
  func closed() async throws {
    let log = LogRecord()
    let last = try house.queue(retention: JobRetention(count: 0), logger: log.logger)
    await queue.drain(timeout: .seconds(60))
    // It prunes at its start, and is drained in the midst of that.
    try await last.start()
    await last.drain(timeout: .seconds(60))
    try house.coordinator.close()
    await last.ledger.queue.perform { _ in }
    #expect(log.lines.filter { $0.level >= .warning }.isEmpty, "\(log.lines)")
  }
}
