import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite(
  "A store of the daemon in PostgreSQL", .startsDaemons, .serialized,
  .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)"))
struct PostgresStoreTests {
  /// A daemon whose store is in a server.
  private func folder(_ server: PostgresCluster, recipes: String? = nil, more: String = "") throws -> DaemonFolder {
    let folder =
      try recipes.map { try DaemonFolder(model: Members.model, recipes: $0, more: "intake: { settle: 100ms }") }
      ?? DaemonFolder.withMembers()
    let text = try folder.text("lade.yaml")
      .replacing("path: main.sqlite", with: "postgres: \"\(server.address())\", schema: club\(more)")
    try folder.write(text, to: "lade.yaml")
    return folder
  }

  /// Has `ladectl` make one job, and waits for it.
  private func done(_ folder: DaemonFolder, _ arguments: String...) async throws -> Job {
    let run = try await folder.ladectl(arguments + ["--wait", "--json"])
    return try #require(try WireFormat.decode(JobList.self, from: run.output).jobs.first, "\(run.error)")
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
    try await server.holdImports()
    try folder.drop("number,name,score\n" + rows.joined(separator: "\n") + "\n", as: "many.csv", into: "members")
    try await server.untilImportIsHeld()
    try await server.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'lade'")
    try await first.kill()
    try server.letImportsGo()
    let second = try await folder.start()
    let job = try await folder.job(of: "many.csv")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect(
      try await server.sql("SELECT count(*) || ' ' || count(DISTINCT number) FROM club.\"Member\"") == "60000 60000")
    try await second.stop()
  }

  @Test("is looked after by the jobs of maintenance, and its size is shown")
  func maintenance() async throws {
    let server = try PostgresCluster()
    let folder = try folder(server)
    let daemon = try await folder.start()
    _ = try await folder.imported("number,name,score\n1,Ada,1.5\n2,Bob,\n", as: "a.csv", into: "members")
    for verb in ["optimise", "vacuum", "reindex", "check"] {
      let job = try await done(folder, "store", verb)
      #expect(job.state == .completed, "\(verb): \(job.reason ?? "")")
    }
    #expect(try await done(folder, "store", "vacuum", "--incremental").state == .completed)
    let checkpoint = try await done(folder, "store", "checkpoint")
    #expect(checkpoint.failureCode == "unsupported" && checkpoint.reason?.contains("checkpointer") == true)
    let store = try await folder.http("GET", "/v1/stores/main").decoded(as: Store.self)
    #expect(store.size > 8192)
    let metrics = try await folder.http("GET", "/metrics").text
    #expect(metrics.contains("lade_store_size_bytes{store=\"main\"}"), "\(metrics)")
    try await server.sql("DROP INDEX club.\"Member_number_unique\"")
    let check = try await done(folder, "store", "check")
    #expect(check.failureCode == "damaged" && check.reason?.contains("Member_number_unique doesn't exist") == true)
    try await daemon.stop()
  }

  @Test("is backed up and restored, while the password stays out of sight")
  func backups() async throws {
    let server = try PostgresCluster()
    try await server.sql(
      "CREATE ROLE reader LOGIN PASSWORD 'sesame-open'; GRANT CREATE ON DATABASE postgres TO reader")
    let folder = try folder(server, more: ", credential: pg, backups: { keep: 2 }")
    try folder.write(
      folder.text("lade.yaml").replacing(
        "\"\(server.address())\"",
        // pg_dump needs a session, which a pooler between doesn't give.
        with: "\"\(server.address("reader"))\", direct: \"\(server.direct("reader"))\""), to: "lade.yaml")
    try FileManager.default.createDirectory(atPath: folder.file("credentials"), withIntermediateDirectories: true)
    try folder.write("sesame-open\n", to: "credentials/pg")
    let daemon = try folder.launch(["CREDENTIALS_DIRECTORY": folder.file("credentials")])
    try await daemon.ready()
    _ = try await folder.imported("number,name,score\n1,Ada,1.5\n2,Bob,\n", as: "a.csv", into: "members")
    for _ in 1...3 {
      let job = try await done(folder, "store", "backup")
      #expect(job.state == .completed, "\(job.reason ?? "")")
    }
    let names = try folder.names(in: "state/backups/main")
    #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix(".pgdump.zst") }, "\(names)")
    let list = try await folder.asked(BackupList.self, "store", "backups", "main")
    #expect(list.backups.map(\.name).sorted() == names.sorted())
    #expect(try await done(folder, "prune", "Member", "--all", "--yes").state == .completed)
    #expect(try await folder.count("Member") == 0)
    let restore = try await done(folder, "store", "restore", "latest", "--yes")
    #expect(restore.state == .completed, "\(restore.reason ?? "")")
    #expect(try await folder.count("Member") == 2)
    let job = try await folder.imported("number,name,score\n3,Cy,\n", as: "b.csv", into: "members")
    #expect(job.state == .completed && job.progress.inserted == 1, "\(job.reason ?? "")")
    try await daemon.stop()
    #expect(try !daemon.log.contains("sesame"))
  }

