import Foundation
import Testing

@testable import Jobs

@Suite("Jobs that change all jobs that match", .timeLimit(.minutes(20)))
struct ChangeManyTests {
  /// A queue that runs, with a lane where nothing begins.
  private func started(_ house: TestHouse, delegate: TestDelegate = TestDelegate()) async throws -> JobQueue {
    let queue = try house.queue(lanes: [.init(name: "import", concurrency: 1)], delegate: delegate)
    _ = try await queue.pause(lane: "import", by: "ben")
    try await queue.start()
    return queue
  }

  private func changed(
    _ queue: JobQueue, _ action: JobChange.Action, _ filter: JobSelection = JobSelection(), priority: Int? = nil,
    submitters: [String]? = nil
  ) async throws -> JobChangeResult {
    let options = ChangeOptions(JobChange(action, filter, priority: priority), submitters: submitters)
    let job = try await queue.submit(options, by: "ben")
    let end = try await queue.whenEnded(job.id)
    #expect(end.state == .completed, "\(end.reason ?? "")")
    return try #require(end.change)
  }

  @Test("all jobs that match are changed, and those that can't be are reported", arguments: StoreKind.allCases)
  func all(_ kind: StoreKind) async throws {
    let queue = try await started(TestHouse(kind))
    for number in 0..<450 {
      _ = try await queue.submit(.of("noop").with { $0.tags = [number % 3 == 0 ? "third" : "other"] })
    }
    let (third, noops) = (JobSelection(tag: "third"), JobSelection(kind: "noop"))
    #expect(try await changed(queue, .hold, third) == JobChangeResult(changed: 150))
    #expect(try await changed(queue, .release, third).changed == 150)
    #expect(try await changed(queue, .priority, third, priority: 4).changed == 150)
    #expect(try await queue.job(1, withTransitions: true).transitions?.last?.reason == "priority 0 made 4 by ben")
    let refused = try await changed(queue, .release, noops)
    #expect(refused.changed == 0 && refused.refused == 450 && refused.refusals.count == JobChangeResult.mostRefusals)
    #expect(refused.refusals.first?.job == 450, "the newest first")
    #expect(try await changed(queue, .cancel, third).changed == 150)
    #expect(try await changed(queue, .retry, third).changed == 150)
    #expect(try await changed(queue, .cancel, noops).changed == 450)
    #expect(try await changed(queue, .remove, third).changed == 150)
    #expect(try await queue.counts()[.cancelled] == 300)
  }

  @Test("a change is about the jobs that were there before it, and not about itself", arguments: StoreKind.allCases)
  func itself(_ kind: StoreKind) async throws {
    let queue = try await started(TestHouse(kind))
    let before = try await queue.submit(.of("noop"))
    #expect(try await changed(queue, .cancel) == JobChangeResult(changed: 1))
    #expect(try await queue.job(before.id).state == .cancelled)
    // The change that has ended is a job like others.
    #expect(try await changed(queue, .remove).changed == 2)
  }

  @Test("who isn't to change the jobs of others changes none of them", arguments: StoreKind.allCases)
  func others(_ kind: StoreKind) async throws {
    let queue = try await started(TestHouse(kind))
    let theirs = try await queue.submit(.of("noop"))
    let own = try await queue.submit(.of("noop").with { $0.submittedBy = "ben" })
    #expect(try await changed(queue, .hold, submitters: ["ben"]) == JobChangeResult(changed: 1))
    #expect(try await queue.job(own.id).isHeld)
    #expect(try await queue.job(theirs.id).isHeld == false)
  }

