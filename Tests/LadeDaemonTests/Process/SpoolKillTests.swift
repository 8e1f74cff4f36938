import ControlAPI
import Foundation
import Glibc
import Testing

/// Rule 5 (ARCHITECTURE.md) at every step: an entry is taken away only after its job is durably in the queue, and taking it
/// twice makes one job.
@Suite("A daemon that takes what is handed over", .startsDaemons, .serialized)
struct SpoolKillTests {
  private static let recipes = "  members: { store: main, entity: Member, mode: insert }"

  @Test(
    "and is killed between any two steps of that makes one job of each entry, and loses no file")
  func oneFileSystem() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let count = try await killedEverywhere(folder, prefix: []) { text, name, place in
      try folder.drop(text, as: name, into: place)
    }
    #expect(count >= 12, "so many changes are met")
    #expect(try folder.names(in: "spool/incoming") == ["members"])
    #expect(try folder.names(in: "spool/incoming/members") == [])
  }

  @Test(
    "without a file, and is killed between any two steps of that, makes one job of each ticket, and loses none")
  func ticketsAlone() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: Self.everywhere)
    let rounds = try await folder.killed(at: point) { round in
      try folder.drop("{kind: optimise, store: main, tags: [\"\(round)\"]}", as: "\(round).job", into: "")
    }
    #expect(KillPoint.changes(in: rounds) >= 5, "so many changes are met")
    let jobs = try await allJobs(folder)
    #expect(jobs.compactMap { $0.tags.first }.sorted() == (1...rounds).map { "\($0)" }.sorted())
    #expect(jobs.allSatisfy { $0.state == .completed })
    #expect(try folder.names(in: "spool/done") == jobs.map { "\($0.id).job" }.sorted())
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/corrupt") == [])
  }

  @Test(
    "and is killed before that is on the disk, and finds it in incoming/ again, makes one job of each entry")
  func lostWithThePower() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: "/spool/active")
    for round in 1...5 {
      let (hot, cold) = ("hot-\(round).csv", "cold-\(round).csv")
      try folder.drop("number,name\n\(round * 2),hot\n", as: hot, into: "members")
      try folder.drop("number,name\n\(round * 2 + 1),cold\n", as: cold, into: "")
      try folder.drop("{entity: Member, mode: insert, source: \(cold)}", as: "a\(round).job", into: "")
      try folder.drop("{kind: optimise, store: main}", as: "b\(round).job", into: "")
      // The second time that active/ is synced it has the entries; the first time is that of the start.
      try point.arm(2)
      #expect(try await folder.launch(point.environment).ended() == .signal(SIGKILL))
      // Of the moves nothing need be on the disk before that.
      let names = try folder.names(in: "spool/active")
      #expect(names.count == 4)
      let withFile = names.first { $0.hasSuffix(cold) }?.prefix { $0.isNumber }
      for name in names {
        let number = name.prefix { $0.isNumber }
        let rest = name.dropFirst(number.count + 1)
        let ticket = number == withFile ? "a\(round).job" : "b\(round).job"
        let place = rest == "job" ? ticket : rest == hot ? "members/" + hot : cold
        // Any of the moves may be lost: of a ticket and its file both, the ticket's, or the file's.
        if (round == 2 && place == cold) || (round == 3 && place == "a\(round).job") { continue }
        try #require(rename(folder.file("spool/active/" + name), folder.file("spool/incoming/" + place)) == 0)
      }
      let next = try await folder.start()
      #expect(try await folder.haveAllEnded(), "round \(round)")
      try await next.stop()
    }
    let jobs = try await allJobs(folder)
    #expect(jobs.count == 15 && jobs.allSatisfy { $0.state == .completed })
    #expect(Set(jobs.map(\.source)).count == 11)
    #expect(try folder.names(in: "spool/done").count == 20)
    for place in ["active", "corrupt", "incoming/members"] { #expect(try folder.names(in: "spool/" + place) == []) }
    #expect(try await folder.sqlite("SELECT count(*), count(DISTINCT number) FROM Member") == "10,10")
  }

  @Test(
    "and finds a file in incoming/ again, whose job is cancelled before it is taken, puts it away with its ticket")
  func cancelledBeforeItCameAgain() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: "/spool/active")
    try folder.drop("number,name\n1,Ada\n", as: "x.csv", into: "")
    try folder.drop(
      "{entity: Member, mode: insert, source: x.csv, not_before: \"2126-01-01T00:00:00Z\"}", as: "x.job", into: "")
    try point.arm(2)
    #expect(try await folder.launch(point.environment).ended() == .signal(SIGKILL))
    let name = try #require(try folder.names(in: "spool/active").first { $0.hasSuffix("x.csv") })
    try #require(rename(folder.file("spool/active/" + name), folder.file("spool/incoming/x.csv")) == 0)
    // Still being written, so that it isn't taken yet.
    let writer = open(folder.file("spool/incoming/x.csv"), O_WRONLY)
    try #require(writer >= 0)
    let next = try await folder.start()
    let job = try #require(try await folder.listedJobs().first)
    let cancelled = try await folder.ladectl("cancel", "\(job.id)")
    #expect(cancelled.status == 0, "\(cancelled.text) \(cancelled.error) \(job)")
    close(writer)
    try await folder.scanned()
    #expect(try await folder.ended(job.id).state == .cancelled)
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/incoming") == ["members"])
    #expect(
      try folder.names(in: "spool/corrupt").filter { !$0.hasSuffix(".reason") } == ["\(job.id)-x.csv", "\(job.id).job"])
    try await next.stop()
  }

  @Test(
    "from another file system, and is killed between any two steps of that, makes one job of each entry, and loses no file",
    .enabled(if: PrivateMounts.arePossible, "it takes root, for it mounts"))
  func anotherFileSystem() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let mounts = try await PrivateMounts(
      in: folder, "mkdir -p spool/incoming; mount -t tmpfs lade spool/incoming; mkdir spool/incoming/members")
    let count = try await killedEverywhere(folder, prefix: mounts.prefix) { text, name, place in
      try mounts.drop(text, as: name, into: place)
    }
    #expect(count >= 20, "so many changes are met")
    #expect(try mounts.names(in: "spool/incoming") == ["members"])
    #expect(try mounts.names(in: "spool/incoming/members") == [])
    // What is hidden by the other file system was never used.
    #expect(try folder.names(in: "spool/incoming") == [])
  }

  /// Hands over a file for a hot folder and a ticket with its file, once each round, to a daemon that is killed at another
  /// change in its spool each time, until one comes to the end; then expects one job of each.
  /// - Returns: how many changes there were at least.
  private func killedEverywhere(
    _ folder: DaemonFolder, prefix: [String], drop: (String, String, String) throws -> Void
  ) async throws -> Int {
    // So that the store is there, and the folders.
    try await folder.start(by: prefix).stop()
    let point = try KillPoint(in: folder, watch: Self.everywhere)
    let rounds = try await folder.killed(at: point, by: prefix) { round in
      try drop("number,name\n\(round * 2),hot\n", "hot-\(round).csv", "members")
      try drop("number,name\n\(round * 2 + 1),cold\n", "cold-\(round).csv", "")
      try drop("{entity: Member, mode: insert, source: cold-\(round).csv}", "\(round).job", "")
    }
    try await check(folder, rounds: rounds, prefix)
    return KillPoint.changes(in: rounds)
  }

  private static let everywhere = "/spool/incoming:/spool/active:/spool/done:/spool/corrupt"

  private func allJobs(_ folder: DaemonFolder) async throws -> [Job] {
    let daemon = try await folder.start()
    try await folder.scanned()
    let jobs = try await folder.listedJobs()
    try await daemon.stop()
    return jobs
  }

  private func check(_ folder: DaemonFolder, rounds: Int, _ prefix: [String]) async throws {
    let daemon = try await folder.start(by: prefix)
    let jobs = try await folder.jobs()
    let expected = (1...rounds).flatMap { ["hot-\($0).csv", "cold-\($0).csv"] }
    #expect(jobs.compactMap(\.source).sorted() == expected.sorted())
    for job in jobs {
      #expect(job.state == .completed, "\(job.source ?? ""): \(job.reason ?? "")")
      #expect((job.progress.inserted, job.progress.rejected) == (1, 0), "\(job.source ?? "")")
    }
    #expect(try await folder.count("Member") == rounds * 2)
    try await daemon.stop()
    let tickets = jobs.filter { $0.source?.hasPrefix("cold") == true }.map { "\($0.id).job" }
    #expect(try folder.names(in: "spool/done") == (jobs.map { "\($0.id)-\($0.source ?? "")" } + tickets).sorted())
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "spool/corrupt") == [])
  }

  @Test(
    "and is killed before it has the file, which is then withdrawn, ends the job with that reason")
  func withdrawn() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    try await folder.start().stop()
    // Before the rename of the only file: only the fsync of the file comes first.
    let point = try KillPoint(in: folder, watch: "/spool/incoming/members/gone.csv")
    try folder.drop("number,name\n1,Ada\n", as: "gone.csv", into: "members")
    try point.arm(2)
    let daemon = try folder.launch(point.environment)
    #expect(try await daemon.ended() == .signal(SIGKILL))
    // Whatever the kill left, it isn't there any more.
    let name = try folder.names(in: "spool/active").first.map { "active/" + $0 } ?? "incoming/members/gone.csv"
    try FileManager.default.removeItem(atPath: folder.file("spool/" + name))
    let next = try await folder.start()
    let job = try #require(try await folder.jobs().first)
    let ended = try await folder.ended(job.id)
    #expect(ended.state == .cancelled)
    #expect(ended.reason?.contains("removed before it was taken") == true, "\(ended.reason ?? "")")
    #expect(try await folder.jobs().count == 1)
    try await next.stop()
  }
}
