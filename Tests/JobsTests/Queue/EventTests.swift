import Foundation
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Following jobs", .timeLimit(.minutes(20)))
struct EventTests {
  @Test("every transition and all progress are announced, in order", arguments: StoreKind.allCases)
  func events(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue([
      "work": { operation in
        operation.report(JobProgress(records: 1))
        gate.pass()
        return .completed(JobProgress(records: 2))
      }
    ])
    var events = queue.events().makeAsyncIterator()
    let job = try await queue.submit(.of("work"))
    var seen: [String] = []
    func next() async {
      guard let event = await events.next() else { return }
      seen.append("\(event.state) \(event.progress.records)")
    }
    await next()
    try await queue.start()
    while seen.last != "running 1" { await next() }
    #expect(try await queue.job(job.id).progress.records == 1)
    gate.open()
    while seen.last != "completed 2" { await next() }
    #expect(seen.filter { $0 != "running 0" } == ["available 0", "running 1", "completed 2"])
  }

  @Test("a slow listener gets the newest of each job, and of no more jobs than it can hold")
  func newestWins() async throws {
    let house = try TestHouse(.inMemory)
    let queue = try house.queue()
    var events = queue.events(capacity: 2).makeAsyncIterator()
    var jobs: [Job] = []
    for _ in 0..<3 { jobs.append(try await queue.submit(.of("noop"))) }
    _ = try await queue.cancel(jobs[1].id, by: "ben")
    _ = try await queue.whenEnded(jobs[1].id)
    let first = await events.next()
    let second = await events.next()
    #expect(first?.id == jobs[1].id && first?.state == .cancelled)
    #expect(second?.id == jobs[2].id && second?.state == .available)
  }

  @Test("a listener that goes away is forgotten, and its stream ends when its task is cancelled")
  func listenersGo() async throws {
    let house = try TestHouse(.inMemory)
    let queue = try house.queue()
    let listening = Task { for await _ in queue.events() {} }
    listening.cancel()
    await listening.value
    _ = try await queue.submit(.of("noop"))
  }

  @Test("an end is announced once the file is put away")
  func announcedEnd() async throws {
    let house = try TestHouse(.inMemory)
    let told = Shared<String>()
    let queue = try house.queue(delegate: .init(finished: { told.append("\($0.id) is put away") }))
    let events = queue.events()
    let jobs = [try await queue.submit(.of("noop")), try await queue.submit(.of("noop"))]
    _ = try await queue.cancel(jobs[0].id, by: "ben")
    try await queue.start()
    _ = try await queue.whenEnded(jobs[1].id)
    var ended = 0
    for await event in events where event.state.isEnded {
      #expect(told.all.contains("\(event.id) is put away"))
      ended += 1
      if ended == jobs.count { break }
    }
  }

  @Test("the file of an ended job is put away before waiters go on", arguments: StoreKind.allCases)
  func finished(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let finished = Shared<JobState>()
    let queue = try house.queue(delegate: .init(finished: { finished.append($0.state) }))
    let cancelled = try await queue.submit(.of("noop"))
    _ = try await queue.cancel(cancelled.id, by: "ben")
    _ = try await queue.whenEnded(cancelled.id)
    #expect(finished.all == [.cancelled])
    try await queue.start()
    let job = try await queue.submit(.of("noop"))
    _ = try await queue.whenEnded(job.id)
    #expect(finished.all == [.cancelled, .completed])
    // As a daemon does at its start, for files that it finds in active/.
    #expect(try await queue.settle([job.id, 4711]) == [4711])
    _ = try await queue.whenEnded(job.id)
    #expect(finished.all == [.cancelled, .completed, .completed])
  }

  @Test("the delegate hears of each durable change and of progress", arguments: StoreKind.allCases)
  func measuring(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let (moved, progressed) = (Shared<String>(), Shared<String>())
    let queue = try house.queue(
      [
        "work": { operation in
          for records in [0, 1, 1] { operation.report(JobProgress(records: Int64(records))) }
          return .completed(JobProgress(records: 2))
        }
      ],
      delegate: .init(
        moved: { moved.append("\($1?.rawValue ?? "new") → \($0.state) \($0.progress.records)") },
        progressed: { progressed.append("\($0.progress.records) → \($1.records)") }))
    let job = try await queue.submit(.of("work"))
    try await queue.start()
    _ = try await queue.whenEnded(job.id)
    #expect(moved.all == ["new → available 0", "available → running 0", "running → completed 2"])
    #expect(progressed.all == ["0 → 0", "0 → 1", "1 → 1"])
  }

