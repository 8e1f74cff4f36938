import Foundation
import ManagedObjects
import Testing

@testable import Importing

/// What a store in memory does, where each row becomes an object, is what one with SQLite has to do without objects.
@Suite("References of rows without objects to objects that come later")
struct LateRowTests {
  private struct Outcome: Equatable {
    var tally: String
    var rows: [String]
    var notes: [String]
    var kept: Int
  }

  /// Imports readings, and has another writer add countries after some batches.
  private static func run(
    _ text: String, in room: ImportRoom, mode: ImportMode = .upsert, batch: Int, adding countries: [String],
    after batches: Int, job: String = "1"
  ) throws -> Outcome {
    var failure: (any Error)?
    var reports = 0
    let end = try room.run(text, as: "\(job).csv", into: "Reading", mode: mode, batch: batch, job: job) { _ in
      reports += 1
      // The first report is before the first batch.
      guard reports == batches + 1 else { return }
      do { try room.furnish(countries: countries) } catch { failure = error }
    }
    if let failure { throw failure }
    return Outcome(
      tally: end.tally, rows: try room.rows("station", "at", "level", "site.code", of: "Reading"), notes: end.notes,
      kept: try room.count(of: ImportModel.referenceEntity))
  }

  private static func both(
    _ text: String, mode: ImportMode = .upsert, batch: Int, adding countries: [String], after batches: Int
  ) throws -> (outcome: Outcome, room: ImportRoom) {
    let (memory, sqlite) = (try ImportRoom(.memory), try ImportRoom(.sqlite))
    let expected = try run(text, in: memory, mode: mode, batch: batch, adding: countries, after: batches)
    let found = try run(text, in: sqlite, mode: mode, batch: batch, adding: countries, after: batches)
    #expect(found == expected)
    return (found, sqlite)
  }

  private static func readings(_ sites: [String]) -> String {
    "station,at,level,site\n"
      + sites.enumerated().map { "s\($0 % 3),2024-03-10T0\($0 / 3):00:00Z,\($0),\($1)\n" }.joined()
  }

  @Test(
    "are kept without objects, the same one many times, and set at the end", arguments: [2, 3, 4, 5, 12],
    [ImportMode.insert, .upsert, .replace, .synchronise])
  func keptAndSet(batch: Int, mode: ImportMode) throws {
    let sites = ["A", "A", "B", "", "A", "zz", "B", "A", "A", "", "zz", "B"]
    let (outcome, room) = try Self.both(
      Self.readings(sites), mode: mode, batch: batch, adding: ["A", "B"], after: 1)
    #expect(outcome.tally == "12i 0u 0= 0r 2?")
    #expect(outcome.kept == 0)
    #expect(outcome.notes.contains("2 reference(s) of site lead nowhere and were left empty, such as “zz”"))
    let set = try room.rows("station", "level", "site.code", of: "Reading").filter { $0.hasSuffix("|A") }
    #expect(set == ["s0|0|A", "s1|1|A", "s1|4|A", "s1|7|A", "s2|8|A"])
    // Not one batch of new rows becomes objects.
    #expect(room.plan.newRows(of: "Reading") == 12)
    #expect(room.plan.newRows(of: ImportModel.referenceEntity) >= 2)
  }

