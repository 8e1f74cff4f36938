import ControlAPI
import Dispatch
import Foundation
import Jobs
import Logging
import ManagedObjects
import Spool
import Synchronization
import Testing

@testable import LadeDaemon

@Suite("Health and readiness")
struct HealthProbeTests {
  private func queue() throws -> JobQueue {
    let coordinator = PersistentStoreCoordinator(model: QueueModel.model)
    try coordinator.addPersistentStore(.inMemory())
    let folder = FileManager.default.temporaryDirectory
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return try JobQueue(
      coordinator: coordinator, lanes: [.init(name: "b", concurrency: 1), .init(name: "a", concurrency: 1)],
      operations: OperationCatalogue(),
      environment: JobEnvironment(dataStores: [:], activeDirectory: folder, rejectsDirectory: folder, logger: logger),
      logger: logger)
  }

  private static let stations: Set = ["queue_store", "lane:a", "lane:b", "main_queue"]

  @Test("every station is reported when the probe comes back")
  func pass() async throws {
    let probe = HealthProbe(LivenessProbe(try queue()), limit: .seconds(600))
    for _ in 0..<2 {
      let health = await probe.check()
      #expect(health.status == .pass && health.output == nil)
      #expect(Set(health.checks.keys) == Self.stations)
      #expect(health.checks.values.allSatisfy { $0 == [.init(.pass)] })
    }
  }

  @Test("a main queue that hangs is named when the time is up, by all who asked, and passes when it goes on")
  func hang() async throws {
    // In its place one that the test may hold.
    let main = DispatchQueue(label: "main")
    let gate = DispatchSemaphore(value: 0)
    main.async { gate.wait() }
    let probe = HealthProbe(LivenessProbe(try queue(), last: main), limit: .milliseconds(300))
    async let (first, second) = (probe.check(), probe.check())
    for health in await [first, second] {
      #expect(health.status == .fail)
      #expect(health.checks["main_queue"]?.first?.status == .fail)
      #expect(health.output?.hasPrefix("the main queue: no answer for ") == true, "\(health)")
      #expect(health.checks["lane:b"] == [.init(.pass)])
    }
    // A round that is late isn't waited for any more.
    #expect(await probe.check().status == .fail)
    gate.signal()
    await withCheckedContinuation { continuation in main.async { continuation.resume() } }
    let health = await probe.check()
    #expect(health.status == .pass && Set(health.checks.keys) == Self.stations)
  }

  @Test("those who ask at the same time share a round")
  func shared() async throws {
    let main = DispatchQueue(label: "main")
    let gate = DispatchSemaphore(value: 0)
    main.async { gate.wait() }
    let rounds = LivenessProbe(try queue(), last: main)
    let probe = HealthProbe(rounds, limit: .seconds(600))
    async let answers = withTaskGroup(of: Health.self) { group in
      for _ in 0..<20 { group.addTask { await probe.check() } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    while rounds.underWay?.station != "the main queue" { await Task.yield() }
    // No other begins in the meantime.
    let isBegun = Mutex(false)
    rounds.begin { _, _ in isBegun.withLock { $0 = true } }
    gate.signal()
    #expect(await answers.map(\.status) == [Health.Status](repeating: .pass, count: 20))
    #expect(!isBegun.withLock { $0 })
  }

  @Test("the worst of the checks is the answer, and says what is wrong")
  func worst() {
    let health = Health(version: "1", checks: ["b": .init(.warn, "late"), "a": .init(.pass)])
    #expect((health.status, health.output) == (.warn, "b: late"))
    let bad = Health(version: "1", checks: ["b": .init(.warn, "late"), "a": .init(.fail, "gone")])
    #expect((bad.status, bad.output) == (.fail, "a: gone; b: late"))
  }

  @Test("a spool from which nothing can be taken isn't ready; one that is only polled is, with a warning")
  func spool() {
    var status = SpoolStatus()
    #expect(Readiness.check(status) == .init(.pass))
    status.eventTrouble = "no inotify"
    #expect(Readiness.check(status) == .init(.warn, "what comes is found late: no inotify"))
    status.obstacle = "it is read-only"
    #expect(Readiness.check(status) == .init(.fail, "it is read-only"))
  }
}
