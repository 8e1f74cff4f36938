import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

/// An application's database, and a daemon that imports its orders.
struct OrderHouse {
  let folder: DaemonFolder
  let database: String

  /// - Parameters:
  ///   - recipe: further keys of the recipe, beginning with a comma.
  ///   - from: further keys of `from`.
  init(_ recipe: String = "", from: String = "", lag: String = "10s", more: String = "") throws {
    let place = try DaemonFolder(model: Members.model)
    let path = place.file("app.sqlite")
    let source = "{ sqlite: \(path), table: people, cursor: changed, lag: \(lag)\(from) }"
    try place.write(
      place.text("lade.yaml")
        + "\nrecipes:\n  people: { store: main, entity: Member, from: \(source)\(recipe) }\n\(more)\n",
      to: "lade.yaml")
    folder = place
    database = path
  }

  /// Runs statements on the application's database, as the application does.
  func change(_ sql: String) async throws { _ = try await folder.sqlite(sql, in: "app.sqlite") }

  /// - Parameter rows: those that the table has from the beginning, as values.
  func makeTable(_ rows: String? = nil) async throws {
    try await change(
      "PRAGMA journal_mode = WAL; BEGIN; CREATE TABLE people (number INTEGER PRIMARY KEY, name TEXT, changed TEXT);"
        + "CREATE INDEX byChange ON people (changed); \(rows.map { "INSERT INTO people VALUES \($0);" } ?? "") COMMIT")
  }

  /// Imports what is new.
  func imported(_ more: String...) async throws -> Job {
    let run = try await folder.ladectl(["import", "--recipe", "people", "--json"] + more)
    try #require(run.status == 0, "\(run.error)")
    let list = try WireFormat.decode(JobList.self, from: run.output)
    return try await folder.ended(try #require(list.jobs.first).id)
  }

  func cursor() async throws -> CursorStatus { try await folder.asked(CursorStatus.self, "recipe", "cursor", "people") }

  var rows: String {
    get async throws {
      try await folder.sqlite("SELECT number || name FROM Member ORDER BY number").replacing("'", with: "")
        .replacing("\n", with: " ")
    }
  }
}

@Suite("A recipe that reads a database", .startsDaemons)
struct IncrementalTests {
  @Test("imports what was added and changed since the last time, and meets what it reads again by upsert")
  func incremental() async throws {
    let house = try OrderHouse(", lineage: true")
    try await house.makeTable()
    try await house.change(
      "INSERT INTO people VALUES (1, 'a', '2026-01-01 10:00:00'), (2, 'b', '2026-01-01 10:00:30')")
    let daemon = try await house.folder.start()
    #expect(try await house.cursor().value == nil)
    let first = try await house.imported()
    #expect(first.state == .completed && first.progress.inserted == 2, "\(first.reason ?? "")")
    #expect(
      first.note?.contains("read 2 rows, changed from the beginning to 2026-01-01 10:00:30") == true,
      "\(first.note ?? "")")
    #expect(first.source == nil && first.recipe == "people")
    let cursor = try await house.cursor()
    #expect(cursor.value == "2026-01-01 10:00:30" && cursor.job == first.id && cursor.column == "changed")

    // One late, one changed, one new; the oldest is before the lag.
    try await house.change(
      """
      INSERT INTO people VALUES (3, 'late', '2026-01-01 10:00:25'), (4, 'd', '2026-01-01 11:00:00');
      UPDATE people SET name = 'B', changed = '2026-01-01 10:30:00' WHERE number = 2;
      UPDATE people SET name = 'unseen' WHERE number = 1
      """)
    let second = try await house.imported()
    #expect((second.progress.inserted, second.progress.updated, second.progress.unchanged) == (2, 1, 0))
    #expect(try await house.rows == "1a 2B 3late 4d")
    #expect(
      second.note?.contains("from 2026-01-01 10:00:20 (the cursor was 2026-01-01 10:00:30) to 2026-01-01 11:00:00")
        == true)
    let third = try await house.imported()
    #expect((third.progress.records, third.progress.unchanged) == (1, 1))
    #expect(try await house.folder.ladectl("show", "\(second.id)").text.contains("2026-01-01 11:00:00"))
    #expect(try await house.folder.ladectl("where-from", "Member", "3").text.contains("app.sqlite"))
    #expect(try house.folder.names(in: "state/extracts") == [])

