import Foundation
import Synchronization
import Testing

@testable import Jobs

@Suite("Lanes", .timeLimit(.minutes(20)))
struct LaneTests {
  @Test("no job of a paused lane begins, also after a restart, until it is resumed", arguments: StoreKind.allCases)
  func pausing(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let lanes = [LaneConfiguration(name: "import", concurrency: 1), .init(name: "night", concurrency: 1)]
    let first = try house.queue(lanes: lanes)
    try await first.start()
    let paused = try await first.pause(lane: "import", by: "ben")
    #expect(paused.isPaused && paused.pausedBy == "ben" && paused.pausedAt == house.clock.now)
    let job = try await first.submit(.of("noop"))
    let other = try await first.submit(.of("noop", lane: "night"))
    #expect(try await first.whenEnded(other.id).state == .completed)
    #expect(try await first.job(job.id).waitsFor == "lane import, which ben paused")
    #expect(try await first.job(job.id).obstacle == .paused)
    await first.drain(timeout: .seconds(10))

    let second = try house.queue(lanes: lanes)
    try await second.start()
    let night = try await second.submit(.of("noop", lane: "night"))
    #expect(try await second.whenEnded(night.id).state == .completed)
    #expect(try await second.job(job.id).state == .available)
    #expect(try await second.resume(lane: "import", by: "ben").isPaused == false)
    #expect(try await second.whenEnded(job.id).state == .completed)
    await #expect(throws: JobQueueError.unknownLane("day", known: ["import", "night"]).self) {
      do {
        _ = try await second.pause(lane: "day", by: "ben")
      } catch JobQueueError.unknownLane(let name, let known) {
        throw JobQueueError.unknownLane(name, known: known.sorted())
      }
    }
  }

  @Test("a job runs on a thread that lets others go first, as far as the environment says")
  func niceness() async throws {
    let house = try TestHouse(.inMemory)
    let seen = Mutex<Int32?>(nil)
    let look: ScriptedOperation.Script = { _ in
      seen.withLock { $0 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
      return .completed(JobProgress())
    }
    let queue = try house.queue(["look": look], niceness: 3)
    try await queue.start()
    let job = try await queue.submit(.of("look"))
    #expect(try await queue.whenEnded(job.id).state == .completed)
    #expect(try #require(seen.withLock { $0 }) >= 3)
  }

  @Test("a lane's concurrency can be changed while it runs, and outlives the daemon", arguments: StoreKind.allCases)
  func concurrency(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["slow": passing(gate)])
    try await queue.start()
    let jobs = try await (0..<6).asyncMap { _ in try await queue.submit(.of("slow")) }
    await gate.arrivals(1)
    let wide = try await queue.setConcurrency(of: "import", to: 3, by: "ben")
    #expect(wide.concurrency == 3 && wide.configuration.concurrency == 1)
    await gate.arrivals(3)
    _ = try await queue.setConcurrency(of: "import", to: 1, by: "ben")
    gate.open(2)
    _ = try await queue.counts()
    gate.open(4)
    for job in jobs { #expect(try await queue.whenEnded(job.id).state == .completed) }
    #expect(gate.most == 3)
    await #expect(throws: JobQueueError.self) { try await queue.setConcurrency(of: "import", to: 0, by: "ben") }
    _ = try await queue.setConcurrency(of: "import", to: 2, by: "ben")
    await queue.drain(timeout: .seconds(10))
    let next = try house.queue()
    try await next.start()
    #expect(try await next.laneSnapshots().first?.concurrency == 2)
    #expect(try await next.setConcurrency(of: "import", to: nil, by: "ben").concurrency == 1)
  }

  @Test(
    "no more jobs of a lane begin in a time than its rate allows, also over a restart", arguments: StoreKind.allCases)
  func rate(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let lanes = [LaneConfiguration(name: "import", concurrency: 8, rate: RateLimit(jobs: 2, period: 60))]
    let first = try house.queue(lanes: lanes)
    try await first.start()
    let jobs = try await (0..<5).asyncMap { _ in try await first.submit(.of("noop")) }
    for job in jobs.prefix(2) { _ = try await first.whenEnded(job.id) }
    house.clock.advance(by: 59)
    #expect(try await first.counts()[.completed] == 2)
    #expect(try await first.job(jobs[2].id).waitsFor?.hasPrefix("the rate of lane import, until ") == true)
    #expect(try await first.job(jobs[2].id).obstacle == .rate)
    #expect(try await first.laneSnapshots().first { $0.name == "import" }?.nextStart != nil)
    await first.drain(timeout: .seconds(10))

    let second = try house.queue(lanes: lanes)
    try await second.start()
    #expect(try await second.counts()[.completed] == 2)
    #expect(house.clock.scheduled.contains { $0 > house.clock.now })
    house.clock.advance(by: 1)
    for job in jobs[2...3] { #expect(try await second.whenEnded(job.id).state == .completed) }
    #expect(try await second.job(jobs[4].id).state == .available)
    house.clock.advance(by: 60)
    #expect(try await second.whenEnded(jobs[4].id).state == .completed)
  }
}
