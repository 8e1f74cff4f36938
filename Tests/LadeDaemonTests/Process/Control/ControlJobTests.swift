import ControlAPI
import Foundation
import Glibc
import Testing

/// What the control interface of a real daemon does with jobs and lanes.
@Suite("Control: jobs and lanes", .startsDaemons)
struct ControlJobTests {
  private static let recipes = """
      members: { store: main, entity: Member, batch_size: 500 }
      strict: { store: main, entity: Member, batch_size: 500, reject_limit: 0 }
    """
  private static let csv = "number,name\n1,Ada\n2,Bob\n"

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    return (folder, try await folder.start())
  }

  private func submit(_ folder: DaemonFolder, _ submission: JobSubmission) async throws -> Job {
    try await folder.got("POST", .jobs, body: submission)
  }

  /// What has become of the jobs that another changes.
  private func changed(_ folder: DaemonFolder, _ change: JobChange) async throws -> JobChangeResult {
    let job: Job = try await folder.got("POST", .changeJobs, body: change)
    return try #require(try await folder.ended(job.id).change)
  }

  @Test("a discarded job is retried with its file, and fails again for the same reason")
  func retry() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write("number,name\n1,Ada\nx,Bob\n", to: "bad.csv")
    let job = try await submit(folder, JobSubmission(source: file, recipe: "strict"))
    #expect(try await folder.ended(job.id).state == .discarded)
    #expect(try folder.names(in: "spool/corrupt") == ["1-bad.csv", "1-bad.csv.reason"])
    _ = try await folder.got(Job.self, "POST", .retryJob(job.id))
    let again = try await folder.ended(job.id)
    #expect((again.state, again.attempt) == (.discarded, 2))
    #expect(try folder.names(in: "spool/corrupt") == ["1-bad.csv", "1-bad.csv.reason"])
    // Its file corrected in its place, it completes.
    try folder.write(Self.csv, to: "spool/corrupt/1-bad.csv")
    _ = try await folder.got(Job.self, "POST", .retryJob(job.id))
    #expect(try await folder.ended(job.id).state == .completed)
    #expect(try folder.names(in: "spool/done") == ["1-bad.csv"])
    let completed = try await folder.http("POST", Endpoint.retryJob(job.id).path)
    #expect(completed.status == 409)
    try await daemon.stop()
  }

  @Test("jobs are found by what their files and failures are like, and since when")
  func found() async throws {
    let (folder, daemon) = try await started()
    let bad = try await submit(
      folder, JobSubmission(source: folder.write("number,name\nx,Bob\n", to: "bad.csv"), recipe: "strict"))
    let good = try await submit(
      folder, JobSubmission(source: folder.write(Self.csv, to: "good.csv"), recipe: "members"))
    let code = try #require(try await folder.ended(bad.id).failureCode)
    _ = try await folder.ended(good.id)
    func ids(_ option: String, _ value: String) async throws -> [Int64] {
      try await folder.asked(JobList.self, "list", option, value).jobs.map(\.id)
    }
    #expect(try await ids("--file", "*.csv") == [good.id, bad.id])
    #expect(try await ids("--file", "b?d.*") == [bad.id])
    #expect(try await ids("--file", "csv").isEmpty)
    #expect(try await ids("--error", String(code.prefix(3)) + "*") == [bad.id])
    #expect(try await ids("--error", code + "x").isEmpty)
    #expect(try await ids("--since", "1d") == [good.id, bad.id])
    #expect(try await ids("--since", "2999-01-01T00:00:00Z").isEmpty)
    try await daemon.stop()
  }

  @Test("a job whose file is gone isn't retried, and neither is one that would insert its records twice")
  func refusedRetry() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write("number,name\n1,Ada\nx,Bob\n", to: "bad.csv")
    let job = try await submit(folder, JobSubmission(source: file, recipe: "strict"))
    _ = try await folder.ended(job.id)
    try FileManager.default.removeItem(atPath: folder.file("spool/corrupt/1-bad.csv"))
    let gone = try await folder.http("POST", Endpoint.retryJob(job.id).path)
    #expect(gone.status == 409 && gone.text.contains("isn't in corrupt"), "\(gone.text)")
    #expect(try await folder.job(job.id).state == .discarded)

    let rows = (10...609).map { "\($0),Name \($0)\n" }.joined()
    let long = try folder.write("number,name\n" + rows + "x,Bob\n", to: "long.csv")
    let inserting = try await submit(
      folder, JobSubmission(source: long, recipe: "strict", mode: .insert, options: ["batch_size": .int(500)]))
    let ended = try await folder.ended(inserting.id)
    #expect(ended.state == .discarded && ended.progress.inserted == 600, "\(ended)")
    #expect(try await folder.count("Member") == 601)
    let twice = try await folder.http("POST", Endpoint.retryJob(inserting.id).path)
    #expect(twice.status == 409 && twice.text.contains("insert them again"), "\(twice.text)")
    try await daemon.stop()
  }

  @Test(
    "a paused lane begins nothing until it is resumed, and its jobs say what they wait for")
  func lanes() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "a.csv")
    #expect(try await folder.got(Lane.self, "POST", .pauseLane("import")).pausedBy == "user \(getuid())")
    let low = try await submit(folder, JobSubmission(source: file, recipe: "members", tags: ["x"]))
    let high = try await submit(folder, JobSubmission(source: file, recipe: "members", tags: ["x", "y"]))
    let waiting = try await folder.job(low.id)
    #expect(waiting.state == .available)
    #expect(waiting.waitsFor?.contains("paused") == true, "\(waiting)")
    #expect(
      try await folder.got(Job.self, "PUT", .jobPriority(high.id), body: PriorityChange(priority: 9)).priority == 9)
    #expect(try await folder.got(Job.self, "POST", .holdJob(low.id)).isHeld)
    let listed: JobList = try await folder.got(
      "GET", .jobs, JobQuery(JobSelection(tag: "x", submittedBy: "\(getuid())", isHeld: true)).queryString)
    #expect(listed.jobs.map(\.id) == [low.id])
    let widened = try await folder.got(
      Lane.self, "PUT", .laneConcurrency("import"), body: ConcurrencyChange(concurrency: 3))
    #expect((widened.concurrency, widened.configuration.concurrency) == (3, 1))
    _ = try await folder.got(LaneList.self, "POST", .resumeLanes)
    #expect(try await folder.ended(high.id).state == .completed)
    #expect(try await folder.job(low.id).state == .scheduled)
    _ = try await folder.got(Job.self, "POST", .releaseJob(low.id))
    #expect(try await folder.ended(low.id).state == .completed)
    let lane = try #require(try await folder.got(LaneList.self, "GET", .lanes).lanes.first { $0.name == "import" })
    #expect((lane.isPaused, lane.counts[.completed]) == (false, 2))
    #expect(try await folder.http("POST", Endpoint.pauseLane("none").path).status == 404)
    try await daemon.stop()
  }

  @Test("many jobs are changed by what they have in common, and listed from the oldest on")
  func many() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "a.csv")
    _ = try await folder.got(Lane.self, "POST", .pauseLane("import"))
    var ids: [Int64] = []
    for number in 0..<6 {
      let tags = number.isMultiple(of: 2) ? ["even"] : []
      ids.append(try await submit(folder, JobSubmission(source: file, recipe: "members", tags: tags)).id)
    }
    let even = JobSelection(tag: "even")
    let cancelled = try await changed(folder, JobChange(.cancel, even))
    #expect((cancelled.changed, cancelled.refused) == (3, 0))
    let again = try await changed(folder, JobChange(.cancel, even))
    #expect((again.changed, again.refused) == (0, 3))
    #expect(Set(again.refusals.map(\.job)) == [ids[0], ids[2], ids[4]])
    let some = JobSelection(jobs: [ids[1], ids[3]])
    let raised = try await changed(folder, JobChange(.priority, some, priority: 7))
    #expect(raised.changed == 2)
    #expect(try await folder.job(ids[3]).priority == 7)
    #expect(try await folder.job(ids[5]).priority == 0)
    let kind = JobSelection(kind: "import")
    let page: JobList = try await folder.got("GET", .jobs, JobQuery(kind, limit: 4, order: .oldest).queryString)
    #expect(page.jobs.map(\.id) == Array(ids.prefix(4)))
    let rest: JobList = try await folder.got("GET", .jobs, JobQuery(kind, after: page.next, order: .oldest).queryString)
    #expect(rest.jobs.map(\.id) == Array(ids.suffix(2)))
    let removed = try await changed(folder, JobChange(.remove, JobSelection(states: [.cancelled])))
    #expect(removed.changed == 3)
    #expect(try await folder.http("GET", Endpoint.job(ids[0]).path).status == 404)
    let running = try await folder.http("DELETE", Endpoint.job(ids[1]).path)
    #expect(running.status == 409, "\(running.text)")
    try await daemon.stop()
  }

  @Test("many jobs are made with one request, each with its number or its problem")
  func together() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "a.csv")
    let answer: JobReceiptList = try await folder.got(
      "POST", .manyJobs,
      body: JobsSubmission(jobs: [
        JobSubmission(source: file, recipe: "members"), JobSubmission(source: file, recipe: "none"),
        JobSubmission(source: "/nowhere.csv", recipe: "members"), JobSubmission(kind: "optimise"),
        JobSubmission(source: file, recipe: "members"),
      ]))
    #expect(answer.jobs.map { $0.id != nil } == [true, false, false, true, true])
    #expect(answer.jobs[1].problem?.detail.contains("none") == true)
    #expect(answer.jobs[2].problem?.detail.contains("/nowhere.csv") == true)
    for id in answer.jobs.compactMap(\.id) { #expect(try await folder.ended(id).state == .completed) }
    #expect(try await folder.jobs().count == 3)
    try await daemon.stop()
  }

  @Test("the jobs of a batch run in their order, all of them or none are made")
  func batch() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "a.csv")
    let import1 = JobSubmission(source: file, recipe: "members")
    let bad = BatchSubmission(jobs: [.init(import1), .init(JobSubmission(source: file, recipe: "none"))])
    let refused = try await folder.http(
      "POST", Endpoint.batches.path, String(decoding: try WireFormat.encode(bad), as: UTF8.self))
    #expect(refused.status == 422 && refused.text.contains("none"), "\(refused.text)")
    #expect(try await folder.jobs().isEmpty)
    let made: Batch = try await folder.got(
      "POST", .batches,
      body: BatchSubmission(
        name: "night", jobs: [.init(import1, name: "a"), .init(import1, name: "b", after: ["a": .succeeded])]))
    #expect((made.total, made.name) == (2, "night"))
    for id in made.jobs { #expect(try await folder.ended(id).state == .completed) }
    let second = try await folder.job(made.jobs[1])
    #expect(second.batch == made.id)
    #expect(second.after == [JobDependency(job: made.jobs[0])])
    let ended: Batch = try await folder.got("GET", .batch(made.id))
    #expect((ended.pending, ended.failed, ended.progress.records) == (0, 0, 4))
    try await daemon.stop()
  }
}