  @Test(
    "follow the last record of an object, wherever batches end", arguments: [1, 2, 3, 4, 100],
    [ImportMode.upsert, .synchronise])
  func overtaken(batch: Int, mode: ImportMode) throws {
    let text = """
      station,at,level,site
      a,2024-03-10T00:00:00Z,1,A
      b,2024-03-10T00:00:00Z,1,A
      c,2024-03-10T00:00:00Z,1,A
      d,2024-03-10T00:00:00Z,1,zz
      a,2024-03-10T00:00:00Z,1,B
      b,2024-03-10T00:00:00Z,1,
      c,2024-03-10T00:00:00Z,2,zz
      d,2024-03-10T00:00:00Z,1,A
      a,2024-03-10T01:00:00Z,1,B

      """
    let (outcome, _) = try Self.both(
      text, mode: mode, batch: batch, adding: ["A", "B"], after: (9 + batch - 1) / batch)
    #expect(
      outcome.rows == [
        "a|2024-03-10 00:00:00|1|B", "a|2024-03-10 01:00:00|1|B", "b|2024-03-10 00:00:00|1|",
        "c|2024-03-10 00:00:00|2|", "d|2024-03-10 00:00:00|1|A",
      ])
    #expect(outcome.tally.hasPrefix("5i ") && outcome.tally.hasSuffix(" 0r 1?"))
  }

  @Test("of objects that are there are set on these", arguments: [1, 2, 100])
  func existing(batch: Int) throws {
    let (memory, sqlite) = (try ImportRoom(.memory), try ImportRoom(.sqlite))
    let sites = ["A", "A", "B", "C"]
    for room in [memory, sqlite] {
      _ = try Self.run(
        Self.readings(["", "", "C"]), in: room, batch: batch, adding: ["C"], after: 1, job: "0")
    }
    let outcomes = try [memory, sqlite].map {
      try Self.run(Self.readings(sites), in: $0, batch: batch, adding: ["A"], after: (4 + batch - 1) / batch)
    }
    #expect(outcomes[0] == outcomes[1])
    #expect(outcomes[1].tally == "1i 3u 0= 0r 1?")
    #expect(try sqlite.rows("level", "site.code", of: "Reading") == ["0|A", "1|A", "2|", "3|C"])
  }

  @Test("that another writer's object takes away from a batch of new rows are kept with objects")
  func clash() throws {
    let room = try ImportRoom(.sqlite)
    var hasIntruded = false
    let end = try room.run(
      Self.readings(["A", "B", "A", "B", "A", "B"]), into: "Reading", mode: .upsert, batch: 2
    ) { _ in
      if hasIntruded || room.reports.count < 2 { return }
      hasIntruded = true
      room.intrude { other in
        let reading = try other.insert("Reading")
        try reading.setValue(.string("s2"), forKey: "station")
        try reading.setValue(.date(.init(timeIntervalSince1970: 1_710_028_800)), forKey: "at")
        for code in ["A", "B"] { try other.insert("Country").setValue(.string(code), forKey: "code") }
        try other.save()
      }
    }
    #expect(hasIntruded)
    #expect(end.tally == "5i 1u 0= 0r 0?")
    #expect(
      try room.rows("level", "site.code", of: "Reading") == ["0|A", "1|B", "2|A", "3|B", "4|A", "5|B"])
  }

  @Test("are set after a kill at any write as after one run", arguments: [1, 2, 3])
  func killed(batch: Int) throws {
    let players = (1...9).map { "\($0),2\($0),C\($0 % 3)\n" }.joined()
    let clubs = "C0,3\nC1,4\nC2,\nC3,3\nC4,99\nC5,9\n"
    let files = [("players.csv", "number,age,club\n" + players), ("clubs.csv", "name,captain\n" + clubs)]
    let room = try ImportRoom(.sqlite)
    try Feed.run(files, in: room, batch: batch)
    #expect(room.plan.newRows(of: "Club") == 6)
    #expect(room.plan.newRows(of: ImportModel.referenceEntity) == 5)
    #expect(
      try room.rows("name", "captain.number", of: "Club") == ["C0|3", "C1|4", "C2|", "C3|3", "C4|", "C5|9"])
    try Killing.everyWrite(
      .sqlite, run: { try Feed.run(files, in: $0, batch: batch) }, traces: { try Feed.Traces($0, $1) })
  }

  @Test(
    "are stored as JSON, whatever their texts hold",
    arguments: ["C17", "", "a\"b", "a\\b", "{\":\"}", "\u{301}x", "zeile\n", "😀", "\",\""])
  func texts(key: String) throws {
    for keys in [["club": key], ["club": key, "boss": "x"], ["a\"": key, key: "b"]] {
      let text = try PendingKeyTexts.text(of: keys)
      #expect(try PendingKeyTexts.keys(in: text) == keys)
      // Imports of earlier versions wrote them so, and may be continued.
      #expect(try PendingKeyTexts.keys(in: String(decoding: JSONEncoder.sorted.encode(keys), as: UTF8.self)) == keys)
    }
    #expect(throws: (any Error).self) { try PendingKeyTexts.keys(in: "{\"a\",\"b\"}") }
    #expect(throws: (any Error).self) { try PendingKeyTexts.keys(in: "") }
  }
}
