import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Jobs

@Suite("A round through the queue")
struct RoundTests {
  /// What a probe has reported.
  private final class Reports: Sendable {
    let stations = Mutex<[ProbeStation]>([])
    let end = Mutex<[String]>([])

    func round(_ queue: JobQueue) async {
      await withCheckedContinuation { continuation in
        queue.round(
          arrived: { station in self.stations.withLock { $0.append(station) } },
          finished: { error in
            self.end.withLock { $0.append(error.map { "\($0)" } ?? "good") }
            continuation.resume()
          })
      }
    }
  }

  private static let lanes = [LaneConfiguration(name: "b", concurrency: 1), .init(name: "a", concurrency: 1)]

  @Test("passes the store and every lane, while jobs take all of these lanes' places", arguments: StoreKind.allCases)
  func round(_ kind: StoreKind) async throws {
    let gate = Gate()
    let house = try TestHouse(kind)
    let queue = try house.queue(["wait": passing(gate)], lanes: Self.lanes)
    try await queue.start()
    for lane in ["a", "b"] { _ = try await queue.submit(JobSubmission(kind: "wait", lane: lane, submittedBy: "test")) }
    await gate.arrivals(2)
    let reports = Reports()
    await reports.round(queue)
    #expect(reports.stations.withLock { $0 } == [.store, .lane("a"), .lane("b")])
    #expect(reports.end.withLock { $0 } == ["good"])
    gate.open(2)
    await queue.drain(timeout: .seconds(600))
  }

  private func hold(_ place: String, of queue: JobQueue, at gate: Gate) {
    if place == "store" {
      queue.ledger.queue.perform { _ in gate.pass() }
    } else {
      queue.lanes["b"]?.isSuspended = true
    }
  }

  private func letGo(_ place: String, of queue: JobQueue, at gate: Gate) {
    if place == "store" { gate.open() } else { queue.lanes["b"]?.isSuspended = false }
  }

  @Test("comes back from what hangs only when that goes on", arguments: ["store", "lane"])
  func hang(_ place: String) async throws {
    let house = try TestHouse(.inMemory)
    let queue = try house.queue(lanes: Self.lanes)
    try await queue.start()
    let gate = Gate()
    hold(place, of: queue, at: gate)
    if place == "store" { await gate.arrivals(1) }
    let reports = Reports()
    async let coming: Void = reports.round(queue)
    // What is behind it in the same line waits as well: so it has got there, and no further.
    let station = place == "store" ? ProbeStation.store : .lane("b")
    while reports.stations.withLock({ $0.last }) != station { await Task.yield() }
    #expect(reports.end.withLock { $0 } == [])
    letGo(place, of: queue, at: gate)
    await coming
    #expect(reports.end.withLock { $0 } == ["good"])
    await queue.drain(timeout: .seconds(600))
  }
}
