import Foundation
import ManagedObjects
import Testing

@testable import Jobs

private struct Locked: JobFailing {
  var jobFailure: JobFailure { JobFailure(code: "locked", message: "the store is locked", isRetryable: true) }
}

@Suite("Retrying", .timeLimit(.minutes(20)))
struct RetryTests {
  @Test("a failure that may pass is tried again when its time has come", arguments: StoreKind.allCases)
  func backoff(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue([
      "flaky": { operation in
        if operation.job.attempt < 3 { throw Locked() }
        return .completed(JobProgress(records: 3), note: "third time lucky")
      }
    ])
    try await queue.start()
    let id = try await queue.submit(.of("flaky")).id
    for (attempt, delay) in [(1, 10.0), (2, 20)] {
      let job = try await queue.job(id) { $0.state == .retryable && $0.attempt == attempt }
      #expect(job.availableAt == house.clock.now.addingTimeInterval(delay).asStored)
      #expect(job.failureCode == "locked" && job.reason == "the store is locked")
      #expect(house.clock.scheduled == [house.clock.now.addingTimeInterval(delay).asStored])
      house.clock.advance(by: delay)
    }
    let end = try await queue.whenEnded(id)
    #expect(end.state == .completed && end.attempt == 3 && end.progress.records == 3 && end.note == "third time lucky")
    #expect(
      try await queue.reasons(id) == [
        "submitted", "attempt 1 of 5", "the store is locked", "the wait for attempt 2 is over", "attempt 2 of 5",
        "the store is locked", "the wait for attempt 3 is over", "attempt 3 of 5", "third time lucky",
      ])
    #expect(end.failureCode == nil)
  }

  @Test(
    "after its last attempt a job is discarded, and a retry by hand gives it one more", arguments: StoreKind.allCases)
  func discarded(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let revived = Shared<Int64>()
    let queue = try house.queue(
      [
        "flaky": {
          $0.job.attempt == 1 ? .failed(Locked().jobFailure, JobProgress(rejected: 2)) : .completed($0.job.progress)
        }
      ],
      delegate: .init(revive: { revived.append($0.id) }))
    try await queue.start()
    let id = try await queue.submit(.of("flaky").with { $0.maxAttempts = 1 }).id
    let job = try await queue.whenEnded(id)
    #expect(job.state == .discarded && job.progress.rejected == 2)
    let again = try await queue.retry(id, by: "ben")
    #expect(again.state == .available && again.maxAttempts == 2 && revived.all == [id])
    #expect(try await queue.whenEnded(id).state == .completed)
    #expect(try await queue.job(id, withTransitions: true).transitions?.contains { $0.by == "ben" } == true)
  }

  @Test("a job whose file can't be brought back isn't tried again", arguments: StoreKind.allCases)
  func notRevived(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(delegate: .init(revive: { _ in throw CocoaError(.fileNoSuchFile) }))
    let id = try await queue.submit(.of("noop")).id
    _ = try await queue.cancel(id, by: "ben")
    let error = await #expect(throws: JobQueueError.self) { try await queue.retry(id, by: "ben") }
    #expect(error?.description.contains("can't be tried again") == true, "\(String(describing: error))")
    #expect(try await queue.job(id).state == .cancelled)
  }

  @Test(
    "a job whose file is being brought back isn't pruned, removed or retried by another, nor are its rejects",
    arguments: StoreKind.allCases)
  func reviving(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let (arrived, goes) = (Latch(), Latch())
    let queue = try house.queue(
      delegate: .init(revive: { _ in
        arrived.open()
        await goes.wait()
      }))
    try await queue.start()
    _ = try await queue.pause(lane: "import", by: "ben")
    let id = try await queue.submit(.of("noop")).id
    _ = try await queue.cancel(id, by: "ben")
    async let retried = queue.retry(id, by: "ben")
    await arrived.wait()
    let none = JobQueueConfiguration(
      lanes: [.init(name: "import", concurrency: 1)], schedules: [], retention: JobRetention(age: [.cancelled: 0]),
      backoff: Backoff())
    try await queue.reconfigure(none)
    await #expect(throws: JobQueueError.refused(id: id, why: "is being tried again")) {
      try await queue.remove(id, by: "anna")
    }
    await #expect(throws: JobQueueError.refused(id: id, why: "is being tried again already")) {
      try await queue.retry(id, by: "anna")
    }
    await #expect(throws: JobQueueError.refused(id: id, why: "is being tried again")) {
      try await queue.receive(.of("noop"), retryingRejectsOf: id)
    }
    goes.open()
    #expect(try await retried.state == .available)
    await #expect(throws: JobQueueError.refused(id: id, why: "is being tried again")) {
      try await queue.receive(.of("noop"), retryingRejectsOf: id)
    }
    #expect(try await queue.job(id).state == .available)
  }

  @Test("a job that has ended isn't tried again in a lane that was taken away", arguments: StoreKind.allCases)
  func withoutLane(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let revived = Shared<Int64>()
    let both = ["import", "bulk"].map { LaneConfiguration(name: $0, concurrency: 1) }
    let queue = try house.queue(lanes: both, delegate: .init(revive: { revived.append($0.id) }))
    let id = try await queue.submit(.of("noop", lane: "bulk")).id
    _ = try await queue.cancel(id, by: "ben")
    try await queue.reconfigure(
      JobQueueConfiguration(
        lanes: [.init(name: "import", concurrency: 1)], schedules: [], retention: .init(), backoff: Backoff()))
    await #expect(throws: JobQueueError.unknownLane("bulk", known: ["import"])) { try await queue.retry(id, by: "ben") }
    #expect(revived.all == [])
    #expect(try await queue.job(id).state == .cancelled)
    try await queue.reconfigure(
      JobQueueConfiguration(lanes: both, schedules: [], retention: .init(), backoff: Backoff()))
    #expect(try await queue.retry(id, by: "ben").state == .available)
  }

  @Test("a failure that won't pass isn't tried again", arguments: StoreKind.allCases)
  func hopeless(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(["bad": { _ in throw ManagedObjectError.unknownEntity(name: "X", known: ["Y"]) }])
    try await queue.start()
    let job = try await queue.whenEnded(try await queue.submit(.of("bad")).id)
    #expect(job.state == .discarded && job.failureCode == "model" && job.attempt == 1)
    #expect(job.reason == "the model has no entity X; it has Y")
  }

  @Test("an operation that overrides nothing says so", arguments: StoreKind.allCases)
  func notImplemented(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let operation = JobOperation(job: try await queue.submit(.of("noop")), environment: queue.environment)
    operation.main()
    guard case .failed(let failure, _) = operation.outcome else {
      Issue.record("\(operation.outcome)")
      return
    }
    #expect(failure.code == "not_implemented" && !failure.isRetryable)
  }

  @Test("a job waits for its time, with one timer to the earliest", arguments: StoreKind.allCases)
  func notBefore(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let start = house.clock.now
    try await queue.start()
    let late = try await queue.submit(.of("noop").with { $0.notBefore = start.addingTimeInterval(300).asStored })
    let early = try await queue.submit(.of("noop").with { $0.notBefore = start.addingTimeInterval(100).asStored })
    #expect(house.clock.scheduled == [start.addingTimeInterval(100).asStored])
    house.clock.advance(by: 100)
    #expect(try await queue.whenEnded(early.id).startedAt == start.addingTimeInterval(100).asStored)
    #expect(try await queue.job(late.id).state == .scheduled)
    #expect(house.clock.scheduled == [start.addingTimeInterval(300).asStored])
    house.clock.advance(by: 200)
    #expect(try await queue.whenEnded(late.id).state == .completed)
    #expect(house.clock.scheduled.isEmpty)
  }

  // The store in memory copies itself for every write, which takes its time with so many jobs.
  @Test("more jobs than one transaction holds are due at once", arguments: [StoreKind.sqlite])
  func manyDue(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let time = house.clock.now.addingTimeInterval(100).asStored
    let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
      for _ in 0..<270 { group.addTask { try await queue.submit(.of("noop").with { $0.notBefore = time }).id } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    house.clock.advance(by: 100)
    try await queue.start()
    _ = try await queue.whenEnded(ids.max() ?? 0)
    #expect(try await queue.counts().lanes["import"]?.filter { $0.value > 0 } == [.completed: 270])
  }

  @Test("a store's errors are tried again when they may pass")
  func kindsOfErrors() {
    func failure(_ kind: StoreFailure.Kind) -> JobFailure {
      JobFailure(ManagedObjectError.store(StoreFailure(kind, path: "x", message: "m")))
    }
    let passing: Set<StoreFailure.Kind> = [.busy, .io, .full, .cannotOpen, .interrupted, .outOfMemory]
    for kind in StoreFailure.Kind.allCases {
      #expect(failure(kind).isRetryable == passing.contains(kind))
      #expect(failure(kind).code == (kind == .full ? "disk_full" : "store"))
    }
    let readOnly = JobFailure(PersistentStoreError.readOnly(store: "main.sqlite", operation: "save"))
    #expect((readOnly.code, readOnly.isRetryable) == ("read_only", false))
    #expect(!JobFailure(PersistentStoreError.notHeld(entity: "Person", stores: ["main.sqlite"])).isRetryable)
    #expect(JobFailure(ManagedObjectError.mergeConflicts([])).isRetryable)
    #expect(!JobFailure(ManagedObjectError.validation([])).isRetryable)
    #expect(JobFailure(CocoaError(.fileReadUnknown)).isRetryable)
  }
}
