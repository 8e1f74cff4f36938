import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@testable import Jobs

@Suite("Backing up a store", .timeLimit(.minutes(20)))
struct BackupTests {
  /// What a backup holds: how many people, and how many of them the import's checkpoint knows.
  private func content(_ house: UpkeepHouse, _ name: String) throws -> (people: Int, noted: Int?) {
    let plain = house.path("look-\(UUID().uuidString).sqlite")
    try BackupPacking.unpack(house.path("backups/\(name)"), of: SQLiteStore.copyForm, into: plain, MaintenanceWatch())
    return try DatabaseQueue(path: plain.path).read { db in
      #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
      #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete")
      return (
        try Int.fetchOne(db, sql: "SELECT count(*) FROM Person") ?? -1,
        try Int.fetchOne(db, sql: "SELECT inserted FROM _lade_checkpoint")
      )
    }
  }

  @Test(
    "is one file that any SQLite opens, once it is unpacked",
    arguments: [("none", ""), ("gzip", ".gz"), ("zstd", ".zst")])
  func forms(_ compression: String, _ ending: String) async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 1_000)
    let end = try await queue.run(.upkeep("backup", #"{"compress": "\#(compression)"}"#))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    let names = try house.names(in: "backups")
    #expect(names.count == 1, "\(names)")
    let name = try #require(names.first)
    #expect(name.wholeMatch(of: /main-\d{4}-\d\d-\d\dT\d{6}Z-job\d+\.sqlite(|\.gz|\.zst)/) != nil, "\(name)")
    #expect(name.hasSuffix(".sqlite" + ending) && end.note?.contains(name) == true)
    #expect(try content(house, name).people == 1_000)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("taken while an import writes, each is one state: as many rows as its checkpoint says")
  func duringWrites() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue(environment: { $0.upkeep["main"]?.keptBackups = 10 })
    let load = try await queue.submit(house.people(8_000, batchSize: 100))
    _ = try await queue.job(load.id) { $0.progress.records > 0 || $0.state.isEnded }
    var seen: [Int] = []
    for _ in 0..<4 {
      let end = try await queue.run(.upkeep("backup", #"{"compress": "none"}"#))
      #expect(end.state == .completed, "\(end.reason ?? "")")
      let name = try #require(try house.names(in: "backups").last { $0.contains("-job\(end.id).") })
      let (people, noted) = try content(house, name)
      // The checkpoint goes once the job has ended.
      #expect(noted == people || (noted == nil && people == 8_000), "\(people) \(noted ?? -1)")
      seen.append(people)
    }
    #expect(seen == seen.sorted())
    #expect(try await queue.whenEnded(load.id).state == .completed)
    #expect(try house.count() == 8_000)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("only the newest are kept, and nothing else in the folder is touched")
  func rotation() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 10)
    let others = [
      "main-notes.txt", "other-2020-01-01T000000Z-job1.sqlite", "main-2020-01-01T000000Z-job1.sqlite.bak",
      "main-2020-13-01T000000Z-job1.sqlite",
    ]
    for name in others + ["main-2020-01-01T000000Z-job1.sqlite", "main-2020-01-01T000000Z-job2.sqlite.gz"] {
      try Data("x".utf8).write(to: house.path("backups/\(name)"))
    }
    let first = try await queue.run(.upkeep("backup"))
    #expect(first.note?.contains("removed") == false, "three are kept: \(first.note ?? "")")
    let second = try await queue.run(.upkeep("backup"))
    #expect(second.note?.contains("removed main-2020-01-01T000000Z-job1.sqlite") == true)
    #expect(try house.names(in: "backups").count == others.count + 3)
    _ = try await queue.run(.upkeep("backup", #"{"keep": 1}"#))
    let left = try house.names(in: "backups")
    #expect(left.count == others.count + 1 && Set(others).isSubset(of: left), "\(left)")
    await queue.drain(timeout: .seconds(10))
  }

  @Test(
    "a cancelled one leaves nothing behind, wherever it was", arguments: ["copying", "verifying", "packing"])
  func cancelled(phase: String) async throws {
    let house = try UpkeepHouse()
    let gate = Gate()
    let queue = try await house.queue(hearing: "backup") { if $0.phase == phase { gate.pass() } }
    try await house.fill(queue, 5_000)
    let job = try await queue.submit(.upkeep("backup"))
    await gate.arrivals(1)
    _ = try await queue.cancel(job.id, by: "root")
    gate.open(1000)
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
    #expect(try house.names(in: "backups") == [])
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    #expect(try house.names(in: "backups").count == 1)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("what a killed job left is taken away by the next, unless its process still works on it")
  func abandoned() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 10)
    let folder = house.path("backups/.job-77.tmp")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try Data(count: 10).write(to: folder.appendingPathComponent("copy.sqlite"))
    let working = try JobWorkspace(job: 78, in: house.path("backups"))
    #expect(try house.names(in: "backups") == [".job-78.tmp"])
    try Data(count: 10).write(to: working.file("copy.sqlite"))
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    #expect(try house.names(in: "backups").first == ".job-78.tmp")
    #expect(throws: JobFailure.self) { try JobWorkspace(job: 78, in: house.path("backups")) }
    withExtendedLifetime(working) {}
    await queue.drain(timeout: .seconds(10))
  }

  @Test("that had its name when its job was killed is the one, and what was left beside it is taken away")
  func madeBefore() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 10)
    #expect(try await queue.run(.upkeep("backup")).state == .completed)
    let first = try #require(try house.names(in: "backups").first)
    let compression = try #require(BackupName(first, of: "main", SQLiteStore.copyForm)).compression
    let job = try await queue.submit(.upkeep("backup").with { $0.isHeld = true })
    let made = BackupName(
      store: "main", time: Date(), job: job.id, compression: compression, form: SQLiteStore.copyForm
    ).description
    try FileManager.default.copyItem(at: house.path("backups/" + first), to: house.path("backups/" + made))
    let left = house.path("backups/.job-\(job.id).tmp")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: false)
    try Data(count: 10).write(to: left.appendingPathComponent("copy.sqlite"))
    _ = try await queue.release(job.id, by: "anna")
    #expect(try await queue.whenEnded(job.id).state == .completed)
    #expect(try house.names(in: "backups") == [first, made].sorted())
    await queue.drain(timeout: .seconds(10))
  }

  @Test("of a damaged store isn't kept, and older ones stay")
  func damaged() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 3_000)
    #expect(try await queue.run(.upkeep("backup", #"{"keep": 1}"#)).state == .completed)
    let before = try house.names(in: "backups")
    try damage(house)
    let end = try await queue.run(.upkeep("backup", #"{"keep": 1}"#, attempts: 5))
    #expect(end.state == .discarded && end.failureCode == "damaged" && end.attempt == 1, "\(end.reason ?? "")")
    #expect(try house.names(in: "backups") == before)
    await queue.drain(timeout: .seconds(10))
  }

  private func damage(_ house: UpkeepHouse) throws {
    try DatabaseQueue(path: house.file.path).writeWithoutTransaction { db in
      try db.execute(
        sql: "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 3 WHERE name = 'Person_byName'")
    }
  }

  @Test(
    "fails with that reason on a full disk, leaves no rests, and goes through once there is room",
    .enabled(if: SmallDisk.isPossible))
  func fullDisk() async throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    let house = try UpkeepHouse()
    let queue = try await house.queue(environment: { $0.upkeep["main"]?.backupFolder = disk.url })
    try await house.fill(queue, 5_000)
    // While it is copied, and while it is packed.
    let size = try await DatabaseQueue(path: house.file.path).read { db in
      try Int.fetchOne(db, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") ?? 0
    }
    for room in [100_000, size + 40_000] {
      try disk.fill(leaving: room)
      let end = try await queue.run(.upkeep("backup"))
      #expect(end.state == .discarded && end.failureCode == "disk_full", "\(end.failureCode ?? "") \(end.reason ?? "")")
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["filler"])
      try disk.free()
    }
    let end = try await queue.run(.upkeep("backup"))
    #expect(end.state == .completed, "\(end.reason ?? "")")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path).count == 1)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("names that aren't a backup's are told apart, and times sort")
  func names() throws {
    let name = BackupName(
      store: "a-b", time: Date(timeIntervalSince1970: 1_700_000_000.9), job: 12, compression: .zstd,
      form: SQLiteStore.copyForm)
    #expect(name.description == "a-b-2023-11-14T221320Z-job12.sqlite.zst")
    #expect(BackupName(name.description, of: "a-b", SQLiteStore.copyForm) == name)
    for wrong in [
      "a-b-2023-11-14T221320Z-job12.sqlite.xz", "a-b-2023-11-14T221320Z-job012.sqlite", "a-b-2023-11-14T221320Z.sqlite",
      "a-b-2023-02-31T221320Z-job1.sqlite", "a-2023-11-14T221320Z-job12.sqlite", "a-b-", "",
      "a-b-2023-11-14T221320Z-job0.sqlite", "a-b-2023-11-14T221320Z-job-1.sqlite",
    ] {
      #expect(BackupName(wrong, of: "a-b", SQLiteStore.copyForm) == nil, "\(wrong)")
    }
    let later = BackupName(store: "a-b", time: name.time, job: 13, compression: .none, form: SQLiteStore.copyForm)
    #expect(name < later)
  }
}
