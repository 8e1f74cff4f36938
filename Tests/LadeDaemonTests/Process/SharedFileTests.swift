import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite(
  "Files of a queue that daemons share", .startsDaemons, .serialized,
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
struct SharedFileTests {
  /// A daemon with a host's name, whose queue and store are in a server.
  private func folder(_ server: PostgresCluster, host: String, limit: String) throws -> DaemonFolder {
    let folder = try DaemonFolder.withMembers(
      """
      intake: { settle: 100ms }
      retry: { first: 100ms, longest: 100ms }
      queue: { postgres: "\(server.address())", schema: work, host: \(host), lease: 3s, file_limit: \(limit) }
      """)
    let text = try folder.text("lade.yaml")
      .replacing("path: main.sqlite", with: "postgres: \"\(server.address())\", schema: club")
    try folder.write(text, to: "lade.yaml")
    return folder
  }

  private func parts(_ server: PostgresCluster, _ condition: String) async throws -> String {
    try await server.sql("SELECT count(*) FROM work.\"JobFilePart\" WHERE \(condition)")
  }

  /// Starts a daemon that imports these members as `many.csv`, and kills it in the middle of that, where the server holds it up.
  private func dies(_ folder: DaemonFolder, _ server: PostgresCluster, importing members: Members) async throws {
    let daemon = try await folder.start()
    try await server.holdImports()
    try folder.drop(members.csv, as: "many.csv", into: "members")
    try await server.untilImportIsHeld()
    try await daemon.kill()
    try server.letImportsGo()
  }

  @Test(
    "in the database are imported to their end on another host when theirs dies, with the rows and rejects of one run")
  func died() async throws {
    let server = try PostgresCluster()
    let (one, two) = (try folder(server, host: "one", limit: "16MB"), try folder(server, host: "two", limit: "16MB"))
    let members = Members(rows: 80_000, faults: 300)
    try await dies(one, server, importing: members)
    #expect(try one.names(in: "spool/active") == ["1-many.csv"])

    let second = try await two.start()
    let job = try await two.job(of: "many.csv")
    #expect(job.state == .completed && job.rescues == 1, "\(job.reason ?? "")")
    #expect(job.host == "one" && job.isFileInDatabase)
    #expect(job.progress.inserted == Int64(members.good) && job.progress.rejected == Int64(members.rejects.count))
    #expect(
      try await server.sql("SELECT count(*) || ' ' || count(DISTINCT number) FROM club.\"Member\"")
        == "\(members.good) \(members.good)")
    func rejects(_ folder: DaemonFolder) async throws -> [Members.Reject] {
      PlainCSV.records(try await folder.ladectl("rejects", "1", "--file").output).map {
        Members.Reject(line: Int($0["lade_line"] ?? "") ?? 0, fault: $0["lade_code"] ?? "")
      }
    }
    #expect(try await rejects(two) == members.rejects)
    // It leaves nothing of another host's file behind, and the database keeps what was rejected.
    #expect(try two.names(in: "spool/active") == [] && two.names(in: "spool/done") == [])
    #expect(try two.names(in: "state/rejects") == [])
    #expect(try await parts(server, "name = ''") == "0")
    #expect(try await parts(server, "name <> ''") != "0")

    let again = try await one.start()
    while try !one.names(in: "spool/active").isEmpty {}
    #expect(try one.data("spool/done/1-many.csv") == members.csv)
    #expect(try await rejects(one) == members.rejects)
    #expect(try one.names(in: "state/rejects") == [])
    #expect(try await one.ladectl("remove", "1").status == 0)
    #expect(try await parts(server, "true") == "0")
    try await again.stop()
    try await second.stop()
  }

  @Test("over the limit wait for their host, which says so")
  func large() async throws {
    let server = try PostgresCluster()
    let (one, two) = (try folder(server, host: "one", limit: "1kB"), try folder(server, host: "two", limit: "1kB"))
    let members = Members(rows: 80_000)
    try await dies(one, server, importing: members)

    let second = try await two.start()
    var job = try await two.job(1)
    while job.obstacle != .file { job = try await two.job(1) }
    #expect(job.state == .available && job.rescues == 1 && !job.isFileInDatabase)
    #expect(job.waitsFor == "host one, which has its files, and where no daemon works")
    // A short one is anybody's.
    let short = try await two.imported("number,name,score\n100001,Ada,1.5\n", as: "short.csv", into: "members")
    #expect(short.state == .completed && short.isFileInDatabase)
    let again = try await one.start()
    #expect(try await two.ended(1).state == .completed)
    #expect(
      try await server.sql("SELECT count(*) || ' ' || count(DISTINCT number) FROM club.\"Member\"")
        == "\(members.good + 1) \(members.good + 1)")
    #expect(try await parts(server, "true") == "0")
    try await again.stop()
    try await second.stop()
  }

  @Test("are fetched again when a call failed while they were, and nothing of them is left")
  func failedCalls() async throws {
    let server = try PostgresCluster()
    let (one, two) = (try folder(server, host: "one", limit: "16MB"), try folder(server, host: "two", limit: "16MB"))
    let first = try await one.start()
    let failed = try await one.imported("number,name,score\nx,Ada,1.5\n", as: "bad.csv", into: "members")
    while try !one.names(in: "spool/active").isEmpty {}
    try await first.stop()

    let point = try KillPoint(in: two, watch: "/active")
    let second = try two.launch(point.environment)
    try await second.ready()
    var (number, failures, isReached) = (1, 0, true)
    while isReached {
      try point.failOnce(number)
      #expect(try await two.ladectl("retry", "1").status == 0)
      let job = try await two.ended(1)
      isReached = try point.changes() >= number
      try point.arm(nil)
      // It has no attempts left for a fetch that fails.
      let hasFailed = job.reason?.contains("errno 5") == true
      if hasFailed { failures += 1 }
      #expect(hasFailed ? isReached : job.reason == failed.reason, "change \(number): \(job.reason ?? "")")
      #expect(job.state == .discarded)
      number += 1
    }
    #expect(failures > 0)
    #expect(try two.names(in: "spool/active") == [])
    try await second.stop()
  }

  @Test("that failed are imported again, and their rejects retried, by a daemon on another host than theirs")
  func retried() async throws {
    let server = try PostgresCluster()
    let (one, two) = (try folder(server, host: "one", limit: "16MB"), try folder(server, host: "two", limit: "16MB"))
    let first = try await one.start()
    let failed = try await one.imported("number,name,score\nx,Ada,1.5\n", as: "bad.csv", into: "members")
    #expect(failed.state == .discarded && failed.progress.rejected == 1, "\(failed.reason ?? "")")
    #expect(try await parts(server, "name = ''") == "1")
    while try !one.names(in: "spool/active").isEmpty {}
    #expect(try one.names(in: "spool/corrupt").contains("1-bad.csv"))
    try await first.stop()

    let second = try await two.start()
    #expect(try await two.asked(RejectReport.self, "rejects", "1").count == 1)
    #expect(try await two.ladectl("retry", "1").status == 0)
    let retried = try await two.ended(1)
    #expect(retried.state == .discarded && retried.attempt > failed.attempt && retried.progress.rejected == 1)
    #expect(try two.names(in: "spool/active") == [] && two.names(in: "spool/corrupt") == [])
    #expect(try await two.asked(RejectReport.self, "rejects", "1").count == 1)
    // No daemon works where it came from.
    #expect(try await two.ladectl("remove", "1").status == 0)
    #expect(try await parts(server, "true") == "0")
    try await second.stop()
  }
}
