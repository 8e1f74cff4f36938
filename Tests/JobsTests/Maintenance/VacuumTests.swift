import Foundation
import GRDB
import ManagedObjects
import Synchronization
import TestSupport
import Testing

@testable import Jobs

@Suite("Vacuuming a store", .timeLimit(.minutes(20)))
struct VacuumTests {
  /// A house whose file is mostly free pages.
  private func emptied(_ queue: JobQueue, _ house: UpkeepHouse) async throws {
    try await house.fill(queue, 8_000)
    try house.withContext { context in
      let request = BatchDeleteRequest(
        fetchRequest: FetchRequest<ManagedObject>(
          entityName: "Person", predicate: try FetchPredicate(format: "number >= 100 AND number < 8000")))
      _ = try context.execute(request)
    }
  }

  private func number(_ house: UpkeepHouse, _ pragma: String) throws -> Int {
    try DatabaseQueue(path: house.file.path).read { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") ?? -1 }
  }

  @Test("gives free pages back, and says how many bytes that are")
  func whole() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await emptied(queue, house)
    #expect(try number(house, "freelist_count") > 100)
    let end = try await queue.run(.upkeep("vacuum"))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    #expect(end.note?.contains(" before, ") == true && end.progress.bytesDone > 400_000)
    #expect(try number(house, "freelist_count") == 0)
    #expect(try house.count() == 100)
    let size = try FileManager.default.attributesOfItem(atPath: house.file.path)[.size] as? Int
    #expect(try #require(size) < 200_000, "what is in the log is in the file, too")
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a few pages at a time only once the file is prepared for it, and no more than asked for")
  func incremental() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 10)
    let refused = try await queue.run(.upkeep("vacuum", #"{"incremental": true}"#))
    #expect(refused.state == .discarded && refused.failureCode == "not_incremental")
    #expect(refused.reason?.contains("prepare_incremental") == true, "\(refused.reason ?? "")")
    #expect(try await queue.run(.upkeep("vacuum", #"{"prepare_incremental": true}"#)).state == .completed)
    #expect(try number(house, "auto_vacuum") == 2)
    try await house.fill(queue, 8_000, from: 10)
    try house.withContext { context in
      _ = try context.execute(
        BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Person")))
    }
    let free = try number(house, "freelist_count")
    #expect(free > 100)
    let part = try await queue.run(.upkeep("vacuum", #"{"incremental": true, "pages": 30, "step": 7}"#))
    #expect(part.state == .completed, "\(part.reason ?? "")")
    #expect(try number(house, "freelist_count") == free - 30)
    #expect(try await queue.run(.upkeep("vacuum", #"{"incremental": true}"#)).state == .completed)
    #expect(try number(house, "freelist_count") == 0)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a cancelled one leaves the file as it was, and the next goes through")
  func cancelled() async throws {
    let house = try UpkeepHouse()
    let gate = Gate()
    let queue = try await house.queue([
      "slow": { operation in
        let store = try operation.maintainedStore()
        return try operation.watched { watch in
          let looks = Atomic<Int>(0)
          _ = try store.maintenance.compact(
            .whole(),
            MaintenanceWatch(
              shouldStop: {
                // In the midst of the statement: the first look is before it.
                if looks.add(1, ordering: .relaxed).oldValue > 0 { gate.pass() }
                return watch.shouldStop()
              }, report: watch.report))
          return .completed(JobProgress())
        }
      }
    ])
    // So many that SQLite looks up from them.
    try await house.fill(queue, 20_000, from: 10_000)
    try await emptied(queue, house)
    let free = try number(house, "freelist_count")
    #expect(free > 0)
    let job = try await queue.submit(.upkeep("slow"))
    await gate.arrivals(1)
    _ = try await queue.cancel(job.id, by: "root")
    gate.open(1000)
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
    #expect(try number(house, "freelist_count") == free)
    #expect(try house.count() == 20_100)
    #expect(try await queue.run(.upkeep("vacuum")).state == .completed)
    #expect(try number(house, "freelist_count") == 0)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("fails with that reason on a full disk, and the store is as it was", .enabled(if: SmallDisk.isPossible))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 16 << 20)
    let house = try UpkeepHouse(on: disk)
    let queue = try await house.queue()
    try await house.fill(queue, 5_000)
    #expect(try await queue.run(.upkeep("checkpoint")).state == .completed)
    try disk.fill(leaving: 200_000)
    let end = try await queue.run(.upkeep("vacuum"))
    #expect(end.state == .discarded && end.failureCode == "disk_full", "\(end.failureCode ?? "") \(end.reason ?? "")")
    try disk.free()
    #expect(try house.count() == 5_000)
    #expect(try await queue.run(.upkeep("vacuum")).state == .completed)
    #expect(try await queue.run(.upkeep("check")).state == .completed)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("takes the store alone")
  func access() {
    #expect(VacuumOperation.access == .exclusive)
    #expect(OptimiseOperation.access == .shared && CheckpointOperation.access == .shared)
    #expect(ReindexOperation.access == .shared)
  }
}
