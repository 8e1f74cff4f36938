import Foundation
import Testing

@testable import Jobs

@Suite("Claiming", .timeLimit(.minutes(20)))
struct ClaimTests {
  @Test("jobs run by priority, and in the order of their submission within one", arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let ran = Shared<Int64>()
    let queue = try house.queue([
      "note": {
        ran.append($0.job.id); return .completed(JobProgress())
      }
    ])
    var jobs: [Job] = []
    for priority in [0, 5, -3, 5, 0, 9, -3, 0] { jobs.append(try await queue.submit(.of("note", priority: priority))) }
    try await queue.start()
    for job in jobs { _ = try await queue.whenEnded(job.id) }
    #expect(ran.all == jobs.sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }.map(\.id))
  }

  @Test("a lane runs no more at a time than it may, and lanes don't wait for each other", arguments: StoreKind.allCases)
  func concurrency(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let slow = Gate()
    let queue = try house.queue(
      [
        "slow": { _ in
          slow.pass(); return .completed(JobProgress())
        }
      ],
      lanes: [.init(name: "import", concurrency: 2), .init(name: "maintenance", concurrency: 1)])
    try await queue.start()
    var jobs: [Job] = []
    for _ in 0..<6 { jobs.append(try await queue.submit(.of("slow"))) }
    let other = try await queue.submit(.of("noop", lane: "maintenance"))
    await slow.arrivals(2)
    #expect(try await queue.whenEnded(other.id).state == .completed)
    #expect(try await queue.counts()[.running] == 2)
    #expect(try await queue.counts().lanes["import"]?[.available] == 4)
    slow.open(6)
    for job in jobs { #expect(try await queue.whenEnded(job.id).state == .completed) }
    #expect(slow.most == 2)
    #expect(
      try await queue.counts().lanes.filter { $0.key != LaneConfiguration.changesName } == [
        "import": [.completed: 6, .available: 0, .running: 0],
        "maintenance": [.completed: 1, .available: 0, .running: 0],
      ])
  }

  @Test("as many jobs run at a time as a lane may, also when they block", arguments: StoreKind.allCases)
  func blocking(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let number = 4 * ProcessInfo.processInfo.activeProcessorCount
    let queue = try house.queue(
      [
        "block": { _ in
          gate.pass(); return .completed(JobProgress())
        }
      ],
      lanes: [.init(name: "import", concurrency: number)])
    try await queue.start()
    var jobs: [Job] = []
    for _ in 0..<number { jobs.append(try await queue.submit(.of("block"))) }
    await gate.arrivals(number)
    gate.open(number)
    for job in jobs { #expect(try await queue.whenEnded(job.id).state == .completed) }
  }

  @Test("a job that comes later with a higher priority overtakes those that wait", arguments: StoreKind.allCases)
  func overtaking(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let ran = Shared<Int64>()
    let queue = try house.queue([
      "step": {
        ran.append($0.job.id); gate.pass(); return .completed(JobProgress())
      }
    ])
    try await queue.start()
    let first = try await queue.submit(.of("step"))
    await gate.arrivals(1)
    let second = try await queue.submit(.of("step"))
    let urgent = try await queue.submit(.of("step", priority: 10))
    gate.open(3)
    for job in [first, second, urgent] { _ = try await queue.whenEnded(job.id) }
    #expect(ran.all == [first.id, urgent.id, second.id])
  }

  @Test("a job whose kind isn't known any more fails with that reason", arguments: StoreKind.allCases)
  func forgottenKind(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let old = try await house.queue(["vacuum": { _ in .completed(JobProgress()) }]).submit(.of("vacuum"))
    let queue = try house.queue()
    try await queue.start()
    let job = try await queue.whenEnded(old.id)
    #expect(job.state == .discarded && job.failureCode == "unknown_kind")
    #expect(job.reason == "no operation is known for jobs of the kind vacuum")
  }

  @Test("jobs of a lane that isn't configured any more wait and are counted apart", arguments: StoreKind.allCases)
  func forgottenLane(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let old = try house.queue(lanes: [.init(name: "night", concurrency: 1)])
    let job = try await old.submit(.of("noop", lane: "night"))
    let queue = try house.queue()
    try await queue.start()
    #expect(try await queue.counts().other == [.available: 1])
    #expect(try await queue.job(job.id).state == .available)
    #expect(try await queue.cancel(job.id, by: "ben").state == .cancelled)
    #expect(try await queue.counts().other == [.available: 0, .cancelled: 1])
  }

  @Test("lanes that can't be are refused")
  func badLanes() throws {
    let house = try TestHouse(.inMemory)
    let bad: [[LaneConfiguration]] = [
      [], [.init(name: "a", concurrency: 0)], [.init(name: "a", concurrency: 1), .init(name: "a", concurrency: 2)],
    ]
    for lanes in bad { #expect(throws: JobQueueError.self) { try house.queue(lanes: lanes) } }
  }
}
