import ControlAPI
import Foundation
import Glibc
import Testing

/// Rules 3 and 4 (ARCHITECTURE.md) for incremental sources: rows and cursor are as after one run, wherever a kill hits.
@Suite("A daemon that reads a database", .startsDaemons, .serialized)
struct IncrementalKillTests {
  @Test(
    "and is killed at any change of its store, its extracts or its rejects, has each row once, and the cursor behind all of them"
  )
  func kills() async throws {
    let house = try OrderHouse(
      ", batch_size: 3, reject_limit: none", lag: "2s",
      more: "schedules: { often: { calendar: yearly, job: { recipe: people } } }")
    let folder = house.folder
    try await house.makeTable()
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: "/main.sqlite:/rejects/:/extracts/")
    var rounds = 0
    var isKilled = true
    var changed = 0
    while isKilled {
      rounds += 1
      try #require(rounds < 200, "there is no end")
      // Each job reads all rows without a cursor again.
      try await house.change("DELETE FROM people WHERE changed IS NULL")
      // Eight new rows, one of them without a cursor, one that is late, and one that is changed.
      let rows = (0..<8).map { place in
        let number = rounds * 8 + place
        let second = rounds * 10 + place
        let time = String(format: "'2026-01-01 %02d:%02d:%02d'", second / 3600, second / 60 % 60, second % 60)
        return "(\(number), 'n', \(place == 7 ? "NULL" : time))"
      }
      try await house.change("INSERT INTO people VALUES \(rows.joined(separator: ", "))")
      if rounds > 1 {
        changed += 1
        try await house.change(
          "UPDATE people SET name = 'c', changed = (SELECT max(changed) FROM people) WHERE number = \(rounds * 8 - 8)")
      }
      try point.arm(round: rounds)
      let daemon = try folder.launch(point.environment)
      if try await daemon.started.value() == .ready, try await hasRun(folder) { daemon.terminate() }
      let ending = try await daemon.ended()
      isKilled = ending == .signal(SIGKILL)
      let log = try daemon.log
      #expect(isKilled || ending == .exit(0), "round \(rounds): \(ending)\n\(log)")
      let next = try await folder.start()
      let obstacle = try await folder.obstacle()
      #expect(obstacle == nil, "round \(rounds)")
      try await next.stop()
    }
    #expect(KillPoint.changes(in: rounds) >= 9, "so many changes are met")
    let daemon = try await folder.start()
    _ = try await house.imported()
    for job in try await folder.listedJobs() { #expect(job.state == .completed, "\(job.id): \(job.reason ?? "")") }
    let source = try await folder.sqlite(
      "SELECT count(*), sum(number), sum(name = 'c'), max(changed) FROM people WHERE changed IS NOT NULL",
      in: "app.sqlite")
    let there = try await folder.sqlite("SELECT count(*), sum(number), sum(name = 'c') FROM Member")
    let last = try #require(try await house.cursor().value)
    #expect(source == "\(there),'\(last)'")
    #expect(try folder.names(in: "state/extracts") == [])
    #expect(try await folder.sqlite("SELECT count(*) FROM _lade_checkpoint") == "0")
    try await daemon.stop()
  }

  /// Has a job read the database, and waits for it; false when the daemon is gone.
  private func hasRun(_ folder: DaemonFolder) async throws -> Bool {
    guard try await folder.ladectl("import", "--recipe", "people").status == 0 else { return false }
    return try await folder.haveAllEnded()
  }
}
