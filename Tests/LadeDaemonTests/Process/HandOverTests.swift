import Foundation
import TestSupport
import Testing

@Suite("Files handed over to a daemon", .startsDaemons)
struct HandOverTests {
  @Test(
    "become objects that point at each other, also at what stands later in the file, and a second drop changes nothing")
  func places() async throws {
    let folder = try DaemonFolder(model: Places.model, recipes: Places.recipes)
    let daemon = try await folder.start()

    let countries = try await folder.imported(Places.countries, as: "countries.json", into: "countries")
    #expect(countries.state == .completed)
    #expect(countries.progress.inserted == 3)

    let records = Places.departments + Places.regions + 4
    let first = try await folder.imported(Places.subdivisions, as: "subdivisions.json", into: "subdivisions")
    #expect(first.state == .completed)
    #expect(first.progress.records == Int64(records))
    #expect(first.progress.inserted == Int64(records))
    #expect(first.progress.rejected == 0)
    #expect(first.progress.bytesDone == Int64(Places.subdivisions.utf8.count))
    // The one whose parent isn't there is reported.
    #expect(first.reason?.contains("1 reference(s) of parent lead nowhere") == true, "\(first.reason ?? "")")
    #expect(first.reason?.contains("GB-YYY") == true)

    #expect(try await folder.count("Subdivision") == records)
    #expect(try await folder.count("Subdivision", where: "country == nil") == 0)
    #expect(
      try await folder.count("Subdivision", where: "country.alpha2 == 'FR'") == Places.departments + Places.regions)
    #expect(try await folder.count("Subdivision", where: "parent != nil") == Places.departments + 1)
    #expect(
      try await folder.count("Subdivision", where: "parent.code == 'FR-R3'") == Places.departments / Places.regions)
    let wrong = try await folder.sqlite(
      """
      SELECT count(*) FROM Subdivision d JOIN Subdivision r ON d.parent_id = r.id
      WHERE d.code LIKE 'FR-%' AND r.code <> 'FR-R' || (substr(d.code, 4) % \(Places.regions))
      """)
    #expect(wrong == "0")

    let second = try await folder.imported(Places.subdivisions, as: "subdivisions.json", into: "subdivisions")
    #expect(second.state == .completed)
    #expect(second.progress.inserted == 0)
    #expect(second.progress.updated == 0)
    #expect(second.progress.unchanged == Int64(records))
    #expect(try await folder.count("Subdivision", where: "parent != nil") == Places.departments + 1)

    #expect(try folder.names(in: "spool/incoming/subdivisions") == [])
    #expect(try folder.names(in: "spool/active") == [])
    #expect(
      try folder.names(in: "spool/done") == ["1-countries.json", "2-subdivisions.json", "3-subdivisions.json"])
    try await daemon.stop()
  }

  @Test("are taken when they were there before the daemon")
  func before() async throws {
    let folder = try DaemonFolder(model: Places.model, recipes: Places.recipes)
    try folder.drop(Places.countries, as: "early.json", into: "countries")
    let daemon = try await folder.start()
    let job = try #require(try await folder.jobs().first)
    #expect(try await folder.ended(job.id).progress.inserted == 3)
    try await daemon.stop()
  }

  @Test("aren't looked for by a listing of jobs, which changes nothing")
  func listing() async throws {
    let folder = try DaemonFolder(model: Places.model, recipes: Places.recipes, more: "rescan_interval: 24h")
    let daemon = try await folder.start()
    try await folder.scanned()
    func lastScan() async throws -> Substring? {
      try await folder.http("GET", "/metrics").text.split(separator: "\n")
        .first { $0.hasPrefix("lade_spool_last_look_timestamp_seconds ") }
    }
    let before = try #require(try await lastScan())
    for _ in 1...3 { #expect(try await folder.listedJobs() == []) }
    #expect(try await lastScan() == before)
    try await folder.scanned()
    #expect(try await lastScan() != before)
    try await daemon.stop()
  }

  @Test("may come with a ticket that says what a recipe would")
  func ticket() async throws {
    let folder = try DaemonFolder(model: Places.model)
    let daemon = try await folder.start()
    try folder.drop("code;title\nFR;France\n", as: "list.txt", into: "")
    try folder.drop(
      """
      entity: Country
      source: list.txt
      mode: insert
      priority: 3
      max_attempts: 2
      options: {delimiter: ";", columns: [alpha_2, name]}
      """, as: "list.job", into: "")
    let job = try await folder.ended(try #require(try await folder.jobs().first).id)
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect((job.priority, job.maxAttempts, job.mode) == (3, 2, .insert))
    #expect(try await folder.sqlite("SELECT alpha2, name FROM Country") == "'FR','France'")
    #expect(try folder.names(in: "spool/done") == ["1-list.txt", "1.job"])
    try await daemon.stop()
  }

  @Test("are databases with what only their write-ahead log has")
  func writeAheadLog() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let daemon = try await folder.start()
    let file = folder.file("app.sqlite")
    // As a program leaves it that is open, or was killed.
    let run = try await ProgramOutput.of(
      try #require(Products.system("sqlite3"), "run make deps"),
      [
        "-cmd", ".dbconfig no_ckpt_on_close on", file,
        """
        PRAGMA journal_mode = WAL; CREATE TABLE Member (number, name); INSERT INTO Member VALUES (1, 'Ada');
        PRAGMA wal_checkpoint(TRUNCATE); UPDATE Member SET name = 'Grace'; INSERT INTO Member VALUES (2, 'Alan')
        """,
      ], environment: Products.environment([:]), files: folder.nextRun())
    try #require(run.status == 0, "\(run.error)")
    try #require(FileManager.default.fileExists(atPath: file + "-wal"))
    let answer = try await folder.ladectl("import", file, "--entity", "Member", "--wait")
    #expect(answer.status == 0, "\(answer.error)")
    #expect(try await folder.sqlite("SELECT name FROM Member ORDER BY number") == "'Grace'\n'Alan'")
    #expect(try await folder.jobs().first?.reason?.contains("-wal") != true)
    #expect(try folder.names(in: "spool/done") == ["1-app.sqlite"])
    try await daemon.stop()
  }
}
