import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("ladectl with a daemon", .startsDaemons)
struct VerbTests {
  private static let recipes = """
      members: { store: main, entity: Member, batch_size: 500 }
    """
  private static let csv = "number,name,age,manager\n1,Ada,36,\n2,Bob,50,1\n3,Cy,36,1\n4,Dee,41,2\n"

  @Test("submit --wait imports a file of one's own, which stays where it is")
  func submit() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "mine.csv")
    let run = try await folder.ladectl("submit", file, "--entity", "Member", "--wait")
    #expect(run.status == 0)
    #expect(run.text.contains("1 mine.csv completed: 4 records, 4 inserted, 0 updated"), "\(run.text)")
    #expect(try folder.text("mine.csv") == Self.csv)
    #expect(try folder.text("spool/done/1-mine.csv") == Self.csv)

    let again = try await folder.asked(JobList.self, "submit", file, "--recipe", "members", "--wait")
    #expect(again.jobs.map(\.state) == [.completed])
    #expect(again.jobs.map(\.progress.unchanged) == [4])
    let job = try #require(try await folder.jobs().last)
    #expect((job.recipe, job.mode, job.submittedBy) == ("members", .upsert, "user \(getuid())"))
    try await daemon.stop()
  }

  @Test("import - reads standard input, and leaves nothing in the spool")
  func standardInput() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "mine.csv")
    let command = "'\(Products.ladectl.path)' import - --entity Member --wait < '\(file)'"
    let run = try await ProgramOutput.of(
      URL(fileURLWithPath: "/bin/sh"), ["-c", command],
      environment: Products.environment(["LADE_SOCKET": folder.file("s")]), files: folder.nextRun())
    #expect(run.status == 0, "\(run.error)")
    #expect(run.text.contains("stdin completed: 4 records, 4 inserted"), "\(run.text)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("spool/tmp")) == [])
    try await daemon.stop()
  }

  @Test("a recipe and options of one's own say how the file is read")
  func options() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write("1|Ada\n2|Bob\n", to: "plain.txt")
    let list = try await folder.asked(
      JobList.self, "submit", file, "--entity", "Member", "--mode", "insert", "--option", "delimiter=|", "--option",
      "header=false", "--option", "columns=number", "--option", "columns=name", "--wait")
    #expect(list.jobs.map(\.progress.inserted) == [2])
    #expect(try await folder.sqlite("SELECT number, name FROM Member ORDER BY 1") == "1,'Ada'\n2,'Bob'")
    try await daemon.stop()
  }

  @Test("wait ends with 0, 3, 4 or 1, by what became of the jobs")
  func wait() async throws {
    let (folder, daemon) = try await started()
    let good = try folder.write(Self.csv, to: "good.csv")
    let bad = try folder.write("", to: "bad.csv")
    let jobs = try await [
      folder.asked(Job.self, "submit", good, "--entity", "Member"),
      folder.asked(Job.self, "submit", bad, "--entity", "Member"),
      folder.asked(Job.self, "submit", good, "--entity", "Member", "--not-before", "+1h"),
    ]
    #expect(jobs.map(\.id) == [1, 2, 3])
    #expect(jobs[2].state == .scheduled)
    #expect(try await folder.ladectl("wait", "1").status == 0)
    let discarded = try await folder.ladectl("wait", "1", "2")
    #expect(discarded.status == 3)
    #expect(discarded.text.contains("2 bad.csv discarded: the file is empty"), "\(discarded.text)")
    let late = try await folder.ladectl("wait", "3", "--timeout", "0.3")
    #expect(late.status == 4)
    #expect(late.error.contains("one job hadn't ended"), "\(late.error)")
    #expect(try await folder.ladectl("wait", "--all").status == 0)
    let unknown = try await folder.ladectl("wait", "77")
    #expect(unknown.status == 1)
    #expect(unknown.error.contains("There is no job 77"))
    // One that is scheduled is cancelled at once, and its file is kept with the reason.
    #expect(try await folder.ladectl("cancel", "3").text == "job 3 cancelled\n")
    #expect(try await folder.ladectl("wait", "3").status == 3)
    let reason = try folder.text("spool/corrupt/3-good.csv.reason")
    #expect(reason.contains("cancelled by user \(getuid())"), "\(reason)")
    #expect(try await folder.ladectl("cancel", "3").status == 1)
    try await daemon.stop()
  }

  @Test("cancel of a running import leaves whole batches")
  func cancel() async throws {
    let (folder, daemon, point) = try await startedWithPoint()
    try point.arm(Members.early)
    try folder.drop(Members(rows: 20_000).csv, as: "members.csv", into: "members")
    let id = try #require(try await folder.jobs().first).id
    try await point.reached(Members.early)
    let cancel = try await folder.ladectl("cancel", "\(id)")
    #expect(cancel.status == 0)
    #expect(cancel.text == "job \(id) is asked to stop\n")
    try point.letGo()
    #expect(try await folder.ladectl("wait", "\(id)").status == 3)
    let job = try await folder.job(id)
    #expect(job.state == .cancelled)
    #expect(job.reason?.contains("user \(getuid())") == true, "\(job.reason ?? "")")
    let rows = try await folder.count("Member")
    #expect(rows.isMultiple(of: 500) && (500..<20_000).contains(rows))
    #expect(job.progress.inserted == Int64(rows))
    #expect(try folder.names(in: "spool/corrupt") == ["\(id)-members.csv", "\(id)-members.csv.reason"])
    // Nothing of it is left to go on by.
    for table in ["_lade_checkpoint", "_lade_unresolved", "_lade_aside"] {
      #expect(try await folder.sqlite("SELECT count(*) FROM \(table)") == "0", "\(table)")
    }
    try await daemon.stop()
  }

  @Test("fetch and count answer predicates, sorted and limited, in three forms")
  func fetch() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "members.csv")
    #expect(try await folder.ladectl("submit", file, "--entity", "Member", "--wait").status == 0)

    let page = try await folder.asked(
      ObjectPage.self, "fetch", "Member", "--where", "age < 45", "--sort=-age,name", "--columns",
      "name,age,manager.name")
    #expect(page.columns == ["name", "age", "manager.name"])
    #expect(
      page.rows == [
        [.string("Dee"), .int(41), .string("Bob")], [.string("Ada"), .int(36), .null],
        [.string("Cy"), .int(36), .string("Ada")],
      ])
    let csv = try await folder.ladectl(
      "fetch", "Member", "--sort", "name", "--limit", "2", "--offset", "1", "--columns", "number,name", "--format",
      "csv")
    #expect(csv.text == "number,name\n2,Bob\n3,Cy\n")
    let table = try await folder.ladectl("fetch", "Member", "--where", "manager.name == 'Ada'", "--sort", "number")
    #expect(table.text.contains("Bob") && table.text.contains("Cy") && !table.text.contains("Dee"), "\(table.text)")

    #expect(try await folder.ladectl("count", "Member").text == "4\n")
    #expect(try await folder.count("Member", where: "name BEGINSWITH[c] 'a' OR manager.manager != nil") == 2)
    let wrong = try await folder.ladectl("count", "Member", "--where", "nmae == 'Ada'")
    #expect(wrong.status == 1)
    #expect(wrong.error.contains("nmae"), "\(wrong.error)")
    let unknown = try await folder.ladectl("count", "Membre")
    #expect(unknown.status == 1)
    #expect(unknown.error.contains("Membre"), "\(unknown.error)")
    try await daemon.stop()
  }

  @Test("status, list and show tell of the daemon and its jobs")
  func status() async throws {
    let (folder, daemon) = try await started()
    let job = try await folder.imported(Self.csv, as: "members.csv", into: "members")
    let status = try await folder.asked(Status.self, "status")
    #expect(status.pid == daemon.pid)
    #expect(status.spool == folder.file("spool"))
    #expect(status.lanes.map(\.name) == ["import", "maintenance"])
    #expect(status.counts["completed"] == 1)
    #expect(status.stores.map(\.path) == [folder.file("main.sqlite")])
    #expect(try await folder.ladectl("list").text.contains("members.csv"))
    #expect(try await folder.asked(JobList.self, "list", "--state", "running").jobs == [])
    #expect(job.transitions?.map(\.to) == [.scheduled, .available, .running, .completed])
    let sheet = try await folder.ladectl("show", "\(job.id)").text
    #expect(sheet.contains("4 records, 4 inserted, 0 updated"), "\(sheet)")
    try await daemon.stop()
  }

  @Test(
    "a paused lane is seen in status, list and metrics, and by the service manager, until it is resumed")
  func pausedLane() async throws {
    let (folder, daemon) = try await started()
    #expect(try await folder.ladectl("pause", "import").status == 0)
    let file = try folder.write(Self.csv, to: "a.csv")
    let job = try await folder.got(Job.self, "POST", .jobs, body: JobSubmission(source: file, recipe: "members"))
    let lane = try #require(try await folder.asked(Status.self, "status").lanes.first)
    #expect(lane.name == "import" && lane.isPaused == true && lane.pausedBy != nil && lane.pausedAt != nil)
    let status = try await folder.ladectl("status").text
    #expect(status.contains("lane import: paused by ") && status.contains("import, paused"), "\(status)")
    let list = try await folder.ladectl("list", "--columns", "id,state").text
    #expect(list.hasPrefix("lanes paused: import\n") && list.contains("available, paused"), "\(list)")
    #expect(try await folder.asked(JobList.self, "list").jobs.map(\.obstacle) == [.paused])
    let metrics = try PrometheusText(try await folder.http("GET", "/metrics").text)
    #expect(metrics.value("lade_lane_paused", ["lane": "import"]) == 1)
    #expect(metrics.value("lade_lane_paused", ["lane": "maintenance"]) == 0)
    try await daemon.tells("STATUS=1 available, 0 running; paused: import")
    #expect(try await folder.ladectl("resume", "import").status == 0)
    #expect(try await folder.ended(job.id).state == .completed)
    #expect(try await !folder.ladectl("list").text.contains("paused"))
    #expect(try await folder.asked(Status.self, "status").lanes.first?.isPaused == false)
    try await daemon.stop()
  }

  @Test("model show needs no daemon, and has the model's warnings")
  func modelShow() async throws {
    let model = ModelText(
      ModelText.entity(
        "Boat", unique: ["name"],
        [
          .attribute("name"), .raw("<attribute name=\"length\" attributeType=\"Double\" sparkle=\"YES\"/>"),
          .raw("<anchor name=\"big\"/>"),
        ]))
    let folder = try DaemonFolder(model: model)
    let run = try await folder.ladectl("model", "show", folder.file("Model.xcdatamodeld"))
    #expect(run.status == 0)
    for words in ["Boat", "name", "length", "sparkle", "anchor"] { #expect(run.text.contains(words), "\(run.text)") }
    let none = try await folder.ladectl("model", "show", folder.file("None.xcdatamodeld"))
    #expect(none.status == 1)
    #expect(none.error.contains("None.xcdatamodeld"), "\(none.error)")
  }

  @Test("count answers growing numbers while an import runs, and so does sqlite3")
  func readers() async throws {
    let (folder, daemon, point) = try await startedWithPoint()
    let rows = 40_000
    try point.arm(Members.early)
    try folder.drop(Members(rows: rows).csv, as: "members.csv", into: "members")
    let id = try #require(try await folder.jobs().first).id
    var counts: [Int] = []
    // In the middle of a batch each time.
    for _ in 0..<4 {
      try await point.reached(Members.early)
      counts.append(try await folder.count("Member"))
      counts.append(try #require(Int(try await folder.sqlite("SELECT count(*) FROM Member"))))
      try point.arm(Members.early)
      try await point.letGoOnce()
    }
    try await point.reached(Members.early)
    try point.letGo()
    #expect(try await folder.ended(id).state == .completed)
    counts.append(try await folder.count("Member"))
    #expect(counts == counts.sorted())
    #expect(counts.last == rows)
    #expect(Set(counts).count == 5, "\(counts)")
    #expect(counts.allSatisfy { $0.isMultiple(of: 500) }, "a batch is seen whole or not at all")
    try await daemon.stop()
  }

  /// A daemon, and the point where it can be held up at a change of its store.
  private func startedWithPoint() async throws -> (DaemonFolder, DaemonProcess, KillPoint) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let point = try KillPoint(in: folder, watch: "/main.sqlite", waits: true)
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    return (folder, daemon, point)
  }

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    return (folder, try await folder.start())
  }
}
