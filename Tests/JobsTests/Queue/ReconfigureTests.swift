import Foundation
import Testing

@testable import Jobs

@Suite("A queue that is reconfigured while it runs", .timeLimit(.minutes(20)))
struct ReconfigureTests {
  private static func configuration(
    lanes: [LaneConfiguration] = [.init(name: "import", concurrency: 1)], schedules: [JobSchedule] = [],
    retention: JobRetention = .init(), backoff: Backoff = Backoff(first: 10, longest: 60, spread: 0.5)
  ) -> JobQueueConfiguration {
    JobQueueConfiguration(lanes: lanes, schedules: schedules, retention: retention, backoff: backoff)
  }

  @Test(
    "lets as many jobs of a lane run as it says then, and doesn't touch those that do", arguments: StoreKind.allCases)
  func concurrency(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["slow": passing(gate)])
    try await queue.start()
    let jobs = try await (0..<6).asyncMap { _ in try await queue.submit(.of("slow")) }
    await gate.arrivals(1)
    try await queue.reconfigure(Self.configuration(lanes: [.init(name: "import", concurrency: 3)]))
    await gate.arrivals(3)
    try await queue.reconfigure(Self.configuration())
    #expect(try await queue.laneSnapshots().map(\.configuration.concurrency) == [1])
    gate.open(6)
    for job in jobs {
      let ended = try await queue.whenEnded(job.id)
      #expect(ended.state == .completed && ended.attempt == 1)
    }
    #expect(gate.most == 3)
  }

  @Test("leaves a lane as it was set, whatever the configuration says", arguments: StoreKind.allCases)
  func settings(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue()
    try await queue.start()
    _ = try await queue.setConcurrency(of: "import", to: 5, by: "ben")
    _ = try await queue.pause(lane: "import", by: "ben")
    try await queue.reconfigure(Self.configuration(lanes: [.init(name: "import", concurrency: 2)]))
    let lane = try #require(try await queue.laneSnapshots().first)
    #expect(lane.concurrency == 5 && lane.configuration.concurrency == 2 && lane.isPaused)
    _ = try await queue.setConcurrency(of: "import", to: nil, by: "ben")
    #expect(try await queue.laneSnapshots().first?.concurrency == 2)
  }

  @Test("has new lanes immediately, and drops lanes without unfinished jobs", arguments: StoreKind.allCases)
  func lanes(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["slow": passing(gate)])
    try await queue.start()
    await #expect(throws: JobQueueError.self) { try await queue.submit(.of("slow", lane: "bulk")) }
    let both = Self.configuration(lanes: [.init(name: "import", concurrency: 1), .init(name: "bulk", concurrency: 1)])
    try await queue.reconfigure(both)
    let job = try await queue.submit(.of("slow", lane: "bulk"))
    let waiting = try await queue.submit(.of("slow", lane: "bulk"))
    await gate.arrivals(1)
    #expect(try await queue.counts().lanes["bulk"]?[.running] == 1)
    await #expect(throws: JobQueueError.lanesInUse(["bulk": 2])) { try await queue.reconfigure(Self.configuration()) }
    #expect(try await queue.laneSnapshots().map(\.name) == ["bulk", "import"])
    gate.open(2)
    for id in [job.id, waiting.id] { #expect(try await queue.whenEnded(id).state == .completed) }
    try await queue.reconfigure(Self.configuration())
    #expect(try await queue.laneSnapshots().map(\.name) == ["import"])
    #expect(try await queue.counts()[.completed] == 2)
    await #expect(throws: JobQueueError.unknownLane("bulk", known: ["import"])) {
      try await queue.submit(.of("slow", lane: "bulk"))
    }
    // It is there again with what it was set to.
    try await queue.reconfigure(both)
    #expect(try await queue.counts().lanes["bulk"]?[.completed] == 2)
  }

  @Test("takes no job into a lane that went while it waited in line", arguments: StoreKind.allCases)
  func late(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let both = [LaneConfiguration(name: "import", concurrency: 1), .init(name: "bulk", concurrency: 1)]
    let queue = try house.queue(lanes: both)
    try await queue.start()
    try await queue.reconfigure(Self.configuration())
    // It was looked at, as a job that may be, before that.
    let late = JobSubmission.of("noop", lane: "bulk")
    await #expect(throws: JobQueueError.unknownLane("bulk", known: ["import"])) {
      let receipt: SubmittedJob = try await queue.ledger.submit(late)
      Issue.record("\(receipt)")
    }
    let answers: [JobAnswer] = try await queue.ledger.submit([.of("noop"), late])
    #expect(answers.last == .refused(.unknownLane("bulk", known: ["import"])) && answers.first?.isNew == true)
    if let made = answers.first { _ = try await queue.whenEnded(made.number) }
    #expect(try await queue.counts()[.available] == 0)
  }

  @Test("makes the jobs of new schedules, and none of those that are gone", arguments: StoreKind.allCases)
  func schedules(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let queue = try house.queue(schedules: [try ScheduleTests.schedule("22:20") { $0.name = "old" }])
    try await queue.start()
    let new = try ScheduleTests.schedule("22:30") { $0.name = "new" }
    try await queue.reconfigure(Self.configuration(schedules: [new]))
    let time = try ScheduleTests.date("2023-11-14T22:30:00")
    #expect(try await queue.schedules().map(\.name) == ["new"])
    #expect(try await queue.schedules().first?.nextAt == time)
    house.clock.set(to: time)
    #expect(try await ScheduleTests.ended(queue).map(\.submittedBy) == ["schedule new"])
    // As it is, it goes on from where it was.
    try await queue.reconfigure(Self.configuration(schedules: [new]))
    #expect(try await queue.schedules().first?.lastAt == time)
    #expect(try await ScheduleTests.ended(queue).count == 1)
  }

  @Test("changes nothing where anything is wrong, also where the store fails", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let old = try ScheduleTests.schedule("22:20") { $0.name = "old" }
    let queue = try house.queue(schedules: [old])
    try await queue.start()
    let lanes = [LaneConfiguration(name: "import", concurrency: 2), .init(name: "bulk", concurrency: 1)]
    let wrong = try ScheduleTests.schedule("22:30", kind: "nothing")
    let elsewhere = try ScheduleTests.schedule("22:30") { $0.submission.lane = "nowhere" }
    let good = try ScheduleTests.schedule("22:30") { $0.submission.lane = "bulk" }
    for configuration in [
      Self.configuration(lanes: lanes, schedules: [wrong]), Self.configuration(lanes: lanes, schedules: [elsewhere]),
      Self.configuration(lanes: [.init(name: "import", concurrency: 0)], schedules: [good]),
      Self.configuration(lanes: []),
    ] {
      await #expect(throws: JobQueueError.self) {
        try await queue.reconfigure(configuration) { Issue.record("it must not be applied") }
      }
    }
    house.faults.isFailing = true
    await #expect(throws: (any Error).self) {
      try await queue.reconfigure(Self.configuration(lanes: lanes, schedules: [good])) {
        Issue.record("it must not be applied")
      }
    }
    house.faults.isFailing = false
    #expect(try await queue.laneSnapshots().map(\.name) == ["import"])
    #expect(try await queue.laneSnapshots().first?.configuration.concurrency == 1)
    #expect(try await queue.schedules().map(\.name) == ["old"])
    try await queue.reconfigure(Self.configuration(lanes: lanes, schedules: [good]))
    #expect(try await queue.schedules().map(\.name) == ["nightly"])
  }

  @Test("waits after a failure and keeps what has ended as it says then", arguments: StoreKind.allCases)
  func backoffAndRetention(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let failing: ScriptedOperation.Script = { _ in
      .failed(JobFailure(code: "busy", message: "not now", isRetryable: true), JobProgress())
    }
    let queue = try house.queue(["failing": failing])
    try await queue.start()
    let done = try await (0..<5).asyncMap { _ in try await queue.submit(.of("noop")) }
    for job in done { _ = try await queue.whenEnded(job.id) }
    try await queue.reconfigure(
      Self.configuration(retention: JobRetention(count: 2), backoff: Backoff(first: 1000, longest: 1000, spread: 0)))
    let job = try await queue.submit(.of("failing"))
    let retried = try await queue.job(job.id, when: .retryable)
    #expect(abs((retried.availableAt?.timeIntervalSince(house.clock.now) ?? 0) - 1000) < 0.01)
    while try await queue.counts()[.completed] > 2 { await queue.ledger.queue.perform { _ in } }
    #expect(try await queue.counts()[.completed] == 2)
  }
}
