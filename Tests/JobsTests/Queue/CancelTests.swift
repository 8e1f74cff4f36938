import Foundation
import Testing

@testable import Jobs

@Suite("Cancelling and holding", .timeLimit(.minutes(20)))
struct CancelTests {
  private struct Refused: Error, Equatable { let submitter: String }

  @Test("a scheduled and an available job are cancelled at once", arguments: StoreKind.allCases)
  func waiting(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let later = house.clock.now.addingTimeInterval(60).asStored
    let scheduled = try await queue.submit(.of("noop").with { $0.notBefore = later })
    let available = try await queue.submit(.of("noop"))
    #expect((scheduled.state, available.state) == (.scheduled, .available))
    for job in [scheduled, available] {
      let cancelled = try await queue.cancel(job.id, by: "ben")
      #expect(cancelled.state == .cancelled && cancelled.reason == "cancelled by ben")
      #expect(cancelled.endedAt == house.clock.now && cancelled.attempt == 0)
    }
    try await queue.start()
    #expect(try await queue.counts()[.cancelled] == 2)
    #expect(house.clock.scheduled.isEmpty || house.clock.scheduled == [later])
  }

  @Test("a running job is stopped at its next batch, and keeps what it had done", arguments: StoreKind.allCases)
  func running(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue([
      "batches": { operation in
        var progress = JobProgress()
        while !operation.isCancelled {
          progress.records += 100
          operation.report(progress)
          gate.pass()
        }
        return .cancelled(progress)
      }
    ])
    try await queue.start()
    let job = try await queue.submit(.of("batches"))
    await gate.arrivals(1)
    let asked = try await queue.cancel(job.id, by: "ben")
    #expect(asked.state == .running && asked.isCancelRequested)
    gate.open()
    let end = try await queue.whenEnded(job.id)
    #expect(end.state == .cancelled && end.reason == "cancelled by ben" && end.progress.records == 100)
    #expect(
      try await queue.reasons(job.id) == ["submitted", "attempt 1 of 5", "cancelled by ben", "cancelled by ben"])
    await #expect(throws: JobQueueError.self) { try await queue.cancel(job.id, by: "ben") }
  }

  @Test("an operation that was cancelled before it ran is cancelled too", arguments: StoreKind.allCases)
  func beforeItRan(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    queue.lanes["import"]?.isSuspended = true
    try await queue.start()
    let job = try await queue.submit(.of("noop"))
    _ = try await queue.job(job.id, when: .running)
    _ = try await queue.cancel(job.id, by: "ben")
    queue.lanes["import"]?.isSuspended = false
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
  }

  @Test("what can't be done to a job is refused with the reason", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    try await queue.start()
    let job = try await queue.submit(.of("noop"))
    _ = try await queue.whenEnded(job.id)
    let error = await #expect(throws: JobQueueError.self) { try await queue.cancel(job.id, by: "ben") }
    #expect(
      error?.description == "job \(job.id) is completed and can't be cancelled: it has succeeded already")
    await #expect(throws: JobQueueError.self) { try await queue.retry(job.id, by: "ben") }
    await #expect(throws: JobQueueError.noSuchJob(4711)) { try await queue.cancel(4711, by: "ben") }
  }

  @Test("a change that its permission refuses leaves the job as it is", arguments: StoreKind.allCases)
  func permission(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let job = try await queue.submit(.of("noop").with { $0.submittedBy = "anna" })
    let refuse: JobQueue.Permission = { throw Refused(submitter: $0) }
    let changes: [@Sendable () async throws -> Job] = [
      { try await queue.cancel(job.id, by: "ben", permission: refuse) },
      { try await queue.retry(job.id, by: "ben", permission: refuse) },
      { try await queue.hold(job.id, by: "ben", permission: refuse) },
      { try await queue.release(job.id, by: "ben", permission: refuse) },
      { try await queue.setPriority(job.id, to: 5, by: "ben", permission: refuse) },
    ]
    for change in changes {
      await #expect(throws: Refused(submitter: "anna")) { try await change() }
    }
    let after = try await queue.job(job.id, withTransitions: true)
    #expect(after.state == .available && !after.isHeld && after.priority == job.priority)
    #expect(after.transitions?.count == 1)
    _ = try await queue.cancel(job.id, by: "ben", permission: { #expect($0 == "anna") })
    #expect(try await queue.job(job.id).state == .cancelled)
    await #expect(throws: Refused(submitter: "anna")) {
      try await queue.remove(job.id, by: "ben", permission: refuse)
    }
    #expect(try await queue.job(job.id).state == .cancelled)
  }

  @Test("a removal is refused before it waits for the job's file to be put away", arguments: StoreKind.allCases)
  func refusedRemoval(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let (begun, latch) = (Latch(), Latch())
    let finished: @Sendable (Job) async -> Void = { _ in
      begun.open()
      await latch.wait()
    }
    let queue = try house.queue(delegate: .init(finished: finished))
    try await queue.start()
    let job = try await queue.submit(.of("noop"))
    // Its end isn't announced before its file is put away.
    await begun.wait()
    let refuse: JobQueue.Permission = { throw Refused(submitter: $0) }
    await #expect(throws: Refused(submitter: "anna")) {
      try await queue.remove(job.id, by: "ben", permission: refuse)
    }
    latch.open()
    #expect(try await queue.remove(job.id, by: "anna").id == job.id)
  }

  @Test("a held job runs when it is released", arguments: StoreKind.allCases)
  func held(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    try await queue.start()
    let job = try await queue.submit(.of("noop").with { $0.isHeld = true })
    let after = try await queue.submit(.of("noop"))
    _ = try await queue.whenEnded(after.id)
    #expect(try await queue.job(job.id).state == .scheduled)
    #expect(try await queue.jobs(JobFilter(isHeld: true)).map(\.id) == [job.id])
    _ = try await queue.release(job.id, by: "carla")
    #expect(try await queue.whenEnded(job.id).state == .completed)
    let steps = try await queue.job(job.id, withTransitions: true).transitions
    #expect(steps?.map(\.by) == ["anna", "carla", nil, nil])
  }

  @Test(
    "a job that awaits its file runs when that has arrived, under the name it has then", arguments: StoreKind.allCases)
  func awaitingFile(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let names = Shared<String>()
    let queue = try house.queue([
      "read": {
        names.append($0.job.activeName ?? "-"); return .completed(JobProgress())
      }
    ])
    try await queue.start()
    let job = try await queue.submit(.of("read").with { $0.awaitsFile = true })
    #expect(job.state == .scheduled && job.isAwaitingFile)
    #expect(try await queue.jobs(JobFilter(isAwaitingFile: true)).map(\.id) == [job.id])
    let name = "\(job.id)-a.csv"
    _ = try await queue.fileArrived(job.id, activeName: name, by: "the spool")
    #expect(try await queue.whenEnded(job.id).activeName == name)
    #expect(try await queue.fileArrived(job.id, activeName: "other", by: "the spool").activeName == name)
    #expect(names.all == [name])
  }

  @Test("the file of a job cancelled during its hand-over is put away when it arrives", arguments: StoreKind.allCases)
  func cancelledDuringHandOver(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let finished = Shared<String?>()
    let queue = try house.queue(delegate: .init(finished: { finished.append($0.activeName) }))
    let job = try await queue.submit(.of("noop").with { $0.awaitsFile = true })
    _ = try await queue.cancel(job.id, by: "ben")
    _ = try await queue.whenEnded(job.id)
    _ = try await queue.fileArrived(job.id, activeName: "1-a.csv", by: "the spool")
    _ = try await queue.whenEnded(job.id)
    #expect(finished.all == [nil, "1-a.csv"])
    let end = try await queue.job(job.id, withTransitions: true)
    #expect(end.reason == "cancelled by ben", "what comes later doesn't say why it ended")
    #expect(end.transitions?.last?.reason == "its file has arrived")
  }
}
