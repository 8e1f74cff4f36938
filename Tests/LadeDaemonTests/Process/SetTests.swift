import ControlAPI
import Foundation
import LadeTypes
import ManagedObjects
import TestSupport
import Testing

@Suite("A daemon that takes sets of files", .startsDaemons)
struct SetTests {
  /// Starts a daemon whose recipe has a set.
  private func start(
    _ set: String = Timetable.usual, _ more: String = ""
  ) async throws -> (folder: DaemonFolder, daemon: DaemonProcess) {
    let folder = try DaemonFolder(
      model: Timetable.model, recipes: Timetable.recipe(set, more), more: "intake: { settle: 100ms }")
    return (folder, try await folder.start())
  }

  private func drop(_ files: [String: String], in folder: DaemonFolder) throws {
    for (name, text) in files.sorted(by: { $0.key < $1.key }) { try folder.drop(text, as: name, into: "timetable") }
  }

  private func sum(_ text: String) -> String {
    SHA256.digest(Array(text.utf8)).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The sets that wait, as soon as there are so many.
  private func waiting(_ count: Int, in folder: DaemonFolder) async throws -> [WaitingSet] {
    while true {
      let sets = try await folder.asked(Status.self, "status").sets ?? []
      if sets.count == count { return sets }
    }
  }

  /// Expects that a set was refused as a whole, and says why.
  private func expectRefused(_ key: String, _ words: String..., in folder: DaemonFolder) async throws {
    let job = try await folder.job(of: "timetable-\(key)")
    #expect(job.state == .discarded && job.attempt == 1)
    let reason = job.reason ?? ""
    for word in words { #expect(reason.contains(word), "\(reason)") }
    #expect(reason.contains("nothing of the set was imported"), "\(reason)")
    #expect(try await folder.sqlite("SELECT count(*) FROM Stop") == "0")
    #expect(try await folder.sqlite("SELECT count(*) FROM Trip") == "0")
    let name = "\(job.id)-timetable-\(key)"
    #expect(try folder.names(in: "spool/corrupt").contains(name))
    let text = try folder.text("spool/corrupt/\(name).reason")
    for word in words { #expect(text.contains(word), "\(text)") }
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/incoming/timetable") == [])
  }

  @Test(
    "imports one when all of its files have come, in any order, in the order of their references")
  func orders() async throws {
    let (folder, daemon) = try await start()
    let names = ["1.done", "trips-1.csv", "stops-1.csv"]
    let files = Timetable.files("1").merging(["1.done": ""]) { $1 }
    for name in names.dropLast() { try folder.drop(files[name] ?? "", as: name, into: "timetable") }
    let set = try #require(try await waiting(1, in: folder).first)
    #expect(set.recipe == "timetable" && set.key == "1" && set.missing == ["stops-*.csv"] && !set.isOverdue)
    let text = try await folder.ladectl("status").text
    #expect(text.contains("recipe timetable: set 1 waits for stops-*.csv since "), "\(text)")
    var metrics = try PrometheusText(try await folder.http("GET", "/metrics").text)
    #expect(metrics.value("lade_spool_sets_waiting", [:]) == 1 && metrics.value("lade_spool_sets_overdue", [:]) == 0)
    try folder.drop(Timetable.stops, as: "stops-1.csv", into: "timetable")
    let job = try await folder.job(of: "timetable-1")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect((job.progress.inserted, job.progress.rejected, job.entity) == (5, 0, "*"))
    #expect(try await folder.count("Trip", where: "stop.name == \"Quay\"") == 2)
    #expect(try folder.names(in: "spool/done") == ["\(job.id)-timetable-1"])
    #expect(try folder.names(in: "spool/done/\(job.id)-timetable-1") == names.sorted())
    #expect(try await folder.asked(Status.self, "status").sets == nil)
    metrics = try PrometheusText(try await folder.http("GET", "/metrics").text)
    #expect(metrics.value("lade_spool_sets_waiting", [:]) == 0)
    try await daemon.stop()
  }

  @Test("keeps two apart that come at the same time, compressed or not")
  func interleaved() async throws {
    let (folder, daemon) = try await start("of: { Stop: \"a-*\", Trip: [\"b-*\"] }, trigger: \"*.done\"")
    try folder.drop("code,name\nA,One\n", as: "a-1.csv", into: "timetable")
    try folder.drop("code,name\nB,Two\n", as: "a-2.csv", into: "timetable")
    try folder.drop(try Packed.gzip(Data("number,stop\n2,B\n".utf8)), as: "b-2.csv.gz", into: "timetable")
    try folder.drop("", as: "1.done", into: "timetable")
    try folder.drop("", as: "2.done", into: "timetable")
    let second = try await folder.job(of: "timetable-2")
    #expect(second.state == .completed && second.progress.inserted == 2, "\(second.reason ?? "")")
    #expect(try await waiting(1, in: folder).map(\.missing) == [["b-*"]])
    #expect(try await folder.count("Stop") == 1)
    try folder.drop("number,stop\n1,A\n", as: "b-1.csv", into: "timetable")
    #expect(try await folder.job(of: "timetable-1").state == .completed)
    #expect(try await folder.sqlite("SELECT group_concat(code) FROM (SELECT code FROM Stop ORDER BY code)") == "'A,B'")
    try await daemon.stop()
  }

  @Test("refuses one whole whose counts are wrong, and takes one whose counts are right")
  func counts() async throws {
    let (folder, daemon) = try await start(Timetable.usual + ", control: { count: records }")
    try drop(Timetable.files("1").merging(["1.done": "2\nstops-1.csv 2\ntrips-1.csv 4\n"]) { $1 }, in: folder)
    try await expectRefused("1", "1.done says that trips-1.csv has 4 record(s), and it has 3", in: folder)
    try drop(Timetable.files("2").merging(["2.done": "stops-2.csv 2\n"]) { $1 }, in: folder)
    try await expectRefused("2", "2.done has no count of trips-2.csv", in: folder)
    try drop(Timetable.files("3").merging(["3.done": "{\"files\": 3}"]) { $1 }, in: folder)
    try await expectRefused("3", "3.done says 3 file(s), and the set has 2", in: folder)
    try drop(Timetable.files("4").merging(["4.done": "stops-4.csv 2\nother.csv 1"]) { $1 }, in: folder)
    try await expectRefused("4", "4.done names other.csv, which isn't in the set", in: folder)
    try drop(Timetable.files("5").merging(["5.done": "what?"]) { $1 }, in: folder)
    try await expectRefused("5", "5.done can't be read as a control file: line 1", in: folder)
    let said = "{\"files\": 2, \"of\": {\"stops-6.csv\": {\"count\": 2}, \"trips-6.csv\": {\"count\": 3}}}"
    try drop(Timetable.files("6").merging(["6.done": said]) { $1 }, in: folder)
    #expect(try await folder.job(of: "timetable-6").progress.inserted == 5)
    try await daemon.stop()
  }

  @Test(
    "compares checksums, in a list or in files beside the others, and refuses a set whole that differs")
  func checksums() async throws {
    let (folder, daemon) = try await start(Timetable.usual + ", control: { sha256: list }")
    let (stops, trips) = (sum(Timetable.stops), sum(Timetable.trips))
    try drop(
      Timetable.files("1").merging(["1.done": "\(stops)  stops-1.csv\n\(stops) *trips-1.csv\n"]) { $1 }, in: folder)
    try await expectRefused("1", "the SHA-256 of trips-1.csv is \(trips), and 1.done says \(stops)", in: folder)
    try drop(
      Timetable.files("2").merging(["2.done": "\(stops)  stops-2.csv\n\(trips)  ./trips-2.csv\n"]) { $1 }, in: folder)
    #expect(try await folder.job(of: "timetable-2").progress.inserted == 5)

    // A reload applies: from now on each file has its checksum beside it, and the set isn't complete without.
    let changed = try folder.text("lade.yaml").replacing("sha256: list", with: "sha256: sidecar")
    try folder.write(changed, to: "lade.yaml")
    #expect(try await folder.ladectl("reload").status == 0)
    try drop(
      Timetable.files("3").merging(["3.done": "", "stops-3.csv.sha256": stops + "\n"]) { $1 }, in: folder)
    #expect(try await waiting(1, in: folder).map(\.missing) == [["trips-*.csv.sha256"]])
    try folder.drop("\(trips)  trips-3.csv\n", as: "trips-3.csv.sha256", into: "timetable")
    let third = try await folder.job(of: "timetable-3")
    #expect(third.state == .completed && third.progress.unchanged == 5, "\(third.reason ?? "")")
    try await daemon.stop()
  }

  @Test(
    "leaves a trailer out, and refuses a set whole whose trailer has another number, compressed or not")
  func trailers() async throws {
    let (folder, daemon) = try await start("of: [\"stops-*\", \"trips-*\"], control: { trailer: true }")
    try folder.drop(Timetable.stops + "TRAILER,2\n", as: "stops-1.csv", into: "timetable")
    try folder.drop(Timetable.trips + "TRAILER,4\n", as: "trips-1.csv", into: "timetable")
    try await expectRefused("1", "its last line says that trips-1.csv has 4 record(s), and it has 3", in: folder)
    try folder.drop(Timetable.stops + "END\n", as: "stops-2.csv", into: "timetable")
    try folder.drop(Timetable.trips + "TRAILER,3\n", as: "trips-2.csv", into: "timetable")
    try await expectRefused("2", "the last line of stops-2.csv has no number of records", in: folder)
    try folder.drop(Timetable.stops + "TRAILER,0002\r\n\r\n", as: "stops-3.csv", into: "timetable")
    try folder.drop(
      try Packed.gzip(Data((Timetable.trips + "TRAILER,3").utf8)), as: "trips-3.csv.gz", into: "timetable")
    let job = try await folder.job(of: "timetable-3")
    #expect(job.state == .completed && job.progress.inserted == 5 && job.progress.rejected == 0, "\(job.reason ?? "")")
    // In a text of lines, a line of JSON.
    try folder.drop(
      "{\"code\": \"C\", \"name\": \"Cape\"}\n{\"records\": 1}\n", as: "stops-4.ndjson", into: "timetable")
    try folder.drop("number,stop\n0\n", as: "trips-4.csv", into: "timetable")
    let lines = try await folder.job(of: "timetable-4")
    #expect(lines.state == .completed && lines.progress.inserted == 1, "\(lines.reason ?? "")")
    try await daemon.stop()
  }

  @Test(
    "removes one whose values are masked, and tells nothing of a last line that may be a record")
  func masked() async throws {
    let (folder, daemon) = try await start(
      "of: [\"stops-*\", \"trips-*\"], control: { trailer: true }", ", properties: { Stop.name: { mask: redact } }")
    try folder.drop("code,name\nA,Quay\nB,49291234\n", as: "stops-1.csv", into: "timetable")
    try folder.drop(Timetable.trips + "TRAILER,3\n", as: "trips-1.csv", into: "timetable")
    let refused = try await folder.job(of: "timetable-1")
    let reason = try #require(refused.reason)
    #expect(reason.contains("the last line of stops-1.csv has another number than that of its records, 1"), "\(reason)")
    #expect(!reason.contains("49291234"))
    try folder.drop(Timetable.stops + "TRAILER,2\n", as: "stops-2.csv", into: "timetable")
    try folder.drop(Timetable.trips + "TRAILER,3\n", as: "trips-2.csv", into: "timetable")
    let job = try await folder.job(of: "timetable-2")
    #expect(job.state == .completed && job.progress.inserted == 5, "\(job.reason ?? "")")
    #expect(try await folder.sqlite("SELECT DISTINCT name FROM Stop") == "'****'")
    try await daemon.stop()
    for place in ["active", "done", "incoming/timetable"] { #expect(try folder.names(in: "spool/" + place) == []) }
    #expect(try folder.names(in: "spool/corrupt").allSatisfy { $0.hasSuffix(".reason") })
  }

  @Test("takes nothing of a set in whose last file too many records are rejected")
  func rejects() async throws {
    let (folder, daemon) = try await start(Timetable.usual, ", reject_limit: 1")
    try drop(
      ["stops-1.csv": Timetable.stops, "trips-1.csv": "number,stop\n1,A\nx,A\ny,B\n", "1.done": ""], in: folder)
    let job = try await folder.job(of: "timetable-1")
    #expect(job.state == .discarded)
    #expect(job.reason?.contains("2 records were rejected, more than the limit of 1") == true, "\(job.reason ?? "")")
    #expect(job.reason?.contains("Nothing of the file was committed") == true)
    #expect(try await folder.sqlite("SELECT count(*) FROM Stop") == "0")
    #expect(try folder.names(in: "spool/corrupt/\(job.id)-timetable-1") == ["1.done", "stops-1.csv", "trips-1.csv"])

    // Fewer go into a folder, by file; and what was refused can be tried again by another limit.
    try drop(["stops-2.csv": Timetable.stops, "trips-2.csv": "number,stop\n1,A\nx,A\n", "2.done": ""], in: folder)
    let second = try await folder.job(of: "timetable-2")
    #expect(second.state == .completed && second.progress.rejected == 1, "\(second.reason ?? "")")
    let rejects = try #require(second.rejectsFile)
    #expect(try FileManager.default.contentsOfDirectory(atPath: rejects) == ["Trip.csv"])

    // The rejects of a set are retried as those of a feed.
    let retry = try await folder.got(
      Job.self, "POST", .retryRejects(second.id),
      body: RejectRetryRequest(records: [.init(number: 1, record: "2,B")]))
    let ended = try await folder.ended(retry.id)
    #expect(ended.state == .completed && ended.progress.inserted == 1, "\(ended.reason ?? "")")
    #expect(try await folder.sqlite("SELECT number FROM Trip ORDER BY number") == "1\n2")
    try await daemon.stop()
  }

  @Test(
    "remembers half a set over a restart, and says when it has waited for too long")
  func restarted() async throws {
    let (folder, daemon) = try await start(Timetable.usual + ", timeout: 1s")
    try folder.drop(Timetable.stops, as: "stops-1.csv", into: "timetable")
    let before = try #require(try await waiting(1, in: folder).first)
    try await daemon.stop()
    let next = try await folder.start()
    while try await waiting(1, in: folder).first?.isOverdue != true {}
    let after = try #require(try await waiting(1, in: folder).first)
    #expect(after.since == before.since && after.files == ["stops-1.csv"])
    try await folder.expectToldOnce("a set of recipe timetable isn't complete", by: next)
    #expect(try await folder.ladectl("status").text.contains(", overdue"))
    let metrics = try PrometheusText(try await folder.http("GET", "/metrics").text)
    #expect(metrics.value("lade_spool_sets_overdue", [:]) == 1)
    let health: Health = try await folder.http("GET", "/v1/health").decoded()
    #expect(health.status == .warn && health.checks["sets:timetable"]?.first?.status == .warn)
    try folder.drop(Timetable.trips, as: "trips-1.csv", into: "timetable")
    try folder.drop("", as: "1.done", into: "timetable")
    #expect(try await folder.job(of: "timetable-1").state == .completed)
    try await next.stop()
  }

  @Test("refuses an incomplete set whole after its time, where that is said")
  func late() async throws {
    let (folder, daemon) = try await start(Timetable.usual + ", timeout: 1s, after_timeout: refuse")
    let watch = try FolderWatch(folder.file("spool/corrupt"))
    try folder.drop(Timetable.stops, as: "stops-1.csv", into: "timetable")
    try folder.drop("", as: "1.done", into: "timetable")
    try await watch.appearance(of: "timetable-1")
    #expect(try folder.names(in: "spool/corrupt/timetable-1") == ["1.done", "stops-1.csv"])
    #expect(try folder.text("spool/corrupt/timetable-1.reason").contains("it lacks trips-*.csv"))
    try await daemon.stop()
  }

  @Test("imports one by ladectl, over HTTP and by a ticket, with the same checks")
  func submitted() async throws {
    let (folder, daemon) = try await start(Timetable.usual + ", control: { count: records }")
    let stops = try folder.write(Timetable.stops, to: "stops-1.csv")
    let trips = try folder.write(Timetable.trips, to: "trips-1.csv")
    let done = try folder.write("stops-1.csv 2\ntrips-1.csv 3\n", to: "1.done")
    let missing = try await folder.ladectl("import", "--set", stops, trips, "--recipe", "timetable")
    #expect(missing.status != 0 && missing.error.contains("there is no *.done"), "\(missing.error)")
    let single = try await folder.ladectl("import", stops, "--recipe", "timetable")
    #expect(single.status != 0 && single.error.contains("a set of files"), "\(single.error)")
    #expect(try await folder.listedJobs().isEmpty)
    let good = try await folder.ladectl("import", "--set", trips, done, stops, "--recipe", "timetable", "--wait")
    #expect(good.status == 0, "\(good.text)\(good.error)")
    let first = try await folder.job(of: "timetable-1")
    #expect(first.state == .completed && first.progress.inserted == 5)
    #expect(try folder.names(in: "spool/done/\(first.id)-timetable-1") == ["1.done", "stops-1.csv", "trips-1.csv"])
    #expect(FileManager.default.fileExists(atPath: stops))

    try folder.write("stops-1.csv 2\ntrips-1.csv 2\n", to: "1.done")
    let body = "{\"recipe\": \"timetable\", \"files\": [\"\(stops)\", \"\(trips)\", \"\(done)\"]}"
    let made: Job = try await folder.http("POST", "/v1/jobs", body).decoded()
    let second = try await folder.ended(made.id)
    #expect(second.state == .discarded && second.reason?.contains("1.done says that trips-1.csv has 2") == true)
    let both = "{\"recipe\": \"timetable\", \"files\": [\"\(stops)\"], \"source\": \"\(stops)\"}"
    #expect(try await folder.http("POST", "/v1/jobs", both).status == 422)

    for (name, text) in ["stops.csv": Timetable.stops, "trips.csv": Timetable.trips] {
      try folder.drop(text, as: name, into: "")
    }
    try folder.drop("{store: main, files: [stops.csv, trips.csv]}", as: "plain.job", into: "")
    let third = try await folder.job(of: "plain")
    #expect(third.state == .completed && third.progress.unchanged == 5, "\(third.reason ?? "")")
    #expect(try folder.names(in: "spool/done/\(third.id)-plain") == [".ticket", "stops.csv", "trips.csv"])
    for (name, text) in Timetable.files("9") { try folder.drop(text, as: name, into: "") }
    try folder.drop("stops-9.csv 1", as: "9.txt", into: "")
    let set = "of: [\"stops-*\", \"trips-*\"], control: {count: records, file: \"*.txt\"}"
    try folder.drop(
      "{store: main, files: [stops-9.csv, 9.txt, trips-9.csv], options: {set: {\(set)}}}", as: "checked.job", into: "")
    let fourth = try await folder.job(of: "checked")
    #expect(fourth.state == .discarded && fourth.reason?.contains("9.txt says that stops-9.csv has 1") == true)
    try await daemon.stop()
  }

  @Test("refuses a configuration whose sets can't be")
  func configuration() async throws {
    for (set, words) in [
      ("of: [\"*-*\"]", "at most one *"), ("of: [\"planes-*\"]", "belongs to no entity"),
      ("of: { Plane: \"stops-*\" }", "“Plane” belongs to no entity"), ("trigger: \"*.done\"", "`of`"),
      ("of: [\"stops-*\"], control: { count: records }", "neither a `trigger` nor a `file`"),
      ("of: [\"stops-*\", \"stops-*\"]", "the same"), ("of: [\"stops-*\"], after_timeout: refuse", "no `timeout`"),
      ("of: [\"stops-*\"], control: { file: \"*.ctl\" }", "neither `count` nor"),
    ] {
      let folder = try DaemonFolder(model: Timetable.model, recipes: Timetable.recipe(set))
      let checked = try await ProgramOutput.of(
        Products.laded, ["--check-config", "--config", folder.file("lade.yaml")],
        environment: Products.environment([:]),
        files: folder.nextRun())
      #expect(checked.status != 0 && checked.error.contains(words), "\(set): \(checked.error)")
    }
  }
}
