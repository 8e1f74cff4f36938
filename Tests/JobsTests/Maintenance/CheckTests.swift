import Foundation
import GRDB
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Checking a store", .timeLimit(.minutes(20)))
struct CheckTests {
  @Test("finds nothing in a whole one, also while an import writes, and leaves no report")
  func whole() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    let load = try await queue.submit(house.people(6_000, batchSize: 100))
    _ = try await queue.job(load.id) { $0.progress.records > 0 || $0.state.isEnded }
    for depth in ["full", "quick", "full"] {
      let end = try await queue.run(.upkeep("check", #"{"depth": "\#(depth)"}"#))
      #expect(end.state == .completed && end.note == "nothing is wrong", "\(end.reason ?? "")")
    }
    #expect(try await queue.whenEnded(load.id).state == .completed)
    #expect(try house.names(in: "reports") == [])
    await queue.drain(timeout: .seconds(10))
  }

  /// One way in which a store can be wrong.
  struct Damage: Sendable, CustomTestStringConvertible {
    let name: String
    let sql: String
    let expected: String
    let kind: StoreProblem.Kind
    var testDescription: String { name }
  }

  static let damages: [Damage] = [
    Damage(
      name: "an index that isn't the table's",
      sql: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'Person_number_unique')
        WHERE name = 'Person_byName'
        """, expected: "Person_byName", kind: .damage),
    Damage(
      name: "a reference that leads nowhere",
      sql: "PRAGMA foreign_keys = OFF; INSERT INTO Pet (id, name, owner_id) VALUES (7, 'Rex', 4711)",
      expected: "Pet 7.owner_id: refers to a row of Person that doesn't exist", kind: .reference),
    Damage(
      name: "an index that isn't there", sql: "DROP INDEX Person_byName",
      expected: "the index Person_byName doesn't exist: reindex makes it", kind: .schema),
    Damage(
      name: "a column that isn't there", sql: "DROP INDEX Person_byName; ALTER TABLE Person DROP COLUMN name",
      expected: "Person.name: the column doesn't exist", kind: .schema),
    Damage(
      name: "a table that isn't there", sql: "DROP TABLE Pet", expected: "Pet: the table doesn't exist", kind: .schema),
    Damage(
      name: "a number that is none", sql: "INSERT OR REPLACE INTO lade_metadata VALUES ('last_number.Pet', 'many')",
      expected: "last_number.Pet isn't a number", kind: .metadata),
    Damage(
      name: "another identifier", sql: "UPDATE lade_metadata SET value = 'X' WHERE key = 'identifier'",
      expected: "its identifier is X", kind: .metadata),
    Damage(
      name: "no model", sql: "DELETE FROM lade_metadata WHERE key = 'model'",
      expected: "it doesn't say which model made it", kind: .metadata),
    Damage(
      name: "a model that can't be read", sql: "UPDATE lade_metadata SET value = '{' WHERE key = 'model'",
      expected: "can't be read", kind: .metadata),
  ]

  @Test("says what is wrong, and has all of it in a report", arguments: damages)
  func damaged(_ damage: Damage) async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 200)
    try await DatabaseQueue(path: house.file.path).writeWithoutTransaction { try $0.execute(sql: damage.sql) }
    let end = try await queue.run(.upkeep("check", attempts: 5))
    #expect(end.state == .discarded && end.failureCode == "damaged" && end.attempt == 1, "\(end.reason ?? "")")
    let report = "\(end.id).check.ndjson"
    #expect(try house.names(in: "reports") == [report])
    #expect(end.reason?.contains(house.path("reports/\(report)").path) == true)
    let lines = try String(contentsOf: house.path("reports/\(report)"), encoding: .utf8).split(separator: "\n")
    let problems = try lines.map { try JSONDecoder().decode(StoreProblem.self, from: Data($0.utf8)) }
    let found = try #require(
      problems.first { $0.description.contains(damage.expected) }, "\(lines.joined(separator: "\n"))")
    #expect(found.kind == damage.kind)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a report is bounded, and the message has the first problems only")
  func bounded() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 1)
    try await DatabaseQueue(path: house.file.path).writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA foreign_keys = OFF;
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
          INSERT INTO Pet (id, owner_id) SELECT i, 5000000 FROM n
          """)
    }
    let end = try await queue.run(.upkeep("check"))
    #expect(end.reason?.contains("main has at least 10000 problems: Pet 1.owner_id") == true, "\(end.reason ?? "")")
    #expect(try #require(end.reason).count < 2_000)
    let report = try String(contentsOf: house.path("reports/\(end.id).check.ndjson"), encoding: .utf8)
    #expect(report.split(separator: "\n").count == 10_000)
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a file that can't be read to its end is damaged, not a failure to be tried again")
  func unreadable() async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    try await house.fill(queue, 2_000)
    #expect(try await queue.run(.upkeep("checkpoint")).state == .completed)
    let file = try FileHandle(forWritingTo: house.file)
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0x5A, count: 200_000))
    try file.close()
    let end = try await queue.run(.upkeep("check", attempts: 5))
    #expect(end.state == .discarded && end.failureCode == "damaged", "\(end.failureCode ?? "") \(end.reason ?? "")")
    await queue.drain(timeout: .seconds(10))
  }

  @Test("a cancelled one leaves no report")
  func cancelled() async throws {
    let house = try UpkeepHouse()
    let gate = Gate()
    let queue = try await house.queue(hearing: "check") { if $0.phase == "metadata" { gate.pass() } }
    try await house.fill(queue, 10)
    try await DatabaseQueue(path: house.file.path).writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA foreign_keys = OFF; INSERT INTO Pet (id, owner_id) VALUES (7, 4711)")
    }
    let job = try await queue.submit(.upkeep("check"))
    await gate.arrivals(1)
    _ = try await queue.cancel(job.id, by: "root")
    gate.open(10)
    #expect(try await queue.whenEnded(job.id).state == .cancelled)
    #expect(try house.names(in: "reports") == [])
    await queue.drain(timeout: .seconds(10))
  }
}
