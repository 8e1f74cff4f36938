import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ladectl

@Suite("ladectl with a daemon")
struct LadectlWithDaemonTests {
  private func with(
    _ backend: MemoryBackend, _ body: (_ run: @Sendable ([String]) async throws -> LadectlProcess) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      try await body { try await LadectlProcess.run($0, socket: server.path) }
    }
  }

  @Test("a file is submitted by its absolute path, with its options")
  func submit() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      let result = try await run([
        "submit", "data/stops.csv", "--entity", "Stop", "--store", "main", "--mode", "insert", "--priority", "3",
        "--option", "delimiter=;", "--option", "header=false", "--unique-key", "k",
      ])
      #expect(result.status == 0)
      #expect(result.output == "job 1 available\n")
      let submission = try #require(backend.submissions.first)
      #expect(submission.source == FileManager.default.currentDirectoryPath + "/data/stops.csv")
      #expect(submission.mode == .insert)
      #expect(submission.options == ["delimiter": .string(";"), "header": .bool(false)])
      #expect(backend.peers.first?.uid == getuid())
      #expect(backend.peers.first?.pid != getpid())
    }
  }

  @Test("what the daemon refuses exits 1 with the reason and the hint")
  func refused() async throws {
    try await with(MemoryBackend()) { run async throws in
      let result = try await run(["submit", "/a.csv", "--entity", "Nothing"])
      #expect(result.status == 1)
      #expect(result.error == "ladectl: There is no entity 'Nothing'.\n  There are Route, Stop.\n")
    }
  }

  @Test("jobs are listed as a table without colours in a pipe, and as JSON")
  func list() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .completed), .example(2, .running)])
    try await with(backend) { run async throws in
      let table = try await run(["list"])
      #expect(table.status == 0)
      #expect(table.output.split(separator: "\n").count == 3)
      #expect(!table.output.contains("\u{1B}"))
      let json = try await run(["list", "--state", "running,available", "--json"])
      #expect(try WireFormat.decode(JobList.self, from: Data(json.output.utf8)).jobs == [.example(2, .running)])
    }
  }

  @Test("a list has the columns that are asked for, in the order that is asked for")
  func columns() async throws {
    let backend = MemoryBackend(jobs: [
      .example(1, .completed, source: "b.csv"), .example(2, .running, source: "a.csv"), .example(3, .completed),
    ])
    try await with(backend) { run async throws in
      let byName = try await run(["list", "--columns", "id,source,state", "--sort", "source,-id"])
      #expect(
        byName.output == """
          ID  SOURCE     STATE
           2  a.csv      running
           1  b.csv      completed
           3  stops.csv  completed

          """)
      let byTime = try await run(["list", "--columns", "id,took", "--sort", "-took,id"])
      #expect(byTime.output == "ID    TOOK\n 1  3.00 s\n 3  3.00 s\n 2\n")
    }
  }

  @Test("several jobs and ranges are shown one after the other, and of a range only those that are there")
  func ranges() async throws {
    let backend = MemoryBackend(jobs: [1, 2, 5, 9].map { .example($0, .completed) })
    try await with(backend) { run async throws in
      func shown(_ arguments: String...) async throws -> [Int64] {
        let run = try await run(["show", "--json"] + arguments)
        #expect(run.status == 0, "\(run.error)")
        return try WireFormat.decode(JobList.self, from: Data(run.output.utf8)).jobs.map(\.id)
      }
      #expect(try await shown("2-8") == [2, 5])
      #expect(try await shown("9", "1-5,2") == [9, 1, 2, 5])
      #expect(try await shown("3-4") == [])
      #expect(try await run(["show", "5", "3"]).status == 1)
      #expect(try await run(["wait", "1-9"]).status == 0)
    }
  }

  @Test("import makes a job of each file, with options by their own names")
  func imports() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      let result = try await run([
        "import", "/a.csv", "/b.csv", "--entity", "Stop", "--delimiter", ";", "--no-header", "--columns", "x,y",
        "--nulls",
        "NA", "--skip-lines", "2", "--dry-run", "--atomic", "file", "--option", "trim=true", "--tag", "nightly",
        "--after",
        "3,5-6", "--after-end", "9", "--timeout", "10m", "--hold",
      ])
      #expect(result.status == 0, "\(result.error)")
      #expect(result.output == "job 1 available\njob 2 available\n")
      let submission = try #require(backend.submissions.last)
      #expect(submission.source == "/b.csv")
      #expect(
        submission.options == [
          "delimiter": .string(";"), "header": .bool(false), "columns": .list([.string("x"), .string("y")]),
          "nulls": .list([.string("NA")]), "skip_lines": .int(2), "dry_run": .bool(true), "atomic": .string("file"),
          "trim": .bool(true),
        ])
      #expect(submission.tags == ["nightly"] && submission.isHeld && submission.timeout == 600)
      #expect(
        submission.after == [3, 5, 6].map { JobDependency(job: $0) } + [JobDependency(job: 9, condition: .ended)])
      let one = try await run(["import", "/c.csv", "--recipe", "r", "--json"])
      #expect(try WireFormat.decode(JobList.self, from: Data(one.output.utf8)).jobs.map(\.id) == [3])
    }
  }

  @Test("several files are submitted by one request, with a result for each")
  func many() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      let result = try await run(["import", "/a.csv", "/b.csv", "/c.csv", "--recipe", "r"])
      #expect(result.status == 0)
      #expect(result.output == "job 1 available\njob 2 available\njob 3 available\n")
      #expect(backend.submissions.map(\.source) == ["/a.csv", "/b.csv", "/c.csv"])
      #expect(backend.requestsForMany == 1)
      let files = (0...JobsSubmission.maximumJobs).map { "/\($0).csv" }
      let list = try await run(["import", "--recipe", "r", "--json"] + files)
      let jobs = try WireFormat.decode(JobList.self, from: Data(list.output.utf8)).jobs
      #expect(jobs.map(\.id) == (4..<4 + Int64(files.count)).map { $0 })
      #expect(backend.requestsForMany == 3)
    }
  }

  @Test("files beside one that is refused are reported, and the status is that of the refusal")
  func partly() async throws {
    let backend = MemoryBackend()
    backend.refusesSource("/b.csv")
    try await with(backend) { run async throws in
      let some = try await run(["import", "/a.csv", "/b.csv", "/c.csv", "--recipe", "r"])
      #expect(some.status == 1 && some.output == "job 1 available\njob 2 available\n")
      #expect(some.error.hasPrefix("ladectl: /b.csv is nobody's file"))
      let result = try await run(["import", "/a.csv", "--entity", "Nothing"])
      #expect(result.status == 1 && result.output == "")
    }
  }

  @Test("work on a store is a job of its kind, on the only store if none is named")
  func storeWork() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      #expect(try await run(["store", "vacuum", "--incremental", "--option", "pages=7"]).status == 0)
      #expect(try await run(["store", "reindex", "other", "--entity", "Stop", "--priority", "-2"]).status == 0)
      let kinds = backend.submissions.map { [$0.kind, $0.store] }
      #expect(kinds == [["vacuum", "main"], ["reindex", "other"]])
      #expect(backend.submissions.last?.options == ["entities": .list([.string("Stop")])])
      #expect(backend.submissions.first?.options == ["incremental": .bool(true), "pages": .int(7)])
      #expect(backend.submissions.last?.priority == -2)
    }
  }

  @Test("watch in a pipe says so, and writes a line for each change of state")
  func watchInPipe() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(1, .available)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      async let watched = LadectlProcess.run(["watch"], socket: server.path)
      async let asJSON = LadectlProcess.run(["watch", "--json"], socket: server.path)
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      await arrivals.next()
      backend.set(.example(1, .running))
      backend.set(.example(1, .running, progress: JobProgress(records: 5)))
      backend.set(.example(1, .completed))
      backend.set(.example(2, .cancelled, reason: "enough"))
      // The streams send a job only as it is last, so less may have been sent before the stop.
      var departures = backend.departures.makeAsyncIterator()
      await server.stop()
      await departures.next()
      let lines = try await watched
      #expect(lines.status == 5)
      #expect(lines.error.contains("this isn't a terminal to draw on"))
      #expect(!lines.output.contains("\u{1B}"))
      for line in try await asJSON.output.split(separator: "\n") {
        _ = try WireFormat.decode(Job.self, from: Data(line.utf8))
      }
    }
  }

  @Test("version tells both versions, and ladectl's own without a daemon, with that status")
  func version() async throws {
    try await with(MemoryBackend()) { run async throws in
      let both = try await run(["version"])
      #expect(both.output == "ladectl \(LadeVersion.current)\nladed   \(LadeVersion.current), process 4711\n")
      let json = try await run(["version", "--json"])
      #expect(json.output.contains("\"laded\""))
    }
    let directory = try TemporaryDirectory()
    let alone = try await LadectlProcess.run(["version"], socket: directory.file("s"))
    #expect(alone.status == 5 && alone.output == "ladectl \(LadeVersion.current)\n")
  }

  @Test("a job is shown with its steps, its reason and its reject file")
  func show() async throws {
    var job = Job.example(5, .discarded, reason: "line 7: 'x' isn't a number")
    job.rejectsFile = "/var/lib/lade/rejects/5.csv"
    job.transitions = [
      JobTransition(at: job.submittedAt, from: nil, to: .available, reason: "submitted", by: "anna"),
      JobTransition(at: job.submittedAt, from: .running, to: .discarded, reason: "too many rejects"),
    ]
    try await with(MemoryBackend(jobs: [job])) { run async throws in
      let result = try await run(["show", "5"])
      #expect(result.status == 0)
      for words in ["line 7: 'x' isn't a number", "/var/lib/lade/rejects/5.csv", "too many rejects", "anna"] {
        #expect(result.output.contains(words))
      }
      let json = try await run(["show", "5", "--json"])
      #expect(try WireFormat.decode(Job.self, from: Data(json.output.utf8)) == job)
    }
  }

  @Test("a job's rejects are shown by reason, most frequent first, with examples")
  func rejects() async throws {
    var job = Job.example(5, .completed)
    job.rejectsFile = "/var/lib/lade/rejects/5.csv"
    try await with(MemoryBackend(jobs: [job, .example(6, .completed)])) { run async throws in
      let result = try await run(["rejects", "5"])
      #expect(result.status == 0)
      #expect(
        result.output == """
          Job 5: 1,204 rejected

          1,203  not_a_number in age
            1, line 7: “x” isn't a number
              1,x
            and 1,202 more

          1  too_few_fields
            and 1 more

          The records are in /var/lib/lade/rejects/5.csv: copy it, correct them there, and submit the copy.

          """)
      let json = try await run(["rejects", "5", "--json"])
      let report = try WireFormat.decode(RejectReport.self, from: Data(json.output.utf8))
      #expect(report.count == 1204 && report.groups.map(\.code) == ["not_a_number", "too_few_fields"])
      #expect(try await run(["rejects", "6"]).output == "Job 6 has rejected nothing.\n")
      #expect(try await run(["rejects", "99"]).status == 1)
    }
  }

  @Test("waiting exits 0 when all have completed, and 3 when one hasn't")
  func wait() async throws {
    let backend = MemoryBackend(jobs: [
      .example(1, .completed), .example(2, .completed), .example(3, .discarded, reason: "no such file"),
    ])
    try await with(backend) { run async throws in
      let good = try await run(["wait", "1", "2"])
      #expect(good.status == 0)
      #expect(good.output.contains("1 stops.csv completed"))
      let bad = try await run(["wait", "3"])
      #expect(bad.status == 3)
      #expect(bad.output == "3 stops.csv discarded: no such file\n")
      let json = try await run(["wait", "1", "3", "--json"])
      #expect(json.status == 3)
      #expect(try WireFormat.decode(JobList.self, from: Data(json.output.utf8)).jobs.map(\.id) == [1, 3])
      #expect(try await run(["wait", "99"]).status == 1)
      #expect(try await run(["wait", "--all"]).status == 0)
    }
  }

  @Test("waiting exits 2 when every job has completed and one of them rejected records")
  func waitForRejects() async throws {
    let some = Job.example(2, .completed, progress: JobProgress(records: 3, inserted: 2, rejected: 1))
    let backend = MemoryBackend(jobs: [.example(1, .completed), some, .example(3, .discarded)])
    try await with(backend) { run async throws in
      #expect(try await run(["wait", "1", "2"]).status == 2)
      #expect(try await run(["wait", "1", "2", "3"]).status == 3)
      #expect(try await run(["wait", "1"]).status == 0)
    }
    let colours = Style(colours: true, unicode: true)
    #expect(ProgressLine(some).sentence(style: colours).contains("\u{1B}[33mcompleted"))
    #expect(JobList(jobs: [some]).rendered(width: nil, style: colours).contains("\u{1B}[33mcompleted"))
  }

  @Test("waiting follows a job to its end")
  func follow() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running), .example(2, .available)])
    try await with(backend) { run async throws in
      async let result = run(["wait", "--all"])
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      backend.set(.example(1, .completed))
      backend.set(.example(2, .running))
      backend.set(.example(2, .completed))
      let ended = try await result
      #expect(ended.status == 0)
    }
  }

  @Test("waiting longer than was allowed exits 4")
  func timeout() async throws {
    try await with(MemoryBackend(jobs: [.example(1, .running)])) { run async throws in
      let result = try await run(["wait", "1", "--timeout", "0.3"])
      #expect(result.status == 4)
      #expect(result.error.contains("one job hadn't ended"))
    }
  }

  @Test("a poll of jobs answers at once, with the status of those that have ended")
  func poll() async throws {
    let jobs = [Job.example(1, .completed), .example(2, .discarded), .example(3, .running)]
    try await with(MemoryBackend(jobs: jobs)) { run async throws in
      #expect(try await run(["wait", "1", "--timeout", "0"]).status == 0)
      #expect(try await run(["wait", "2", "--timeout", "0"]).status == 3)
      #expect(try await run(["wait", "1", "3", "--timeout", "0"]).status == 4)
    }
  }

  @Test("a list of all jobs pages by itself, and a part of them says how to go on")
  func listAll() async throws {
    let backend = MemoryBackend(jobs: (1...1500).map { .example($0, .completed) })
    try await with(backend) { run async throws in
      let all = try await run(["list", "--all", "--json"])
      #expect(try WireFormat.decode(JobList.self, from: Data(all.output.utf8)).jobs.count == 1500)
      let some = try await run(["list", "--limit", "2"])
      #expect(some.output.split(separator: "\n").count == 3)
      #expect(some.error == "there are more: --older-than 1499, or --all\n")
      #expect(try await run(["list", "--all", "--limit", "5"]).status == 64)
    }
  }

  @Test("a daemon that stops while a client waits for a job is reported as that")
  func daemonStops() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(1, .running)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      async let result = LadectlProcess.run(["wait", "1"], socket: server.path)
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      await server.stop()
      let ended = try await result
      #expect(ended.status == 5)
    }
  }

  @Test("every job that can be cancelled is, and the others are reported")
  func cancel() async throws {
    try await with(MemoryBackend(jobs: [.example(1, .completed), .example(2, .running)])) { run async throws in
      let result = try await run(["cancel", "1", "2", "9"])
      #expect(result.status == 1)
      #expect(result.output == "job 2 cancelled\n")
      #expect(result.error.contains("Job 1 has ended already."))
      #expect(result.error.contains("There is no job 9."))
    }
  }

  @Test("objects come as a table, as CSV and as JSON")
  func fetch() async throws {
    let backend = MemoryBackend()
    try await with(backend) { run async throws in
      let table = try await run(["fetch", "Stop", "--where", "name != ''", "--sort", "name,-height", "--limit", "5"])
      #expect(
        table.output == """
          name                 height  open
          Große Straße, "Süd"     1.5  true
          駅                       12

          """)
      #expect(table.error == "2 objects\n")
      #expect(backend.objectQueries.first?.sort.map(\.text) == ["name", "-height"])
      #expect(backend.objectQueries.first?.predicate == "name != ''")
      let csv = try await run(["fetch", "Stop", "--format", "csv"])
      #expect(csv.output == "name,height,open\n\"Große Straße, \"\"Süd\"\"\",1.5,true\n駅,12,\n")
      let objects = try await run(["fetch", "Stop", "--format", "json"])
      #expect(
        objects.output
          == "[\n{\"name\":\"Große Straße, \\\"Süd\\\"\",\"height\":1.5,\"open\":true},\n"
          + "{\"name\":\"駅\",\"height\":12,\"open\":null}\n]\n")
      let json = try await run(["fetch", "Stop", "--json"])
      #expect(try WireFormat.decode(ObjectPage.self, from: Data(json.output.utf8)).rows.count == 2)
    }
  }

  @Test("a count is a number alone")
  func count() async throws {
    try await with(MemoryBackend()) { run async throws in
      #expect(try await run(["count", "Stop"]).output == "1234\n")
      let json = try await run(["count", "Stop", "--json"])
      #expect(try WireFormat.decode(ObjectCount.self, from: Data(json.output.utf8)).count == 1234)
    }
  }

  @Test("an origin is shown with file, place, hash and job")
  func origin() async throws {
    try await with(MemoryBackend()) { run async throws in
      let text = try await run(["where-from", "Stop", "42"]).output
      #expect(
        text.hasPrefix(
          "Stop 42\n  inserted\n    feed.zip, member stops.txt, line 3, byte 40, record 2\n    sha256 abab"))
      #expect(
        text.contains("\n    job 12 (import), recipe stops, submitted by ") && text.contains("; taken back by job 13\n")
      )
      #expect(text.contains("  deleted\n    job 13 (undo), which took back job 12, submitted by "))
      #expect(text.hasSuffix("\nStop 8\n  of unknown origin\n"))
      let json = try await run(["where-from", "Stop", "--where", "open == NO", "--json"])
      #expect(try WireFormat.decode(RowOrigins.self, from: Data(json.output.utf8)).objects.count == 2)
      for words in [["where-from", "Stop"], ["where-from", "Stop", "1", "--where", "open == NO"]] {
        #expect(try await run(words).status == 64)
      }
    }
  }

  @Test("the status waits for a daemon that isn't there yet, and gives up in time")
  func statusWait() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("later/s")
    let none = try await LadectlProcess.run(["status", "--wait", "--timeout", "0.2"], socket: path)
    #expect(none.status == 4)
    let once = ["status", "--wait", "--timeout", "0"]
    #expect(try await LadectlProcess.run(once, socket: path).status == 5)
    let alone = try await LadectlProcess.run(["status", "--timeout", "1"], socket: path)
    #expect(alone.status == 64 && alone.error.contains("--timeout is for --wait"), "\(alone.error)")
    let waiting = Task { try await LadectlProcess.run(["status", "--wait", "--timeout", "60"], socket: path) }
    try FileManager.default.createDirectory(atPath: directory.file("later"), withIntermediateDirectories: false)
    let (shown, asked) = try await RunningServer.with(MemoryBackend(), at: path) { _ in
      (try await waiting.value, try await LadectlProcess.run(once, socket: path))
    }
    #expect(shown.status == 0 && asked.status == 0)
    #expect(shown.output.hasPrefix("laded \(LadeVersion.current), process 4711"))
    #expect(shown.output.contains("/var/lib/lade/main.sqlite"))
  }
}
