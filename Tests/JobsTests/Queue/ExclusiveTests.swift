import Foundation
import Testing

@testable import Jobs

@Suite("Operations that need a store to themselves", .timeLimit(.minutes(20)))
struct ExclusiveTests {
  private static let lanes = [
    LaneConfiguration(name: "import", concurrency: 3), LaneConfiguration(name: "maintenance", concurrency: 1),
  ]

  private func job(_ kind: String, in store: String, lane: String = "import") -> JobSubmission {
    .of(kind, lane: lane).with { $0.store = store }
  }

  /// An operation of a program's own, which isn't one of the library's kinds.
  private final class Replacing: JobOperation, @unchecked Sendable {
    override class var access: StoreAccess { .exclusive }
    override class var replacesContent: Bool { true }
  }

  @Test("the class of an operation says whether it needs its store to itself, and whether it replaces the content")
  func declared() {
    var catalogue = OperationCatalogue.standard
    #expect(
      catalogue.kinds.filter { catalogue.access(of: $0) == .exclusive } == ["migrate", "restore", "revert", "vacuum"])
    #expect(catalogue.kinds.filter { catalogue.replacesContent($0) } == ["migrate", "restore", "revert"])
    catalogue.add("swap", Replacing.self)
    #expect(catalogue.access(of: "swap") == .exclusive && catalogue.replacesContent("swap"))
    #expect(!catalogue.replacesContent("unknown"))
  }

  @Test(
    "it begins when what runs there has ended, nothing else begins before it, and those that wait say for what",
    arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let (imports, vacuums) = (Gate(), Gate())
    let inside = Shared<String>()
    let queue = try house.queue(
      [
        "load": { operation in
          inside.append("load \(operation.job.store ?? "")")
          imports.pass()
          return .completed(JobProgress())
        }
      ],
      exclusive: [
        "vacuum": { _ in
          inside.append("vacuum")
          vacuums.pass()
          return .completed(JobProgress())
        }
      ], lanes: Self.lanes)
    try await queue.start()
    let running = try await queue.submit(job("load", in: "main"))
    await imports.arrivals(1)
    let vacuum = try await queue.submit(job("vacuum", in: "main", lane: "maintenance"))
    let behind = try await queue.submit(job("load", in: "main"))
    let elsewhere = try await queue.submit(job("load", in: "other"))
    await imports.arrivals(2)
    #expect(inside.all == ["load main", "load other"])
    #expect(try await queue.job(vacuum.id).waitsFor == "store main, in which a job runs")
    #expect(
      try await queue.job(behind.id).waitsFor == "store main, which job \(vacuum.id) (vacuum) is to have alone")
    imports.open(2)
    await vacuums.arrivals(1)
    #expect(try await queue.whenEnded(running.id).state == .completed)
    #expect(try await queue.whenEnded(elsewhere.id).state == .completed)
    #expect(try await queue.job(behind.id).state == .available)
    #expect(
      try await queue.job(behind.id).waitsFor == "store main, which job \(vacuum.id) (vacuum) has alone")
    // A lane isn't blocked by what waits in it.
    let further = try await queue.submit(job("load", in: "other"))
    await imports.arrivals(3)
    vacuums.open()
    await imports.arrivals(4)
    imports.open(2)
    for id in [vacuum.id, behind.id, further.id] { #expect(try await queue.whenEnded(id).state == .completed) }
  }

  @Test("when it is cancelled before it begins, the others go on", arguments: StoreKind.allCases)
  func cancelled(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let gate = Gate()
    let queue = try house.queue(["load": passing(gate)], exclusive: ["vacuum": passing()], lanes: Self.lanes)
    try await queue.start()
    _ = try await queue.submit(job("load", in: "main"))
    await gate.arrivals(1)
    let vacuum = try await queue.submit(job("vacuum", in: "main", lane: "maintenance"))
    let behind = try await queue.submit(job("load", in: "main"))
    #expect(try await queue.job(behind.id).state == .available)
    _ = try await queue.cancel(vacuum.id, by: "ben")
    await gate.arrivals(2)
    gate.open(2)
    #expect(try await queue.whenEnded(behind.id).state == .completed)
  }

  @Test("many of both kinds never meet", arguments: StoreKind.allCases)
  func mixture(_ kind: StoreKind) async throws {
    let house = try TestHouse(kind)
    let watch = Occupancy()
    let queue = try house.queue(
      ["load": { _ in watch.visit(alone: false) }], exclusive: ["vacuum": { _ in watch.visit(alone: true) }],
      lanes: [.init(name: "import", concurrency: 4), .init(name: "maintenance", concurrency: 2)])
    try await queue.start()
    var jobs: [Job] = []
    for number in 0..<60 {
      let lane = number % 3 == 0 ? "maintenance" : "import"
      jobs.append(try await queue.submit(job(number % 5 == 0 ? "vacuum" : "load", in: "main", lane: lane)))
    }
    for job in jobs { #expect(try await queue.whenEnded(job.id).state == .completed) }
    #expect(watch.meetings == 0)
  }
}

/// Counts who is in a store at a time.
private final class Occupancy: @unchecked Sendable {
  // Sendable: all state is under the lock.
  private let lock = NSLock()
  private var sharing = 0
  private var alone = 0
  private var met = 0

  func visit(alone isAlone: Bool) -> JobOutcome {
    lock.withLock {
      if isAlone { alone += 1 } else { sharing += 1 }
      if alone > 1 || (alone == 1 && sharing > 0) { met += 1 }
    }
    sched_yield()
    lock.withLock {
      if alone > 1 || (alone == 1 && sharing > 0) { met += 1 }
      if isAlone { alone -= 1 } else { sharing -= 1 }
    }
    return .completed(JobProgress())
  }

  var meetings: Int { lock.withLock { met } }
}
