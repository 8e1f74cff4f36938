import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A replay", .startsDaemons)
struct ReplayTests {
  private static let files = ["c", "a", "b"]

  private func folder(_ recipe: String = "") throws -> DaemonFolder {
    try DaemonFolder(
      model: Members.model,
      recipes: "  members: { store: main, entity: Member, mode: upsert, max_attempts: 1\(recipe) }",
      more: "lanes: { backfill: { concurrency: 4 } }\nintake: { settle: 100ms }")
  }

  /// Imports files that all have the same member, each with another name.
  private func fill(_ folder: DaemonFolder) async throws -> [Job] {
    var jobs: [Job] = []
    for name in Self.files {
      jobs.append(try await folder.imported("number,name\n1,\(name)\n", as: "\(name).csv", into: "members"))
    }
    return jobs
  }

  private func replay(_ folder: DaemonFolder, _ more: String...) async throws -> ReplayResult {
    let arguments = ["replay", "--recipe", "members", "--since", "1d", "--yes", "--json"] + more
    let run = try await folder.ladectl(arguments)
    try #require(run.status == 0, "\(run.error)")
    return try WireFormat.decode(ReplayResult.self, from: run.output)
  }

  private func names(_ jobs: [Job]) -> [String] { jobs.map { "\($0.id)-\($0.source ?? "")" } }

