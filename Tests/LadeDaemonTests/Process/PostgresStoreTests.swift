import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite(
  "A store of the daemon in PostgreSQL", .startsDaemons, .serialized, .timeLimit(.minutes(20)),
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
struct PostgresStoreTests {
  /// A daemon whose store is in a server.
  private func folder(_ server: PostgresCluster) throws -> DaemonFolder {
    let folder = try DaemonFolder.withMembers()
    let text = try folder.text("lade.yaml")
      .replacing("path: main.sqlite", with: "postgres: \"\(server.address())\", schema: club")
    try folder.write(text, to: "lade.yaml")
    return folder
  }

  @Test("takes an import, shows its objects, and keeps them over a restart")
  func imports() async throws {
    let server = try PostgresCluster()
    let folder = try folder(server)
    let daemon = try await folder.start()
    let job = try await folder.imported("number,name,score\n1,Ada,1.5\n2,Bob,\n", as: "a.csv", into: "members")
    #expect(job.state == .completed && job.progress.inserted == 2, "\(job.reason ?? "")")
    #expect(
      try await server.sql("SELECT number || ' ' || name FROM club.\"Member\" ORDER BY number") == "1 Ada\n2 Bob")
    #expect(try await folder.count("Member", where: "name BEGINSWITH 'A'") == 1)
    try await daemon.stop()
    let again = try await folder.start()
    #expect(try await folder.count("Member") == 2)
    try await again.stop()
  }

  @Test("has every row once after the daemon was killed and the server's connections were ended")
  func killed() async throws {
    let server = try PostgresCluster()
    let folder = try folder(server)
    let first = try await folder.start()
    let rows = (1...60_000).map { "\($0),Name \($0),\($0)" }
    try folder.drop("number,name,score\n" + rows.joined(separator: "\n") + "\n", as: "many.csv", into: "members")
    // Some batches are committed.
    while try await server.sql("SELECT count(*) > 5000 FROM club.\"Member\"") != "t" {}
    try await server.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'")
    try await first.kill()
    let second = try await folder.start()
    let job = try await folder.job(of: "many.csv")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(
      try await server.sql("SELECT count(*) || ' ' || count(DISTINCT number) FROM club.\"Member\"") == "60000 60000")
    try await second.stop()
  }
}