  @Test("a delegate that throws doesn't block waiters", arguments: StoreKind.allCases)
  func throwing(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(delegate: .init(finished: { _ in throw CocoaError(.fileWriteOutOfSpace) }))
    try await queue.start()
    let job = try await queue.submit(.of("noop"))
    #expect(try await queue.whenEnded(job.id).state == .completed)
  }

  @Test("waiting for a job can be cancelled", arguments: StoreKind.allCases)
  func givingUp(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let job = try await queue.submit(.of("noop"))
    let waiting = Task { try await queue.whenEnded(job.id) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    await #expect(throws: JobQueueError.noSuchJob(4711)) { try await queue.whenEnded(4711) }
    #expect(!queue.state.hasWaiters)
  }

  @Test("objects that are held in the main context follow by merging", arguments: StoreKind.allCases)
  func merging(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let id = try await queue.submit(.of("noop")).id
    let context = queue.mainContext
    await holdUntilCompleted(id, queue, context)
  }

  /// Holds a job on the main queue, which is the main actor's, while another queue changes it.
  @MainActor private func holdUntilCompleted(_ id: Int64, _ queue: JobQueue, _ main: ContextQueue) async {
    do {
      let context = main.context()
      let job = try context.existingObject(
        with: context.persistentStoreCoordinator.managedObjectID(entity: QueueModel.job, number: id))
      guard let job = job as? JobRecord else { throw JobQueueError.noSuchJob(id) }
      #expect(job.jobState == .available)
      try await queue.start()
      _ = try await queue.whenEnded(id)
      // Outside of `perform` it may lag behind by one merging interval.
      await main.perform { _ in }
      #expect(job.jobState == .completed && job.endedAt != nil && !job.hasChanges)
    } catch {
      Issue.record(error)
    }
  }

  @Test("reading jobs leaves the main context alone", arguments: StoreKind.allCases)
  func reading(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    let id = try await queue.submit(.of("noop")).id
    let job = try await queue.job(id, withTransitions: true)
    #expect(job.state == .available && job.transitions?.count == 1)
    #expect(try await queue.jobs().map(\.id) == [id])
    #expect(try await queue.schedules().isEmpty)
    let main = queue.mainContext
    #expect(await main.perform { main in main.registeredObjectCount } == 0)
  }

  @Test("jobs are listed by what is asked for, the newest first", arguments: StoreKind.allCases)
  func listing(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(["other": { _ in .completed(JobProgress()) }])
    var ids: [Int64] = []
    for number in 0..<6 {
      let kind = number % 2 == 0 ? "noop" : "other"
      ids.append(
        try await queue.submit(
          .of(kind).with {
            $0.tags = number < 2 ? ["early"] : ["late", "x"]
            $0.source = number < 3 ? "stops-\(number).csv" : nil
          }
        ).id)
    }
    _ = try await queue.cancel(ids[0], by: "ben")
    func list(_ filter: JobFilter) async throws -> [Int64] { try await queue.jobs(filter).map(\.id) }
    #expect(try await list(JobFilter()) == ids.reversed())
    #expect(try await list(JobFilter(newestFirst: false)) == ids)
    #expect(try await list(JobFilter(limit: 2, offset: 1)) == [ids[4], ids[3]])
    #expect(try await list(JobFilter(states: [.cancelled])) == [ids[0]])
    #expect(try await list(JobFilter(states: [.cancelled, .available], kind: "noop")) == [ids[4], ids[2], ids[0]])
    #expect(try await list(JobFilter(tag: "early")) == [ids[1], ids[0]])
    #expect(try await list(JobFilter(submittedBy: "nobody")).isEmpty)
    var like = JobFilter()
    like.source = "*-?.csv"
    #expect(try await list(like) == [ids[2], ids[1], ids[0]])
    like.source = "*1*"
    #expect(try await list(like) == [ids[1]])
    like = JobFilter()
    like.failureCode = "*"
    #expect(try await list(like).isEmpty)
    like = JobFilter()
    like.submittedSince = Date() + 3600
    #expect(try await list(like).isEmpty)
  }
}
