import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ladectl

@Suite("Verbs that change jobs and lanes, and those that follow what happens")
struct ControlVerbTests {
  private typealias Run = @Sendable (String...) async throws -> LadectlProcess

  private func with(
    _ backend: MemoryBackend = MemoryBackend(), _ body: (_ run: Run) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      try await body { (arguments: String...) in try await LadectlProcess.run(arguments, socket: server.path) }
    }
  }

  private func decoded<Value: Decodable>(_ type: Value.Type, _ run: LadectlProcess) throws -> Value {
    try WireFormat.decode(type, from: Data(run.output.utf8))
  }

  @Test("jobs are retried, held, released, moved and removed by their numbers, each with a line")
  func one() async throws {
    try await with(MemoryBackend(jobs: [.example(1, .discarded), .example(2, .available), .example(3, .completed)])) {
      run async throws in
      #expect(try await run("retry", "1").output == "job 1 available\n")
      #expect(try await run("hold", "1", "2").output == "job 1 held\njob 2 held\n")
      #expect(try await run("release", "2").output == "job 2 available\n")
      #expect(try await run("priority", "--to", "-7", "2").output == "job 2 has priority -7\n")
      #expect(try await run("remove", "3").output == "job 3 removed\n")
      let removed = try await run("remove", "2", "3")
      #expect(removed.status == 1 && removed.output == "")
      #expect(removed.error.contains("Job 2 hasn't ended.") && removed.error.contains("There is no job 3."))
      let json = try await run("hold", "1", "2", "--json")
      #expect(try decoded(JobList.self, json).jobs.map(\.isHeld) == [true, true])
    }
  }

  @Test("a filter changes all that it finds after a confirmation, and its refusals are reported")
  func all() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .discarded), .example(2, .completed)])
    try await with(backend) { run async throws in
      let done = try await run("retry", "--all", "--recipe", "people", "--yes")
      #expect(done.status == 1)
      #expect(done.output == "2 jobs to be tried again\n1 job couldn't be:\n  job 3: it has ended\n")
      #expect(
        backend.changes == [JobChange(.retry, JobSelection(states: [.discarded], recipe: "people"), isForAll: false)])
      let nobody = try await run("remove", "--all")
      #expect(nobody.status == 64)
      #expect(nobody.error.contains("Remove 3 jobs?") && nobody.error.contains("--yes"))
      #expect(backend.changes.count == 1)
      let none = try await run("cancel", "--all", "--lane", "nowhere")
      #expect(none.status == 0 && none.output == "No job is meant.\n")
      let json = try await run("priority", "--to", "3", "--all", "--state", "completed", "--yes", "--json")
      #expect(try decoded(JobChangeResult.self, json).refusals.map(\.job) == [3])
      #expect(backend.changes.last?.priority == 3)
    }
  }

  @Test("a range is changed at once, and means those jobs that there are")
  func range() async throws {
    let backend = MemoryBackend(jobs: [2, 3, 9].map { .example($0, .available) })
    try await with(backend) { run async throws in
      #expect(try await run("cancel", "1-5", "9").status == 1)
      #expect(backend.changes.map(\.filter.jobs) == [[2, 3, 9]])
    }
  }

  @Test("a schedule is paused and resumed, and the answer says when it makes a job next")
  func pausedSchedule() async throws {
    try await with { run async throws in
      #expect(
        try await run("schedule", "pause", "nightly").output
          .hasPrefix("schedule nightly: paused by \(SystemUser.name(of: geteuid()) ?? "uid \(geteuid())"), 2026-02-25"))
      #expect(try await run("schedule", "resume", "nightly").output == "schedule nightly: next 2027-01-15 08:00:00Z\n")
      let unknown = try await run("schedule", "pause", "never")
      #expect(unknown.status != 0 && unknown.error.contains("never") && unknown.error.contains("nightly"))
    }
  }

  @Test("schedules are listed with when they make a job next, and what became of the last")
  func schedules() async throws {
    try await with { run async throws in
      let lines = try await run("schedule").output.split(separator: "\n").map(String.init)
      #expect(lines.count == 3 && lines[0].hasPrefix("SCHEDULE  CALENDAR"))
      #expect(lines[1].hasPrefix("nightly   Mon..Fri *-*-* 02:30:00 Europe/Berlin  check   2027-01-15 08:00:00Z"))
      #expect(lines[1].hasSuffix("  7  completed  a job was made"), "\(lines[1])")
      #expect(lines[2].contains("*-*-* *:00:00 UTC") && lines[2].hasSuffix("switched off"), "\(lines[2])")
      let list = try decoded(ScheduleList.self, try await run("schedule", "list", "--json"))
      #expect(list.schedules == Schedule.examples)
    }
  }

  @Test("a reload reports what was applied and what needs a restart, or every mistake")
  func reload() async throws {
    try await with { run async throws in
      #expect(
        try await run("reload").output == """
          applied: recipes.people, keep
          removed: recipes.old
          needs a restart: socket
          the model of store main has changed: 'ladectl store migrate main' or a restart takes it up

          """)
      #expect(try decoded(Reload.self, try await run("reload", "--json")).needsRestart == ["socket"])
      _ = try await run("pause", "import")
      let refused = try await run("reload")
      #expect(refused.status == 1)
      #expect(
        refused.error == """
          ladectl: The configuration has mistakes, and nothing has changed:
            /etc/lade/lade.yaml:3:1: there is no key `lnaes`
            LADE_KEP: so

          """)
    }
  }

  @Test("lanes are listed, paused, resumed and widened, and an unknown name is reported with the known ones")
  func lanes() async throws {
    try await with { run async throws in
      #expect(try await run("pause", "import").output == "lane import paused, 1 job still running\n")
      let list = try await run("lane", "list").output
      #expect(list.contains("paused by root") && list.contains("10 jobs in 1 min"))
      #expect(try await run("resume").output.contains("lane import runs up to 2 jobs at once"))
      #expect(try await run("lane", "concurrency", "import", "5").output == "lane import runs up to 5 jobs at once\n")
      #expect(
        try decoded(Lane.self, try await run("lane", "concurrency", "import", "default", "--json")).concurrency == 2)
      let wrong = try await run("pause", "imports")
      #expect(wrong.status == 1 && wrong.error.contains("import, maintenance"))
      #expect(
        try decoded(LaneList.self, try await run("lane", "--json")).lanes.map(\.name) == ["import", "maintenance"])
    }
  }

  @Test("drain pauses, and waits for what runs, whatever becomes of it")
  func drain() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running)])
    try await with(backend) { run async throws in
      async let drained = run("drain", "import")
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      backend.set(.example(1, .retryable, reason: "the disk is full"))
      let ended = try await drained
      #expect(ended.status == 0, "\(ended.error)")
      #expect(ended.output.contains("nothing runs any more; paused: import"))
      backend.set(.example(1, .running))
      let late = try await run("drain", "--timeout", "0.2")
      #expect(late.status == 4)
    }
  }

  @Test("the log is shown, of a job or of a level, and followed")
  func log() async throws {
    let backend = MemoryBackend()
    backend.log("hello")
    backend.log("of a job", job: 12, level: .warning)
    try await with(backend) { run async throws in
      #expect(try await run("log").output.contains("info     hello a=b\n"))
      #expect(try await run("log", "12").output.split(separator: "\n").count == 1)
      #expect(try await run("log", "--level", "error").output == "Nothing was logged.\n")
      #expect(try decoded(LogPage.self, try await run("log", "-n", "1", "--json")).lines.map(\.job) == [12])
    }
  }

  @Test("a standing query in a pipe begins with its result, and goes on with what comes, goes and changes")
  func standing() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      async let shown = run("fetch", "Stop", "--where", "open == YES", "--sort", "name", "--watch")
      async let asJSON = run("fetch", "Stop", "--watch", "--json")
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      await arrivals.next()
      #expect(Set(backend.watchQueries.map(\.predicate)) == ["open == YES", nil])
      backend.tell(
        .result(WatchResult(entity: "Stop", columns: ["name"], rows: [WatchRow(id: 1, values: [.string("A")])])))
      backend.tell(
        .changes(
          WatchChanges(changes: [
            .init(kind: .insert, from: nil, to: 1, id: 2, values: [.string("B")]),
            .init(kind: .delete, from: 0, to: nil, id: 1, values: nil),
          ])))
      backend.tell(.problem(Problem(status: 422, code: "too_large", title: "x", detail: "It has outgrown that.")))
      backend.endWatching()
      let text = try await shown
      #expect(text.output == "NAME\nA\n".replacing("NAME", with: "name") + "+ name=B\n- object 1\n")
      #expect(text.status == 1 && text.error.contains("It has outgrown that."))
      #expect(try await asJSON.output.split(separator: "\n").count == 2)
    }
  }

  @Test("files of a recipe are imported again, or shown")
  func replays() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      let shown = try await run("replay", "--recipe", "people", "--since", "7d", "--dry-run")
      #expect(shown.status == 0)
      #expect(shown.output.contains("1 file of people would be imported again, in this order.\n"))
      #expect(shown.output.contains("Not kept any more:\n  b.csv, job 4, "))
      let made = try await run(
        "replay", "--recipe", "people", "--since", "2026-03-01T00:00:00Z", "--until", "2026-03-02T00:00:00Z", "--lane",
        "backfill", "--priority", "-5", "--yes")
      #expect(made.output.contains("1 file of people is imported again as batch 2, in this order.\n"), "\(made)")
      #expect(
        backend.replays.last
          == ReplayRequest(
            since: Date(timeIntervalSince1970: 1_772_323_200), until: Date(timeIntervalSince1970: 1_772_409_600),
            lane: "backfill", priority: -5))
      #expect(try await run("replay", "--recipe", "people", "--since", "soon").status == 64)
      #expect(try await run("replay", "--recipe", "people", "--since", "1d", "--until", "2d").status == 64)
    }
  }

  @Test("a recipe is tried, and the configuration checked, with the status of what was found")
  func checks() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      let trial = try await run("recipe", "test", "/people.csv", "--recipe", "people", "--records", "5")
      #expect(trial.status == 2)
      #expect(trial.output.contains("The whole file into Stop of store main, mode upsert"))
      #expect(
        trial.output.contains("3 records, 2 inserted, 0 updated, 1 rejected") && trial.output.contains("it is bad"))
      #expect(trial.output.contains("Inserted, for example:\n  Stop 7\n    name: <i>Quai</i>\n"), "\(trial.output)")
      #expect(trial.output.contains("Changed, for example:\n  Stop 8\n    name: Gare → –\n"))
      #expect(backend.tests == [RecipeTest(source: "/people.csv", recipe: "people", records: 5)])
      let shown = try await run("recipe", "test", "/people.csv", "--recipe", "people", "--rows", "1")
      #expect(shown.output.contains("name") && shown.output.contains("<i>Ada</i>") && backend.tests.last?.rows == 1)
      #expect(try await run("recipe", "test", "/a.csv", "--recipe", "people", "--rows", "51").status == 64)
      let nothing = try await run("recipe", "test", "/rejected.csv", "--recipe", "people")
      #expect(nothing.status == 1)
      #expect(nothing.output.hasSuffix("\nThe import would import nothing: every record is rejected.\n"))
      let check = try await run("config", "check")
      #expect(check.status == 1)
      #expect(check.output.contains("/etc/lade/lade.yaml:3:1: there is no key `lnaes`"))
      #expect(try await run("recipe").output.contains("people"))
    }
  }

  @Test("a file is compared with its model, with the status of what an import would do about it")
  func diff() async throws {
    try await with(MemoryBackend()) { run async throws in
      let fits = try await run("model", "diff", "/fits.csv", "--recipe", "people")
      #expect(fits.status == 0)
      #expect(fits.output == "The whole file (9 records) fits Stop of store main.\n")
      let differs = try await run("model", "diff", "/people.csv", "--recipe", "people")
      #expect(differs.status == 2)
      #expect(
        differs.output == """
          The whole file (9 records) doesn't fit Stop of store main:
            type: height is Integer 16, which doesn't hold 2 values, such as “70000” in line 7 (Integer 32 would): discard_row
            a.csv: new column: shoe size, Integer 64 as shoeSize, 1 value: discard_value
            b.csv: new entity: no entity has this file: discard_row

          """)
      #expect(
        try await run("model", "diff", "/people.csv", "--entity", "Stop", "--option", "schema=freeze").status == 1)
      #expect(try await run("model", "diff", "/people.csv").status == 64)
      #expect(try await run("model", "diff", "/people.csv", "--recipe", "people", "--mode", "insert").status == 64)
    }
  }

  @Test("a batch is made of files, and of a description, and shown")
  func batch() async throws {
    let backend = MemoryBackend()
    let directory = try TemporaryDirectory()
    try Data(#"{"name":"night","jobs":[{"job":{"source":"a.csv","recipe":"r"}}]}"#.utf8)
      .write(to: URL(fileURLWithPath: directory.file("b.json")))
    try await with(backend) { run async throws in
      let files = try await run("batch", "submit", "/a.csv", "/b.csv", "--recipe", "r", "--name", "may")
      #expect(files.output == "batch 1 (may): jobs 1, 2\n", "\(files.error)")
      let described = try await run("batch", "submit", "--description", directory.file("b.json"))
      #expect(described.output == "batch 1 (night): jobs 3\n", "\(described.error)")
      #expect(backend.submissions.last?.source?.hasPrefix("/") == true)
      #expect(try await run("batch", "show", "1").output.contains("2 of 2 jobs ended, 1 of them failed"))
      #expect(try await run("batch", "show", "7").status == 1)
      try Data("{".utf8).write(to: URL(fileURLWithPath: directory.file("b.json")))
      #expect(try await run("batch", "submit", "--description", directory.file("b.json")).status == 1)
    }
  }

  @Test("batches, backups, settings and recipes are listed, and a schedule is run by its name")
  func lists() async throws {
    try await with { run async throws in
      let batches = try await run("batch", "list")
      #expect(batches.output.contains("    1  night  root") && batches.error == "", "\(batches.output)")
      #expect(try await run("batch", "list", "--limit", "1").error == "there are more: --older-than 1\n")
      #expect(try await run("batch", "list", "--older-than", "1").output == "No batches.\n")
      let backups = try await run("store", "backups").output
      #expect(
        backups.contains("main-2026-02-25T061320Z-job7.sqlite.zst  2026-02-25 06:13:20Z  12.4 kB    7"), "\(backups)")
      #expect(try await run("store", "backups", "nope").status == 1)
      let versions = try await run("store", "versions", "--from", "Main").output
      #expect(versions.contains("Main 10 (current)") && versions.contains("From Main to Main 10:"), "\(versions)")
      #expect(versions.contains("can't be migrated without") && versions.contains("doesn't allow"), "\(versions)")
      #expect(try await run("store", "versions", "--to", "nope").status == 1)
      let settings = try await run("config", "show")
      #expect(settings.output.contains("recipes.people.entity   Stop   /etc/lade/lade.yaml:7\n"), "\(settings.output)")
      #expect(settings.output.contains("debug  LADE_LOG_LEVEL\n") && settings.error.contains("'ladectl reload'"))
      #expect(try await run("config", "show", "recipes.people", "--json").output.contains("peoples") == false)
      #expect(
        try await run("recipe", "show", "people").output
          == "KEY     VALUE  FROM\nentity  Stop   /etc/lade/lade.yaml:7\n")
      let recipe = try await run("recipe", "show", "peopl")
      #expect(recipe.status == 1 && recipe.error.contains("Did you mean people?"), "\(recipe.error)")
      #expect(try await run("schedule", "run", "nightly").output == "job 1 available\n")
      let schedule = try await run("schedule", "run", "nightl")
      #expect(schedule.status == 1 && schedule.error.contains("Did you mean nightly?"), "\(schedule.error)")
    }
  }

  @Test("release --all means jobs that haven't ended")
  func releaseAll() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .scheduled)])
    try await with(backend) { run async throws in
      _ = try await run("release", "--all", "--yes")
      #expect(backend.changes.last?.filter.states.contains(.scheduled) == true)
      #expect(backend.changes.last?.filter.states.contains(.discarded) == false)
      #expect(backend.changes.last?.filter.isHeld == true)
    }
  }

  @Test("many jobs that were submitted together are shown as ranges")
  func ranges() {
    let jobs = (1...500).map { Job.example($0, $0 == 7 ? .discarded : .completed) }
    #expect(Submitter.summary(of: jobs) == "499 jobs completed: 1-6,8-500\n1 job discarded: 7\n")
  }

  @Test("stores, numbers of the daemon and objects to change are shown and asked for")
  func others() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      #expect(try await run("store").output.contains("/var/lib/lade/main.sqlite"))
      #expect(try await run("store", "show").output.contains("12"))
      let stats = try await run("stats").output
      #expect(stats.contains("job: import") && stats.contains("0.50 s") && stats.contains("main queue"))
      let prune = try await run("prune", "Stop", "--where", "open == NO")
      #expect(prune.status == 64 && prune.error.contains("Delete 1,234 objects of Stop?"))
      #expect(try await run("prune", "Stop", "--where", "open == NO", "--yes").status == 0)
      #expect(try await run("update", "Stop", "--all", "--set", "height=1.50", "--yes").status == 0)
      #expect(
        try await run("export", "Stop", "--columns", "name,height", "--format", "json", "--limit", "5").status == 0)
      #expect(try await run("store", "restore", "latest", "--yes").status == 0)
      #expect(backend.submissions.map(\.kind) == ["prune", "update", "export", "restore"])
      #expect(backend.submissions.map(\.store) == ["main", "main", "main", "main"])
      #expect(backend.submissions[0].options == ["where": .string("open == NO")])
      #expect(backend.submissions[1].options == ["all": .bool(true), "set": .map(["height": .string("1.50")])])
      #expect(
        backend.submissions[2].options == [
          "format": .string("json"), "limit": .int(5), "columns": .list([.string("name"), .string("height")]),
        ])
      #expect(backend.submissions[3].options == ["backup": .string("latest")])
      let undo = try await run("undo", "12")
      #expect(undo.status == 64 && undo.error.contains("Take back what job 12 has done?"))
      #expect(try await run("undo", "12", "--yes", "--force").status == 0)
      #expect(backend.submissions.last?.kind == "undo" && backend.submissions.last?.store == nil)
      #expect(backend.submissions.last?.options == ["job": .int(12), "force": .bool(true)])
    }
  }
}
