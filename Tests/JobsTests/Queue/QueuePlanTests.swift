import Foundation
import Logging
import ManagedObjects
import SQLiteStore
import Testing

@testable import Jobs

/// The plans that SQLite makes for the queue's statements (rule 9, ARCHITECTURE.md).
@Suite("Plans of the queue's statements", .timeLimit(.minutes(20)))
struct QueuePlanTests {
  private static let listed: [JobFilter] = [
    JobFilter(), JobFilter(states: [.scheduled]), JobFilter(states: [.scheduled], kind: "noop", newestFirst: false),
    JobFilter(states: [.completed, .running]), JobFilter(lane: "import"), JobFilter(kind: "noop", lane: "import"),
    JobFilter(states: [.available], lane: "import", recipe: "r"), JobFilter(recipe: "r", before: 7),
    JobFilter(tag: "t"), JobFilter(submittedBy: "anna"), JobFilter(isHeld: true),
  ]

  @Test("no list, claim or upkeep sorts jobs, and none but a list looks through all of them")
  func plans() async throws {
    let house = try TestHouse(.inMemory)
    let record = LogRecord()
    var description = PersistentStoreDescription(url: house.directory.appendingPathComponent("plans.sqlite"))
    description.sqliteOptions.sqlLog = .plans
    description.sqlLogger = record.logger
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(description)
    let ledger = JobLedger(coordinator: coordinator, now: { Date() }, backoff: Backoff())
    func plans(_ body: () async throws -> Void) async throws -> [String] {
      let known = record.lines.count
      try await body()
      return record.lines.dropFirst(known).map(\.message).filter { $0.contains("plan: ") }
    }
    for filter in Self.listed {
      let plans = try await plans { _ = try await ledger.read(filter) }
      #expect(!plans.isEmpty && !plans.contains { $0.contains("TEMP B-TREE") }, "\(filter): \(plans)")
    }
    let others = try await plans {
      try await ledger.queue.perform { _ in
        _ = try ledger.promoteDue()
        _ = try ledger.expireDue()
        _ = try ledger.rescue { _ in nil }
        _ = try ledger.firstEnds(of: .completed, limit: 1)
        _ = try ledger.prune(.completed, endedBefore: Date(), limit: 256, busy: [])
        _ = try ledger.turn { try $0.available(in: "import", besides: [], limit: 4) }
        _ = try ledger.count(lanes: ["import"], in: ledger.context)
      }
    }
    #expect(
      !others.contains { $0.contains("TEMP B-TREE") || ($0.contains("SCAN") && !$0.contains("USING")) }, "\(others)")
    for index in ["Job_claim", "Job_due", "Job_expiry", "Job_ended", "Job_state"] {
      #expect(others.contains { $0.contains(index) }, "\(index): \(others)")
    }
    try coordinator.close()
  }
}
