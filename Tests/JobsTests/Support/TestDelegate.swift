@testable import Jobs

/// A delegate that does what its test says.
final class TestDelegate: JobQueueDelegate {
  private let finished: @Sendable (JobSnapshot) async throws -> Void
  private let revive: @Sendable (JobSnapshot) async throws -> Void
  private let removed: @Sendable (JobSnapshot) async throws -> Void
  private let fetch: @Sendable (JobSnapshot, String) async throws -> Void
  private let moved: @Sendable (JobSnapshot, JobState?) -> Void
  private let progressed: @Sendable (JobSnapshot, JobProgress) -> Void

  init(
    finished: @escaping @Sendable (JobSnapshot) async throws -> Void = { _ in },
    revive: @escaping @Sendable (JobSnapshot) async throws -> Void = { _ in },
    removed: @escaping @Sendable (JobSnapshot) async throws -> Void = { _ in },
    fetch: @escaping @Sendable (JobSnapshot, String) async throws -> Void = { _, _ in },
    moved: @escaping @Sendable (JobSnapshot, JobState?) -> Void = { _, _ in },
    progressed: @escaping @Sendable (JobSnapshot, JobProgress) -> Void = { _, _ in }
  ) {
    self.finished = finished
    self.revive = revive
    self.removed = removed
    self.fetch = fetch
    self.moved = moved
    self.progressed = progressed
  }

  func jobQueue(_ queue: JobQueue, didEnd job: JobSnapshot) async throws { try await finished(job) }
  func jobQueue(_ queue: JobQueue, willRetry job: JobSnapshot) async throws { try await revive(job) }
  func jobQueue(_ queue: JobQueue, didRemove job: JobSnapshot) async throws { try await removed(job) }
  func jobQueue(_ queue: JobQueue, fetchFileOf job: JobSnapshot, for schedule: String) async throws {
    try await fetch(job, schedule)
  }
  func jobQueue(_ queue: JobQueue, didMove job: JobSnapshot, from former: JobState?) { moved(job, former) }
  func jobQueue(_ queue: JobQueue, didReport progress: JobProgress, of job: JobSnapshot) { progressed(job, progress) }
}
