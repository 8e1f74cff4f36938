import Foundation
import Testing

@testable import Jobs

@Suite("A clock that is set", .timeLimit(.minutes(20)))
struct ClockTests {
  private static let failing: ScriptedOperation.Script = { operation in
    if operation.job.attempt < 2 { throw JobFailure(code: "busy", message: "not now", isRetryable: true) }
    return .completed(JobProgress())
  }

  /// A job that waits for its second attempt, ten seconds long.
  private static func waiting(_ queue: JobQueue) async throws -> Int64 {
    let id = try await queue.submit(.of("failing")).id
    _ = try await queue.job(id, when: .retryable)
    return id
  }

  private static func setBack(_ house: TestHouse, by seconds: TimeInterval) {
    house.clock.set(to: house.clock.now.addingTimeInterval(-seconds))
  }

  @Test(
    "back has a retry wait no longer than it would have to, whether a process runs then or not",
    arguments: [true, false])
  func retries(isRunning: Bool) async throws {
    let house = try TestHouse(.sqlite)
    let first = try house.queue(["failing": Self.failing])
    try await first.start()
    let id = try await Self.waiting(first)
    if isRunning {
      // Within the spread of the wait, which is left as it is.
      Self.setBack(house, by: 2)
      first.checkClock()
      #expect(try await first.job(id, when: .retryable).attempt == 1)
      Self.setBack(house, by: 86_400)
      first.checkClock()
      #expect(try await first.whenEnded(id).state == .completed)
      #expect(try await first.reasons(id).contains("the clock was set back, and it waits no longer"))
      return
    }
    await first.drain(timeout: .seconds(10))
    Self.setBack(house, by: 86_400)
    let second = try house.queue(["failing": Self.failing])
    try await second.start()
    #expect(try await second.whenEnded(id).state == .completed)
  }

  @Test("back leaves a job that is to begin at a time of the day until then")
  func startTimes() async throws {
    let house = try TestHouse(.inMemory)
    let queue = try house.queue()
    try await queue.start()
    let time = house.clock.now.addingTimeInterval(10)
    let id = try await queue.submit(.of("noop").with { $0.notBefore = time }).id
    Self.setBack(house, by: 86_400)
    queue.checkClock()
    #expect(try await queue.job(id, when: .scheduled).availableAt == time.asStored)
    house.clock.set(to: time)
    #expect(try await queue.whenEnded(id).state == .completed)
  }

  @Test("back has no lane wait for starts that are in the future then", arguments: [true, false])
  func rates(isRunning: Bool) async throws {
    let house = try TestHouse(.sqlite)
    let lanes = [LaneConfiguration(name: "import", concurrency: 1, rate: RateLimit(jobs: 1, period: 60))]
    let first = try house.queue(lanes: lanes)
    try await first.start()
    let jobs = try await (0..<2).asyncMap { _ in try await first.submit(.of("noop")) }
    _ = try await first.whenEnded(jobs[0].id)
    if isRunning {
      Self.setBack(house, by: 86_400)
      first.checkClock()
      #expect(try await first.whenEnded(jobs[1].id).state == .completed)
      return
    }
    await first.drain(timeout: .seconds(10))
    Self.setBack(house, by: 86_400)
    let second = try house.queue(lanes: lanes)
    try await second.start()
    #expect(try await second.whenEnded(jobs[1].id).state == .completed)
  }

  @Test("back by days has schedules go on from there, without a job that ends or comes")
  func schedules() async throws {
    let house = try TestHouse(.inMemory)
    let queue = try house.queue(schedules: [try ScheduleTests.schedule("22:20")])
    try await queue.start()
    house.clock.set(to: try ScheduleTests.date("2023-11-20T12:00:00"))
    Self.setBack(house, by: 4 * 86_400)
    queue.checkClock()
    _ = try await queue.counts()
    await queue.ledger.queue.perform { _ in }
    #expect(house.clock.scheduled == [try ScheduleTests.date("2023-11-16T22:20:00")])
  }

  @Test("forward or back changes nothing about how long an attempt may take", arguments: [3600.0, -3600])
  func timeouts(step: TimeInterval) async throws {
    let house = try TestHouse(.inMemory)
    let gate = Gate()
    let queue = try house.queue([
      "work": { operation in
        gate.pass()
        while !operation.isCancelled { sched_yield() }
        return .cancelled(JobProgress())
      }
    ])
    try await queue.start()
    let id = try await queue.submit(
      .of("work").with {
        $0.timeout = 30
        $0.maxAttempts = 1
      }
    ).id
    gate.open()
    await gate.arrivals(1)
    house.clock.set(to: house.clock.now.addingTimeInterval(step))
    queue.checkClock()
    house.clock.advance(by: 29)
    await queue.ledger.queue.perform { _ in }
    #expect(try await queue.job(id).state == .running)
    house.clock.advance(by: 1)
    let end = try await queue.whenEnded(id)
    #expect(end.state == .discarded && end.failureCode == "timeout")
  }

  @Test("is told from one that runs a little fast or slow, and from a process that was stopped")
  func steps() {
    let house = ManualClock()
    let steps = ClockSteps(house.clock)
    house.advance(by: 3600)
    #expect(steps.take() == nil)
    house.set(to: house.now.addingTimeInterval(0.5))
    #expect(steps.take() == nil)
    house.set(to: house.now.addingTimeInterval(-60))
    #expect(abs((steps.take() ?? 0) + 60) < 0.001)
    #expect(steps.take() == nil)
    // Stopped for a minute between the two looks.
    var clock = house.clock
    let stops = Shared<Bool>()
    clock.now = {
      stops.append(true)
      if stops.all.count == 2 { house.advance(by: 60) }
      return house.now
    }
    let stopped = ClockSteps(clock)
    #expect(stopped.take() == nil)
  }
}