  @Test("imports the files again in the order in which they were submitted, and leaves them where they are")
  func order() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let first = try await fill(folder)
    _ = try await folder.ladectl("prune", "Member", "--all", "--yes", "--wait")
    let shown = try await replay(folder, "--dry-run")
    #expect(
      shown.files.map(\.job) == first.map(\.id) && shown.batch == nil && shown.files.allSatisfy { $0.replay == nil })
    #expect(try await folder.listedJobs().count == first.count + 1)

    let result = try await replay(folder, "--lane", "backfill")
    #expect(result.files.map(\.source) == Self.files.map { $0 + ".csv" })
    #expect(result.missing == [] && !result.isOld)
    var again: [Job] = []
    for file in result.files { again.append(try await folder.ended(try #require(file.replay))) }
    #expect(again.allSatisfy { $0.state == .completed && $0.lane == "backfill" && $0.priority == -1000 })
    #expect(again.allSatisfy { $0.tags == ["replay"] && $0.recipe == "members" && $0.batch == result.batch })
    let times = again.map { $0.startedAt ?? .distantPast }
    #expect(times == times.sorted())
    #expect(try await folder.sqlite("SELECT name FROM Member") == "'b'")
    while try !folder.names(in: "spool/active").isEmpty { _ = try await folder.asked(Status.self, "status") }
    #expect(try folder.names(in: "spool/done") == names(first).sorted())
    #expect(try folder.names(in: "spool/corrupt") == [])
    // Its own jobs aren't replayed.
    #expect(try await replay(folder, "--dry-run").files.count == first.count)
    let none: ReplayResult = try await folder.got(
      "POST", .replay(recipe: "members"), body: ReplayRequest(since: Date().addingTimeInterval(60)))
    #expect(none.files.isEmpty && none.batch == nil)
    let unknown = try await folder.ladectl("replay", "--recipe", "nobody", "--since", "1d", "--yes")
    #expect(unknown.status == 1 && unknown.error.contains("there is no recipe nobody"))
    try await daemon.stop()
  }

  @Test("isn't made a second time while the first hasn't ended, and is afterwards")
  func twice() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    _ = try await fill(folder)
    _ = try await folder.ladectl("pause", "import")
    let first = try await replay(folder)
    let second = try await replay(folder)
    #expect(second.isOld && second.batch == first.batch && second.files == first.files)
    #expect(try await folder.listedJobs().count == 6)
    _ = try await folder.ladectl("resume", "import")
    for file in first.files { #expect(try await folder.ended(try #require(file.replay)).state == .completed) }
    let third = try await replay(folder)
    #expect(!third.isOld && third.batch != first.batch)
    try await daemon.stop()
  }

  @Test(
    "stops at a file that fails: those after it are cancelled, all stay in done/, and the failed one isn't tried again alone"
  )
  func failing() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    var jobs = try await fill(folder)
    jobs.append(try await folder.imported("number,name,more\n1,x,y\n", as: "x.csv", into: "members"))
    jobs.append(try await folder.imported("number,name\n1,z\n", as: "z.csv", into: "members"))
    let configuration = try folder.text("lade.yaml")
    try folder.write(
      configuration.replacing("max_attempts: 1", with: "max_attempts: 1, schema: freeze"), to: "lade.yaml")
    #expect(try await folder.ladectl("reload").status == 0)
    let result = try await replay(folder)
    var states: [JobState] = []
    for file in result.files { states.append(try await folder.ended(try #require(file.replay)).state) }
    #expect(states == [.completed, .completed, .completed, .discarded, .cancelled])
    #expect(try await folder.sqlite("SELECT name FROM Member") == "'b'")
    while try !folder.names(in: "spool/active").isEmpty { _ = try await folder.asked(Status.self, "status") }
    #expect(try folder.names(in: "spool/done") == names(jobs).sorted())
    #expect(try folder.names(in: "spool/corrupt").allSatisfy { $0.hasSuffix(".reason") })
    try folder.write(configuration, to: "lade.yaml")
    #expect(try await folder.ladectl("reload").status == 0)
    let failed = try #require(result.files[3].replay)
    let retried = try await folder.ladectl("retry", "\(failed)")
    #expect(retried.status == 1 && retried.error.contains("'ladectl replay --recipe members'"), "\(retried.error)")
    #expect(try await folder.ended(failed).failureCode == "new_columns")
    try await daemon.stop()
  }

  @Test("imports files that the recipe knows, although it skips such")
  func known() async throws {
    let folder = try folder(", skip_known_files: true")
    let daemon = try await folder.start()
    _ = try await fill(folder)
    _ = try await folder.ladectl("prune", "Member", "--all", "--yes", "--wait")
    for file in try await replay(folder).files {
      #expect(try await folder.ended(try #require(file.replay)).state == .completed)
    }
    #expect(try await folder.sqlite("SELECT name FROM Member") == "'b'")
    try await daemon.stop()
  }

  @Test("leaves out retries of rejects, which no file in done/ is from")
  func retries() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let job = try await folder.imported("number,name,age\n1,a,1\n2,b,x\n", as: "a.csv", into: "members")
    #expect(job.progress.rejected == 1)
    let retried = try await folder.ladectl("rejects", "retry", "\(job.id)", "--wait")
    #expect(retried.status == 3, "\(retried.error)")
    let shown = try await replay(folder, "--dry-run")
    #expect(shown.files.map(\.job) == [job.id] && shown.missing == [])
    try await daemon.stop()
  }

  @Test("of a recipe that now wants sets of files names the file that is none, also in a dry run")
  func set() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let jobs = try await fill(folder)
    try folder.write(
      try folder.text("lade.yaml").replacing(
        "entity: Member, mode: upsert", with: "entity: \"*\", set: { of: [\"Member*\"], trigger: \"*.done\" }"),
      to: "lade.yaml")
    let reloaded = try await folder.ladectl("reload")
    try #require(reloaded.status == 0, "\(reloaded.error)")
    for more in [[], ["--dry-run"]] {
      let refused = try await folder.ladectl(["replay", "--recipe", "members", "--since", "1d", "--yes"] + more)
      #expect(
        refused.status == 1 && refused.error.contains("job \(jobs[0].id), c.csv: the options speak of a set of files"),
        "\(refused.error)")
    }
    #expect(try await folder.listedJobs().count == jobs.count)
    try await daemon.stop()
  }

  @Test("says which files are gone")
  func missing() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let jobs = try await fill(folder)
    try FileManager.default.removeItem(atPath: folder.file("spool/done/" + names(jobs)[1]))
    let result = try await replay(folder)
    #expect(result.files.map(\.source) == ["c.csv", "b.csv"])
    #expect(result.missing.map(\.job) == [jobs[1].id])
    for file in result.files { #expect(try await folder.ended(try #require(file.replay)).state == .completed) }
    try await daemon.stop()
  }

  @Test("is made whole or not at all by a daemon that is killed at any change, and each file is imported once")
  func killed() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let first = try await fill(folder)
    try await daemon.stop()
    let point = try KillPoint(in: folder, watch: "/spool/active:/spool/done:/queue.sqlite")
    var (round, known) = (0, first.count)
    var isKilled = true
    while isKilled {
      round += 1
      try #require(round < 60, "there is no end")
      try point.arm(nil)
      let daemon = try folder.launch(point.environment)
      try await daemon.ready()
      // The first changes one by one, then fewer and fewer.
      try point.arm(round * (round + 1) / 2)
      let run = try await folder.ladectl("replay", "--recipe", "members", "--since", "1d", "--yes", "--wait")
      if run.status == 0 { daemon.terminate() }
      isKilled = try await daemon.ended() == .signal(SIGKILL)
      let next = try await folder.start()
      let jobs = try await folder.listedJobs().dropFirst(known)
      #expect([0, first.count].contains(jobs.count), "round \(round)")
      for job in jobs { #expect(try await folder.ended(job.id).state == .completed, "round \(round)") }
      known += jobs.count
      #expect(try await folder.sqlite("SELECT name FROM Member") == "'b'")
      while try !folder.names(in: "spool/active").isEmpty { _ = try await folder.asked(Status.self, "status") }
      #expect(try folder.names(in: "spool/done") == names(first).sorted(), "round \(round)")
      #expect(try folder.names(in: "spool/corrupt") == [])
      try await next.stop()
    }
    #expect(round > 3, "so many changes are met")
  }
}
