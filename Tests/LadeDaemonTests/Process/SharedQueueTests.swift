import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite(
  "A queue that daemons share", .startsDaemons, .serialized,
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
struct SharedQueueTests {
  /// A daemon with a host's name, whose queue and store are in a server.
  private func folder(_ server: PostgresCluster, host: String, lease: String = "30s") throws -> DaemonFolder {
    let folder = try DaemonFolder.withMembers(
      """
      intake: { settle: 100ms }
      queue: { postgres: "\(server.address())", schema: work, host: \(host), lease: \(lease) }
      """)
    let text = try folder.text("lade.yaml")
      .replacing("path: main.sqlite", with: "postgres: \"\(server.address())\", schema: club")
    try folder.write(text, to: "lade.yaml")
    return folder
  }

  private func daemons(_ folder: DaemonFolder) async throws -> [DaemonStatus] {
    try await folder.asked(DaemonList.self, "daemons").daemons
  }

  @Test("imports the files of each host there, and each daemon shows all jobs and daemons")
  func two() async throws {
    let server = try PostgresCluster()
    let (one, two) = (try folder(server, host: "one"), try folder(server, host: "two"))
    let (first, second) = (try await one.start(), try await two.start())
    let a = try await one.imported("number,name,score\n1,Ada,1.5\n2,Bob,\n", as: "a.csv", into: "members")
    let b = try await two.imported("number,name,score\n3,Cy,1.5\n", as: "b.csv", into: "members")
    #expect(a.state == .completed && b.state == .completed, "\(a.reason ?? "") \(b.reason ?? "")")
    #expect(try await two.asked(JobList.self, "list").jobs.map(\.id).sorted() == [a.id, b.id].sorted())
    #expect(try await server.sql(#"SELECT count(*) FROM club."Member""#) == "3")
    #expect(try one.names(in: "spool/done").count == 1 && two.names(in: "spool/done").count == 1)
    let known = try await daemons(one)
    #expect(known.map(\.host) == ["one", "two"] && known.map(\.isThis) == [true, false])
    #expect(known.map(\.pid) == [Int64(first.pid), Int64(second.pid)] && known.allSatisfy { $0.leaseUntil != nil })
    #expect(try await one.ladectl("daemons").text.contains("LEASE UNTIL"))
    try await first.stop()
    try await second.stop()
  }

  @Test("waits for a job that another daemon runs, and cancels it there")
  func across() async throws {
    let server = try PostgresCluster()
    let (one, two) = (try folder(server, host: "one"), try folder(server, host: "two"))
    let (first, second) = (try await one.start(), try await two.start())
    // It doesn't begin before a client waits for it.
    try one.write("number,name,score\n1,Ada,\n", to: "a.csv")
    let held = try await one.asked(Job.self, "submit", one.file("a.csv"), "--recipe", "members", "--hold")
    async let waited = two.ladectl("wait", "\(held.id)")
    #expect(try await two.ladectl("release", "\(held.id)").status == 0)
    #expect(try await waited.status == 0)
    let other = try await one.asked(Job.self, "submit", one.file("a.csv"), "--recipe", "members", "--hold")
    #expect(try await two.ladectl("cancel", "\(other.id)").status == 0)
    #expect(try await one.ladectl("wait", "\(other.id)").status != 0)
    try await first.stop()
    try await second.stop()
  }

  @Test("has every row once when a daemon was held up for longer than its lease, which then exits with status 75")
  func heldUp() async throws {
    let server = try PostgresCluster()
    // Long enough that neither daemon loses it because other tests leave it little of the processors.
    let (one, two) = (
      try folder(server, host: "one", lease: "15s"), try folder(server, host: "two", lease: "15s")
    )
    let (first, second) = (try await one.start(), try await two.start())
    let rows = (1...60_000).map { "\($0),Name \($0),\($0)" }
    try await server.holdImports()
    try one.drop("number,name,score\n" + rows.joined(separator: "\n") + "\n", as: "many.csv", into: "members")
    try await server.untilImportIsHeld()
    first.send(SIGSTOP)
    // The other daemon puts the job back.
    while try await server.sql("SELECT rescues > 0 FROM work.\"Job\"") != "t" {}
    first.send(SIGCONT)
    try server.letImportsGo()
    let ending = try await first.ended()
    let log = try first.log
    #expect(ending == .exit(75), "\(log)")
    // As systemd would.
    let again = try await one.start()
    let job = try await one.job(of: "many.csv")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(
      try await server.sql("SELECT count(*) || ' ' || count(DISTINCT number) FROM club.\"Member\"") == "60000 60000")
    try await again.stop()
    try await second.stop()
  }
}
