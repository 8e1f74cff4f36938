@testable import Jobs

/// A delegate that does what its test says.
final class TestDelegate: JobQueueDelegate {
  private let finished: @Sendable (Job) async throws -> Void
  private let revive: @Sendable (Job) async throws -> Void
  private let removed: @Sendable (Job) async throws -> Void
  private let fetch: @Sendable (Job, String) async throws -> Void
  private let moved: @Sendable (Job, JobState?) -> Void
  private let progressed: @Sendable (Job, JobProgress) -> Void
  private let leaseLost: @Sendable () -> Void

  init(
    finished: @escaping @Sendable (Job) async throws -> Void = { _ in },
    revive: @escaping @Sendable (Job) async throws -> Void = { _ in },
    removed: @escaping @Sendable (Job) async throws -> Void = { _ in },
    fetch: @escaping @Sendable (Job, String) async throws -> Void = { _, _ in },
    moved: @escaping @Sendable (Job, JobState?) -> Void = { _, _ in },
    progressed: @escaping @Sendable (Job, JobProgress) -> Void = { _, _ in },
    leaseLost: @escaping @Sendable () -> Void = {}
  ) {
    self.finished = finished
    self.revive = revive
    self.removed = removed
    self.fetch = fetch
    self.moved = moved
    self.progressed = progressed
    self.leaseLost = leaseLost
  }

  func jobQueue(_ queue: JobQueue, didEnd job: Job) async throws { try await finished(job) }
  func jobQueue(_ queue: JobQueue, willRetry job: Job) async throws { try await revive(job) }
  func jobQueue(_ queue: JobQueue, didRemove job: Job) async throws { try await removed(job) }
  func jobQueue(_ queue: JobQueue, fetchFileOf job: Job, for schedule: String) async throws {
    try await fetch(job, schedule)
  }
  func jobQueueDidLoseLease(_ queue: JobQueue) { leaseLost() }
  func jobQueue(_ queue: JobQueue, didMove job: Job, from former: JobState?) { moved(job, former) }
  func jobQueue(_ queue: JobQueue, didReport progress: JobProgress, of job: Job) { progressed(job, progress) }
}