  @Test("its lane isn't listed, can't be paused, and is no lane for others")
  func lane() async throws {
    let queue = try await started(TestHouse(.inMemory))
    #expect(try await queue.laneSnapshots().map(\.name) == ["import"])
    await #expect(throws: JobQueueError.unknownLane("changes", known: ["import"])) {
      try await queue.pause(lane: "changes", by: "ben")
    }
  }

  /// A queue with so many cancelled jobs, of which one isn't put away until the latch opens: a change that retries all of them
  /// can't come to an end before.
  private func started(
    _ house: TestHouse, jobs: Int, holdingUpAt stuck: Int64, _ latch: Latch
  ) async throws -> JobQueue {
    let queue = try await started(house, delegate: TestDelegate(finished: { if $0.id == stuck { await latch.wait() } }))
    for _ in 0..<jobs { _ = try await queue.submit(.of("noop")) }
    #expect(try await changed(queue, .cancel, JobSelection(kind: "noop")).changed == jobs)
    return queue
  }

  private let retry = ChangeOptions(JobChange(.retry, JobSelection(kind: "noop")), submitters: nil)

  @Test(
    "stopped by the end of the daemon in the middle, it goes on after the next start, and changes each job once",
    arguments: [(410, 0), (209, 200), (1, 400)] as [(Int64, Int64)])
  func stopped(at stuck: Int64, after changed: Int64) async throws {
    let house = try TestHouse(.sqlite)
    let latch = Latch()
    let first = try await started(house, jobs: 410, holdingUpAt: stuck, latch)
    let job = try await first.submit(retry, by: "ben")
    _ = try await first.job(job.id) { $0.state == .running && $0.progress.updated >= changed }
    async let left = first.drain(timeout: .seconds(600))
    let stopped = try await first.job(job.id, when: .available)
    // A drain waits until everything is put away.
    latch.open()
    #expect(await left.isEmpty)
    #expect((changed..<410).contains(stopped.progress.updated), "\(stopped.progress)")
    #expect(try await first.job(stuck).state == .cancelled)
    let queue = try house.queue()
    try await queue.start()
    let end = try await queue.whenEnded(job.id)
    #expect(end.state == .completed && end.change == JobChangeResult(changed: 410), "\(end)")
    for id in [1, 200, 209, 211, 410] as [Int64] {
      #expect(try await queue.reasons(id).filter { $0 == "retried by ben" }.count == 1)
    }
  }

  @Test("what was done before a kill isn't done again, although it matches again", arguments: StoreKind.allCases)
  func again(_ kind: StoreKind) async throws {
    let queue = try TestHouse(kind).queue()
    _ = try await queue.pause(lane: "import", by: "ben")
    let jobs = try await (0..<3).asyncMap { _ in try await queue.submit(.of("noop")) }
    _ = try await queue.cancel(jobs[2].id, by: "anna")
    let change = try await queue.submit(
      ChangeOptions(JobChange(.retry, JobSelection(kind: "noop")), submitters: nil), by: "ben")
    // As a kill in the middle of a page leaves it: the job was retried, and was cancelled once more since.
    try await queue.ledger.write { turn in
      var checkpoint = ChangeCheckpoint()
      checkpoint.note(changed: jobs[2].id)
      try turn.job(change.id).checkpoint = checkpoint.text()
      return {}
    }
    try await queue.start()
    let end = try await queue.whenEnded(change.id)
    #expect(end.change?.changed == 1 && end.change?.refused == 2)
    #expect(try await queue.job(jobs[2].id).state == .cancelled)
  }

  @Test("a change that is cancelled in the middle stops, and says how far it came", arguments: StoreKind.allCases)
  func cancelled(_ kind: StoreKind) async throws {
    let latch = Latch()
    let queue = try await started(TestHouse(kind), jobs: 410, holdingUpAt: 209, latch)
    let job = try await queue.submit(retry, by: "ben")
    _ = try await queue.job(job.id) { $0.progress.updated >= 200 }
    _ = try await queue.cancel(job.id, by: "ben")
    let end = try await queue.whenEnded(job.id)
    latch.open()
    let changed = try #require(end.change?.changed)
    #expect(end.state == .cancelled && (200..<410).contains(changed), "\(end)")
    #expect(try await queue.counts()[.available] == changed)
    #expect(try await queue.job(209).state == .cancelled)
  }

  @Test("a change that is cancelled before it begins changes nothing", arguments: StoreKind.allCases)
  func cancelledBefore(_ kind: StoreKind) async throws {
    let queue = try house(kind)
    let job = try await queue.submit(
      ChangeOptions(JobChange(.cancel, JobSelection(kind: "noop")), submitters: nil), by: "ben")
    _ = try await queue.cancel(job.id, by: "ben")
    try await queue.start()
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
    #expect(try await queue.job(job.id).change == JobChangeResult())
  }

  private func house(_ kind: StoreKind) throws -> JobQueue { try TestHouse(kind).queue() }
}