    // What is undone isn't read again, unless the cursor is moved.
    let undone = try await house.folder.ladectl("undo", "\(second.id)", "--yes", "--wait")
    #expect(undone.status == 0, "\(undone.error)")
    #expect(try await house.rows == "1a 2b")
    #expect(try await house.imported().progress.inserted == 1)
    let set = try await house.folder.ladectl("recipe", "cursor", "people", "--set", "2026-01-01 10:00:00")
    #expect(set.status == 0 && set.text.contains("by an operator"), "\(set.error)")
    #expect((try await house.imported()).state == .completed)
    #expect(try await house.rows == "1unseen 2B 3late 4d")
    let reset = try await house.folder.ladectl("recipe", "cursor", "people", "--reset")
    #expect(reset.text == "changed: every row is read next\n")
    #expect(try await house.imported().progress.records == 4)
    try await daemon.stop()
  }

  @Test("is run by ladectl, by a ticket, over HTTP and by a schedule, and never twice at the same time")
  func ways() async throws {
    let house = try OrderHouse(
      more: "schedules: { often: { calendar: yearly, job: { recipe: people } } }\nintake: { settle: 100ms }")
    try await house.makeTable()
    let folder = house.folder
    let daemon = try await folder.start()
    func add(_ number: Int) async throws {
      try await house.change("INSERT INTO people VALUES (\(number), 'x', '2026-01-01 10:00:00')")
    }
    try await add(1)
    #expect(try await house.imported().progress.inserted == 1)
    try await add(2)
    try folder.drop("recipe: people\n", as: "now.job", into: "")
    let ticket = try await folder.ended(try #require(try await folder.jobs().last).id)
    #expect(ticket.state == .completed && ticket.progress.inserted == 1, "\(ticket.reason ?? "")")
    try await add(3)
    let posted: Job = try await folder.got("POST", .jobs, body: JobSubmission(recipe: "people"))
    #expect(try await folder.ended(posted.id).progress.inserted == 1)
    try await add(4)
    let run = try await folder.asked(Job.self, "schedule", "run", "often")
    #expect(try await folder.ended(run.id).progress.inserted == 1)

    _ = try await folder.ladectl("pause", "import")
    let waiting: Job = try await folder.got("POST", .jobs, body: JobSubmission(recipe: "people"))
    let same: Job = try await folder.got("POST", .jobs, body: JobSubmission(recipe: "people"))
    #expect(waiting.id == same.id)
    let scheduled = try await folder.ladectl("schedule", "run", "often")
    #expect(scheduled.status == 1 && scheduled.error.contains("job \(waiting.id)"), "\(scheduled.error)")
    let moved = try await folder.ladectl("recipe", "cursor", "people", "--reset")
    #expect(moved.status == 1 && moved.error.contains("Job \(waiting.id) reads by this cursor"))
    _ = try await folder.ladectl("resume", "import")
    #expect(try await folder.ended(waiting.id).state == .completed)
    #expect(try folder.names(in: "state/extracts") == [])
    let replay = try await folder.ladectl("replay", "--recipe", "people", "--since", "1d", "--yes")
    #expect(replay.status == 1 && replay.error.contains("no files of it are kept"), "\(replay.error)")
    try await daemon.stop()
  }

  @Test("can't be changed by whoever submits a job, and takes no file")
  func refusals() async throws {
    let house = try OrderHouse(more: "intake: { settle: 100ms }")
    try await house.makeTable()
    let folder = house.folder
    let daemon = try await folder.start()
    let file = try folder.write("number,name\n1,a\n", to: "a.csv")
    for (arguments, part) in [
      (["import", file, "--recipe", "people"], "reads a database, and no file"),
      (["import", "--recipe", "people", "--option", "filter=FALSEPREDICATE"], "only the recipe may say it"),
      (["import", "--recipe", "people", "--option", "query=SELECT 1"], "only the recipe may say it"),
      (["import", "--recipe", "people", "--option", "from.sqlite=/etc/shadow"], "only"),
      (["import", "--recipe", "people", "--mode", "insert"], "no job of it may differ"),
      (["import", "--recipe", "people", "--unique-key", "x"], "one of their own"),
      (["import", "--recipe", "people", "--hold"], "there is no other of its recipe"),
      (["import", file, "--entity", "Member", "--unique-key", "from:people"], "the daemon's own keys"),
      (["import", file, "--entity", "Member", "--option", "from.sqlite=/etc/shadow"], "only a recipe"),
      (["recipe", "cursor", "nobody"], "nobody"), (["recipe", "cursor", "people", "--set", "soon"], "is none"),
    ] {
      let run = try await folder.ladectl(arguments)
      #expect(run.status == 1 && run.error.contains(part), "\(arguments): \(run.error)")
    }
    try folder.drop(
      "{recipe: people, options: {from: {sqlite: /etc/shadow, table: a, cursor: b}}}", as: "x.job", into: "")
    try folder.drop("number,name\n1,a\n", as: "a.csv", into: "people")
    try folder.drop("recipe: people\nsource: y.csv\n", as: "y.job", into: "")
    #expect(try await folder.jobs() == [])
    let corrupt = try folder.names(in: "spool/corrupt")
    #expect(corrupt.contains { $0.contains("a.csv") } && corrupt.contains { $0.contains("x.job") }, "\(corrupt)")
    #expect(try await folder.listedJobs() == [])
    try await daemon.stop()
  }

  @Test("fails with what to do while the database isn't there, and goes on when it is", arguments: [true, false])
  func missing(isTried: Bool) async throws {
    let house = try OrderHouse(
      isTried ? "" : ", max_attempts: 1000", more: "retry: { first: 100ms, longest: 100ms }")
    let folder = house.folder
    let daemon = try await folder.start()
    let list = try await folder.asked(JobList.self, "import", "--recipe", "people")
    let id = try #require(list.jobs.first).id
    if isTried {
      let job = try await folder.ended(id)
      #expect(job.state == .discarded && job.failureCode == "source_unavailable" && job.attempt == 5)
      #expect(job.reason?.contains("isn't there") == true, "\(job.reason ?? "")")
      let retried = try await folder.ladectl("retry", "\(id)")
      #expect(retried.status == 1 && retried.error.contains("'ladectl import --recipe people'"), "\(retried.error)")
      let tested = try await folder.ladectl("recipe", "test", "--recipe", "people")
      #expect(tested.status == 1 && tested.text.contains("isn't there"), "\(tested.text)")
    } else {
      try await house.makeTable("(1, 'a', '2026-01-01 10:00:00')")
      let job = try await folder.ended(id)
      #expect(job.state == .completed && job.progress.inserted == 1, "\(job.reason ?? "")")
    }
    try await daemon.stop()
  }

  @Test("rejects rows without a cursor, which a retry imports, and shows by a test what it would read")
  func rejects() async throws {
    let house = try OrderHouse()
    try await house.makeTable()
    try await house.change(
      "INSERT INTO people VALUES (1, 'a', '2026-01-01 10:00:00'), (2, 'b', NULL), (3, 'c', 'soon')")
    let folder = house.folder
    let daemon = try await folder.start()
    let test = try await folder.ladectl("recipe", "test", "--recipe", "people", "--json")
    let result = try WireFormat.decode(RecipeTestResult.self, from: test.output)
    #expect(test.status == 2 && result.progress.records == 3 && result.progress.rejected == 2)
    #expect(result.notes.contains { $0.contains("read 3 rows, changed from the beginning") }, "\(result.notes)")
    #expect(result.notes.contains { $0.hasPrefix("row 1: ") && $0.contains("\"name\":\"b\"") }, "\(result.notes)")
    #expect(try await house.cursor().value == nil)
    let dry = try await house.imported("--dry-run")
    #expect(dry.state == .completed && dry.progress.inserted == 1)
    #expect(try await house.cursor().value == nil)
    let job = try await house.imported()
    #expect(job.state == .completed && job.progress.rejected == 2, "\(job.reason ?? "")")
    #expect(
      Set(try await folder.asked(RejectReport.self, "rejects", "\(job.id)").groups.map(\.code)) == [
        "no_cursor", "unusable_cursor",
      ])
    #expect(try await house.cursor().value == "2026-01-01 10:00:00")
    let retried = try await folder.ladectl("rejects", "retry", "\(job.id)", "--wait")
    #expect(retried.status == 0, "\(retried.error)")
    #expect(try await house.rows == "1a 2b 3c")
    try await daemon.stop()
  }

  @Test("leaves the cursor where it was when the job fails, whatever was committed before")
  func failing() async throws {
    let house = try OrderHouse(", batch_size: 10, reject_limit: 5, max_attempts: 1")
    try await house.makeTable()
    try await house.change(
      """
      WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO people
      SELECT i, CASE WHEN i <= 60 THEN 'a' END, printf('2026-01-01 10:%02d:%02d', i / 60, i % 60) FROM n
      """)
    let daemon = try await house.folder.start()
    let job = try await house.imported()
    #expect(job.state == .discarded && job.failureCode == "too_many_rejects" && job.progress.inserted == 60)
    #expect(try await house.cursor().value == nil)
    #expect(try house.folder.names(in: "state/extracts") == [])
    try await house.change("UPDATE people SET name = 'b' WHERE name IS NULL")
    let again = try await house.imported()
    #expect((again.progress.inserted, again.progress.unchanged) == (40, 60), "\(again.reason ?? "")")
    #expect(try await house.cursor().value == "2026-01-01 10:01:40")
    try await daemon.stop()
  }
}