  @Test("is migrated without a restart, and --check-config says beforehand what can't be")
  func migrates() async throws {
    let server = try PostgresCluster()
    let folder = try folder(server)
    let daemon = try await folder.start()
    _ = try await folder.imported("number,name,score\n1,Ada,1.5\n", as: "a.csv", into: "members")
    try Members.model(with: .attribute("mail", optional: true)).write(to: folder.file("Model.xcdatamodeld"))
    let job = try await done(folder, "store", "migrate")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let grown = try await done(folder, "update", "Member", "--set", "mail=m@x", "--where", "number == 1", "--yes")
    #expect(grown.state == .completed, "\(grown.reason ?? "")")
    #expect(try await server.sql("SELECT mail FROM club.\"Member\"") == "m@x")
    let second = try await folder.imported("number,name,mail\n2,Bob,b@x\n", as: "b.csv", into: "members")
    #expect(second.state == .completed && second.progress.inserted == 1, "\(second.reason ?? "")")
    try await daemon.stop()
    // Without the attribute its values would be lost.
    try Members.model.write(to: folder.file("Model.xcdatamodeld"))
    let check = try await ProgramOutput.of(
      Products.laded, ["--config", folder.file("lade.yaml"), "--check-config"],
      environment: Products.environment([:]), files: folder.file("check"))
    #expect(check.status == 78 && check.error.contains("Member.mail"), "\(check.error)")
  }

  @Test("has a model that evolves with its files, and origins by which an import is undone")
  func evolves() async throws {
    let server = try PostgresCluster()
    let folder = try folder(
      server, recipes: "  members: { store: main, entity: Member, mode: upsert, schema: evolve, lineage: true }",
      more: ", evolves: true")
    let daemon = try await folder.start()
    let first = try await folder.imported("number,name,age\n1,Ada,36\n", as: "a.csv", into: "members")
    #expect(first.state == .completed, "\(first.reason ?? "")")
    let second = try await folder.imported(
      "number,name,age,shoe size\n1,Eve,70000,38\n2,Bob,7,\n", as: "b.csv", into: "members")
    #expect(second.state == .completed && second.note?.contains("the model has evolved") == true, "\(second)")
    let rows = "SELECT number || ' ' || name || ' ' || age FROM club.\"Member\" ORDER BY number"
    #expect(try await server.sql(rows) == "1 Eve 70000\n2 Bob 7")
    let origins = try await folder.asked(RowOrigins.self, "where-from", "Member", "1")
    #expect(origins.objects.first?.steps.map(\.event) == ["inserted", "updated"])
    let undo = try await folder.ladectl("undo", "\(second.id)", "--yes", "--wait")
    #expect(undo.status == 0, "\(undo.error)")
    #expect(try await server.sql(rows) == "1 Ada 36")
    try await daemon.stop()
  }

  @Test("takes masked values, duplicates and references, as a file does")
  func features() async throws {
    let server = try PostgresCluster()
    let folder = try folder(
      server,
      recipes: """
          members:
            store: main
            entity: Member
            mode: upsert
            properties: { note: { mask: keep_last(2) } }
        """)
    let daemon = try await folder.start()
    let job = try await folder.imported(
      "number,name,note\n1,Ada,secret-01\n1,Ada,secret-02\n2,Bob,secret-03\n", as: "a.csv", into: "members")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    let notes = try await server.sql("SELECT note FROM club.\"Member\" ORDER BY number")
    #expect(notes.split(separator: "\n").map { String($0.suffix(2)) } == ["02", "03"] && !notes.contains("secret"))
    let retried = try await folder.imported(
      "number,name,note\n1,Ada,secret-02\n", as: "b.csv", into: "members")
    #expect(retried.progress.unchanged == 1, "\(retried)")
    try await daemon.stop()
  }
}
