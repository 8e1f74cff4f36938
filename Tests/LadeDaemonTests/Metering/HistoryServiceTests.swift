import ControlAPI
import Foundation
import Jobs
import Logging
import ManagedObjects
import Testing

@testable import LadeDaemon

@Suite("What the history is sampled from", .timeLimit(.minutes(20)))
struct HistoryServiceTests {
  private func queue() throws -> JobQueue {
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(.inMemory())
    let folder = FileManager.default.temporaryDirectory
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return try JobQueue(
      coordinator: coordinator, lanes: [.init(name: "import", concurrency: 1), .init(name: "other", concurrency: 1)],
      operations: .standard,
      environment: JobEnvironment(dataStores: [:], activeDirectory: folder, rejectsDirectory: folder, logger: logger),
      logger: logger)
  }

  /// What the ring has, once something was sampled.
  private func sampled(_ ring: HistoryRing) async throws -> History.Span {
    while true {
      try Task.checkCancellation()
      if let span = ring.history(HistorySpanQuery(grain: 60), at: Date()).spans.last(where: { !$0.waiting.isEmpty }) {
        return span
      }
      await Task.yield()
    }
  }

  @Test(
    "it notes at once how many jobs wait in each lane and what was read, but not the changes, and ends when it is told")
  func samples() async throws {
    // A queue that hasn't been started begins no job.
    let queue = try queue()
    for _ in 0..<3 { _ = try await queue.submit(JobSubmission(kind: "vacuum", lane: "import", submittedBy: "anna")) }
    _ = try await queue.submit(
      ChangeOptions(JobChange(.cancel, JobSelection(kind: "vacuum")), submitters: nil), by: "anna")
    let ring = HistoryRing(since: Date())
    let meter = JobMeter(kinds: ["import"])
    meter.note(
      JobProgress(records: 70),
      of: Job(
        id: 1, kind: "import", lane: "import", state: .running, submittedAt: Date(), submittedBy: "anna",
        maxAttempts: 1))
    let service = HistoryService(ring: ring, queue: queue, jobs: meter)
    let running = Task { try await service.run() }
    let span = try await sampled(ring)
    #expect(span.waiting == ["import": 3, "other": 0] && span.records == meter.records, "\(span)")
    running.cancel()
    try await running.value
  }
}
