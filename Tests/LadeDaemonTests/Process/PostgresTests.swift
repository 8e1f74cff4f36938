import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite(
  "A recipe that reads PostgreSQL", .startsDaemons, .serialized,
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
struct PostgresTests {
  /// A daemon whose recipe `people` reads a server.
  private func folder(_ from: String, _ recipe: String = "", more: String = "") throws -> DaemonFolder {
    let folder = try DaemonFolder(model: Members.model)
    try folder.write(
      folder.text("lade.yaml")
        + "\nrecipes:\n  people: { store: main, entity: Member, from: { \(from) }\(recipe) }\n\(more)\n",
      to: "lade.yaml")
    return folder
  }

  private func imported(_ folder: DaemonFolder) async throws -> Job {
    let list = try await folder.asked(JobList.self, "import", "--recipe", "people")
    return try await folder.ended(try #require(list.jobs.first).id)
  }

  private func rows(_ folder: DaemonFolder) async throws -> String {
    try await folder.sqlite("SELECT number || name FROM Member ORDER BY number").replacing("'", with: "")
      .replacing("\n", with: " ")
  }

  @Test("imports what was added and changed since, in time and in number, by table and by query")
  func incremental() async throws {
    let server = try PostgresCluster()
    try await server.sql(
      """
      CREATE SCHEMA shop;
      CREATE TABLE shop.people (number bigint PRIMARY KEY, name text, joined date, score double precision,
        changed timestamptz);
      INSERT INTO shop.people VALUES (1, 'a', '2020-02-29', 1.5, '2026-01-01 10:00:00.123456+00'),
        (2, 'b', NULL, NULL, '2026-01-01 12:00:30+02')
      """)
    let table = try folder(
      "postgres: \"\(server.address())\", table: shop.people, cursor: changed, lag: 10s", ", lineage: true")
    let query = try folder(
      "postgres: \"\(server.address())\", query: \"SELECT number, upper(name) AS name FROM shop.people\", cursor: number"
    )
    let (first, second) = (try await table.start(), try await query.start())
    let job = try await imported(table)
    #expect(job.state == .completed && job.progress.inserted == 2, "\(job.reason ?? "")")
    #expect(job.note?.contains("to 2026-01-01 10:00:30Z") == true, "\(job.note ?? "")")
    #expect(try await table.sqlite("SELECT score FROM Member WHERE number = 1") == "1.5")
    #expect(try await table.sqlite("SELECT joined FROM Member WHERE number = 1").contains("2020-02-29"))
    try await server.sql(
      """
      INSERT INTO shop.people VALUES (3, 'late', NULL, NULL, '2026-01-01 10:00:25+00');
      UPDATE shop.people SET name = 'B', changed = '2026-01-01 11:00:00+00' WHERE number = 2;
      UPDATE shop.people SET name = 'unseen' WHERE number = 1
      """)
    let again = try await imported(table)
    #expect((again.progress.inserted, again.progress.updated) == (1, 1), "\(again.reason ?? "")")
    #expect(try await rows(table) == "1a 2B 3late")
    #expect(try await imported(table).progress.unchanged == 1)
    #expect(try await table.ladectl("where-from", "Member", "3").text.contains("PostgreSQL, shop.people"))

    #expect(try await imported(query).progress.inserted == 3)
    try await server.sql("INSERT INTO shop.people VALUES (4, 'd')")
    let numbers = try await imported(query)
    #expect((numbers.progress.records, numbers.progress.inserted) == (2, 1))
    #expect(try await rows(query) == "1UNSEEN 2B 3LATE 4D")
    // A row without a time.
    let rejected = try await imported(table)
    #expect(rejected.progress.rejected == 1, "\(rejected.reason ?? "")")
    try await first.stop()
    try await second.stop()
  }

  @Test("waits for a server that is away, and takes the password from a credential, which no message has in it")
  func connecting() async throws {
    let server = try PostgresCluster()
    try await server.sql(
      """
      CREATE TABLE people (number int PRIMARY KEY, name text);
      INSERT INTO people VALUES (1, 'a');
      CREATE ROLE reader LOGIN PASSWORD 'sesame-open'; GRANT SELECT ON people TO reader
      """)
    let source = "postgres: \"\(server.address("reader"))\", credential: pg, table: people, cursor: number"
    let folder = try folder(source, ", max_attempts: 2", more: "retry: { first: 100ms, longest: 100ms }")
    try FileManager.default.createDirectory(atPath: folder.file("credentials"), withIntermediateDirectories: true)
    try folder.write("wrong-sesame\n", to: "credentials/pg")
    let daemon = try folder.launch(["CREDENTIALS_DIRECTORY": folder.file("credentials")])
    try await daemon.ready()
    let refused = try await imported(folder)
    #expect(
      refused.failureCode == "source_unavailable" && refused.reason?.contains("reader") == true,
      "\(refused.reason ?? "")")
    try folder.write("sesame-open\n", to: "credentials/pg")
    let job = try await imported(folder)
    #expect(job.state == .completed && job.progress.inserted == 1, "\(job.reason ?? "")")
    try await server.stop()
    let away = try await imported(folder)
    #expect(away.failureCode == "source_unavailable" && away.attempt == 2, "\(away.reason ?? "")")
    try await server.start()
    #expect(try await imported(folder).progress.unchanged == 1)
    let log = try await daemon.log + folder.ladectl("list", "--json").text
    #expect(!log.contains("sesame"))
    try await daemon.stop()
  }

  @Test("takes any number as a cursor, digit by digit")
  func numbers() async throws {
    let server = try PostgresCluster()
    try await server.sql(
      """
      CREATE TABLE people (number int PRIMARY KEY, name text, version numeric);
      INSERT INTO people VALUES (1, 'a', 1.5), (2, 'b', 12345678901234567.25), (3, 'c', NULL)
      """)
    let folder = try folder("postgres: \"\(server.address())\", table: people, cursor: version")
    let daemon = try await folder.start()
    let job = try await imported(folder)
    #expect(job.progress.inserted == 2 && job.progress.rejected == 1, "\(job.reason ?? "") \(job.note ?? "")")
    try await server.sql("INSERT INTO people VALUES (4, 'd', 12345678901234567.5), (5, 'e', 2)")
    let next = try await imported(folder)
    #expect(next.progress.inserted == 1 && next.progress.unchanged == 1, "\(next.reason ?? "") \(next.note ?? "")")
    try await daemon.stop()
  }

  @Test("runs one statement that only reads, and says what doesn't fit")
  func refusals() async throws {
    let server = try PostgresCluster()
    try await server.sql(
      """
      CREATE TABLE people (number int PRIMARY KEY, name text, tags text[]);
      CREATE FUNCTION kill() RETURNS int LANGUAGE sql AS 'DELETE FROM people RETURNING number';
      INSERT INTO people VALUES (1, 'a', '{}')
      """)
    for (selection, part) in [
      ("query: \"DELETE FROM people RETURNING number\"", "syntax error"),
      ("query: \"SELECT 1 AS number; SELECT 2\"", "multiple commands"),
      ("query: \"SELECT kill() AS number\"", "read-only"), ("query: \"SELECT $1::int AS number\"", "parameters"),
      ("table: gone", "does not exist"), ("query: \"SELECT name FROM people\"", "no column “number”"),
      ("query: \"SELECT tags AS number FROM people\"", "can't be a cursor"),
    ] {
      let folder = try folder("postgres: \"\(server.address())\", \(selection), cursor: number", ", max_attempts: 1")
      let daemon = try await folder.start()
      let job = try await imported(folder)
      #expect(
        job.failureCode == "source_schema" && job.reason?.contains(part) == true, "\(selection): \(job.reason ?? "")")
      try await daemon.stop()
    }
    #expect(try await server.sql("SELECT count(*) FROM people") == "1")
    let folder = try folder("postgres: \"password=x host=/tmp\", table: a, cursor: b")
    let run = try await ProgramOutput.of(
      Products.laded, ["--check-config", "--config", folder.file("lade.yaml")], environment: Products.environment([:]),
      files: folder.nextRun())
    #expect(run.status == 78 && run.error.contains("a password doesn't belong into the configuration"), "\(run.error)")
  }

  @Test("has its types in the store, and reads half a million rows in bounded memory")
  func types() async throws {
    let server = try PostgresCluster()
    try await server.sql(
      "CREATE TABLE people AS SELECT n::int AS number, repeat('x', 200) AS name, (n % 120)::smallint AS age FROM generate_series(1, 300000) n"
    )
    let folder = try folder("postgres: \"\(server.address())\", table: people, cursor: number")
    let daemon = try await folder.start()
    let job = try await imported(folder)
    #expect(job.state == .completed && job.progress.inserted == 300_000, "\(job.reason ?? "")")
    #expect(try await folder.sqlite("SELECT count(*), sum(age), max(number) FROM Member") == "300000,17850000,300000")
    try await daemon.stop()
  }
}
