import ControlAPI
import Foundation
import Testing

@Suite("ladectl as a program")
struct LadectlTests {
  @Test("without a daemon it says how to start one and exits 5")
  func noDaemon() async throws {
    let directory = try TemporaryDirectory()
    let result = try await LadectlProcess.run(["list"], socket: directory.file("s"))
    #expect(result.status == 5)
    #expect(result.output == "")
    #expect(result.error.contains("laded isn't running"))
    #expect(result.error.contains("systemctl start laded"))
  }

  @Test("a socket that nobody listens on is told apart from none, also in JSON")
  func nobodyListens() async throws {
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: false)
    let result = try await LadectlProcess.run(["status", "--json", "--socket", directory.file("s")])
    #expect(result.status == 5)
    let problem = try WireFormat.decode(Problem.self, from: Data(result.error.utf8))
    #expect(problem.code == "no_daemon")
    #expect(problem.detail.contains("nobody listens"))
    withExtendedLifetime(socket) {}
  }

  @Test(
    "whoever answers in another way than this version expects is told by its name",
    arguments: [
      (
        "HTTP/1.1 404 Not Found\r\nServer: laded/9.9.9\r\nContent-Type: application/problem+json\r\n"
          + "Content-Length: 95\r\n\r\n"
          + #"{"type":"x","title":"x","status":404,"code":"no_such_route","detail":"There is no /v1/status."}"#, "9.9.9"
      ),
      ("HTTP/1.1 200 OK\r\nServer: laded/9.9.9\r\nContent-Length: 2\r\n\r\n{}", "9.9.9"),
      ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "502"),
      ("SSH-2.0-OpenSSH_9.2\r\n", "HTTP"),
    ])
  func otherVersion(_ answer: String, _ says: String) async throws {
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: true)
    socket.answerOnce(answer)
    let result = try await LadectlProcess.run(["status"], socket: directory.file("s"))
    #expect(result.status == 1)
    #expect(result.error.contains("ladectl \(LadeVersion.current)"))
    #expect(result.error.contains(says))
  }

  @Test("a file that isn't a socket is told as that")
  func notASocket() async throws {
    let directory = try TemporaryDirectory()
    try Data("x".utf8).write(to: URL(fileURLWithPath: directory.file("s")))
    let result = try await LadectlProcess.run(["status"], socket: directory.file("s"))
    #expect(result.status == 5)
    #expect(result.error.contains("isn't a socket"))
  }

  @Test(
    "a wrong command line exits 64 and shows the usage",
    arguments: [
      ["submit"], ["submit", "a.csv"], ["submit", "a.csv", "--recipe", "r", "--entity", "E"], ["list", "--state", "x"],
      ["wait"], ["wait", "1", "--all"], ["show", "one"], ["nonsense"], ["fetch", "E", "--format", "xml"],
    ])
  func usage(_ arguments: [String]) async throws {
    let result = try await LadectlProcess.run(arguments)
    #expect(result.status == 64)
    #expect(result.error.lowercased().contains("usage: ladectl"))
  }

  @Test("version and help need no daemon")
  func version() async throws {
    let version = try await LadectlProcess.run(["--version"])
    #expect(version.status == 0)
    #expect(version.output == LadeVersion.current + "\n")
    let help = try await LadectlProcess.run(["--help"])
    #expect(help.status == 0)
    #expect(help.output.contains("Exit status"))
  }

  @Test("a model is shown without a daemon, and one that isn't there is an error")
  func model() async throws {
    let directory = try TemporaryDirectory()
    let model = directory.file("Country.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
    let xml = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Country" representedClassName="Country">
          <attribute name="name" optional="YES" attributeType="String"/>
        </entity>
      </model>
      """
    try Data(xml.utf8).write(to: URL(fileURLWithPath: model + "/contents"))
    let shown = try await LadectlProcess.run(["model", "show", model])
    #expect(shown.status == 0)
    #expect(shown.output.contains("Country"))
    let json = try await LadectlProcess.run(["model", "show", model, "--json"])
    #expect(json.status == 0)
    #expect(json.output.contains("Country"))
    let missing = try await LadectlProcess.run(["model", "show", directory.file("none.xcdatamodeld")])
    #expect(missing.status == 1)
    #expect(missing.error.contains("none.xcdatamodeld"))
  }
}

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
            line 7: “x” isn't a number
              1,x
            and 1,202 more

          1  too_few_fields
            and 1 more

          The records are in /var/lib/lade/rejects/5.csv: copy it, mend them there, and submit the copy.

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

  @Test("a daemon that stops while somebody waits for a job is told as that")
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

  @Test("every job that can be cancelled is, and the others are told")
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
          2 objects

          """)
      #expect(backend.objectQueries.first?.sort.map(\.text) == ["name", "-height"])
      #expect(backend.objectQueries.first?.predicate == "name != ''")
      let csv = try await run(["fetch", "Stop", "--format", "csv"])
      #expect(csv.output == "name,height,open\n\"Große Straße, \"\"Süd\"\"\",1.5,true\n駅,12,\n")
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

  @Test("the status waits for a daemon that isn't there yet, and gives up in time")
  func statusWait() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("later/s")
    let none = try await LadectlProcess.run(["status", "--wait", "0.2"], socket: path)
    #expect(none.status == 4)
    let waiting = Task { try await LadectlProcess.run(["status", "--wait", "60"], socket: path) }
    try FileManager.default.createDirectory(atPath: directory.file("later"), withIntermediateDirectories: false)
    let shown = try await RunningServer.with(MemoryBackend(), at: path) { _ in try await waiting.value }
    #expect(shown.status == 0)
    #expect(shown.output.hasPrefix("laded \(LadeVersion.current), process 4711"))
    #expect(shown.output.contains("/var/lib/lade/main.sqlite"))
  }
}
