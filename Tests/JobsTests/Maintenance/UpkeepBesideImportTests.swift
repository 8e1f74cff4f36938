import Foundation
import GRDB
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Upkeep while an import goes on", .timeLimit(.minutes(20)))
struct UpkeepBesideImportTests {
  @Test(
    "both go through, and every row is there", arguments: ["optimise", "checkpoint", "reindex"])
  func beside(kind: String) async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 2_000)
    let load = try await queue.submit(house.people(6_000, from: 2_000, batchSize: 100))
    _ = try await queue.job(load.id) { $0.progress.records > 0 || $0.state.isEnded }
    for _ in 0..<3 {
      let end = try await queue.run(.upkeep(kind, attempts: 3))
      #expect(end.state == .completed, "\(end.reason ?? "")")
    }
    #expect(try await queue.whenEnded(load.id).state == .completed)
    #expect(try house.count() == 8_000)
    let problems = try await DatabaseQueue(path: house.file.path).read {
      try String.fetchAll($0, sql: "PRAGMA integrity_check")
    }
    #expect(problems == ["ok"])
    await queue.drain(timeout: .seconds(10))
  }
}

@Suite("Analysing, checkpoints and indexes", .timeLimit(.minutes(20)))
struct SmallUpkeepTests {
  @Test("optimise leaves counts of every index for SQLite's planner")
  func optimise() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 500)
    let end = try await queue.run(.upkeep("optimise", #"{"sample": 0}"#))
    #expect(end.state == .completed && end.progress.records > 2)
    let counts = try await DatabaseQueue(path: house.file.path).read {
      try String.fetchAll($0, sql: "SELECT stat FROM sqlite_stat1 WHERE idx = 'Person_byName'")
    }
    #expect(counts == ["500 1"])
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a checkpoint empties the log")
  func checkpoint() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 500)
    let log = house.file.path + "-wal"
    #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0 > 0)
    let end = try await queue.run(.upkeep("checkpoint"))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a checkpoint that readers keep from ending fails for now, and by mode passive does what it can")
  func busy() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 100)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: house.file.path, configuration: configuration)
    try await reader.writeWithoutTransaction { db in
      try db.beginTransaction(.deferred)
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM Person")
    }
    try await house.fill(queue, 100, from: 100)
    let end = try await queue.run(.upkeep("checkpoint", #"{"mode": "truncate", "patience": 0}"#))
    #expect(end.state == .discarded && end.failureCode == "busy", "\(end.reason ?? "")")
    let passive = try await queue.run(.upkeep("checkpoint", #"{"mode": "passive"}"#))
    #expect(passive.state == .completed && passive.progress.bytesDone < passive.progress.bytesTotal)
    try await reader.writeWithoutTransaction { try $0.rollback() }
    #expect(try await queue.run(.upkeep("checkpoint")).state == .completed)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("reindex makes an index that another program dropped, and leaves those of other entities alone")
  func reindex() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 500)
    let other = try DatabaseQueue(path: house.file.path)
    try await other.write { try $0.execute(sql: "DROP INDEX Person_byName; CREATE INDEX theirs ON Person (name)") }
    let pets = try await queue.run(.upkeep("reindex", #"{"entities": ["Pet"]}"#))
    #expect(pets.state == .completed && pets.progress.records == 1, "\(pets.reason ?? "")")
    func isThere() async throws -> Bool {
      // Asked of SQLite itself: the connection remembers what it knew of the table.
      try await other.read {
        try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master WHERE name = 'Person_byName'") == 1
      }
    }
    #expect(try await !isThere())
    #expect(try await queue.run(.upkeep("reindex")).state == .completed)
    #expect(try await isThere())
    let unknown = try await queue.run(.upkeep("reindex", #"{"entities": ["Persn"]}"#))
    #expect(unknown.state == .discarded && unknown.failureCode == "unknown_entity")
    await queue.drain(timeout: .seconds(10))
  }
}
