import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

/// A recipe whose schema says evolve: the store has what files bring, and nothing is lost on the way.
@Suite("A model that evolves in the daemon", .startsDaemons, .serialized)
struct EvolutionTests {
  private static let recipe =
    "  members: { store: main, entity: Member, mode: upsert, schema: evolve, max_attempts: 2 }"

  private func folder(_ model: ModelText = Members.model, recipes: String = recipe) throws -> DaemonFolder {
    let folder = try DaemonFolder(model: model, recipes: recipes, more: "intake: { settle: 100ms }")
    try folder.write(
      folder.text("lade.yaml").replacing("Model.xcdatamodeld }", with: "Model.xcdatamodeld, evolves: true }"),
      to: "lade.yaml")
    return folder
  }

  private func versions(_ folder: DaemonFolder) throws -> [String] {
    try folder.names(in: "Model.xcdatamodeld").filter { $0.hasSuffix(".xcdatamodel") }
  }

  private func done(_ folder: DaemonFolder, _ arguments: String...) async throws -> Job {
    let run = try await folder.ladectl(arguments + ["--wait", "--json"])
    return try #require(try WireFormat.decode(JobList.self, from: run.output).jobs.first, "\(run.error)")
  }

  @Test("takes a new column and a wider type before the first record, says so, and has them after a restart")
  func evolves() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let first = try await folder.imported("number,name,age\n1,Ada,36\n", as: "a.csv", into: "members")
    #expect(first.state == .completed && first.note == nil)
    #expect(try versions(folder) == ["Model 1.xcdatamodel"])
    let job = try await folder.imported(
      "number,name,age,shoe size\n1,Ada,36,38\n2,Bob,70000,\n3,Cleo,7,40\n", as: "b.csv", into: "members")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    #expect((job.progress.inserted, job.progress.updated, job.progress.rejected) == (2, 1, 0))
    #expect(
      job.note
        == "the model has evolved: Member.age: Integer 16 to Integer 32; Member.shoeSize, Integer 64, in Model 2.xcdatamodel"
    )
    #expect(
      try await folder.sqlite("SELECT number, age, shoeSize FROM Member ORDER BY 1") == "1,36,38\n2,70000,NULL\n3,7,40")
    #expect(try daemon.log.contains("store main: its model has evolved to Model 2.xcdatamodel, for job \(job.id): "))
    // Everything of the daemon has it at once.
    let fetched = try await folder.ladectl("fetch", "Member", "--where", "shoeSize == 40", "--columns", "number")
    #expect(fetched.status == 0 && fetched.text.contains("3"), "\(fetched.error)")
    let again = try await folder.imported("number,name,shoe size\n4,Dan,41\n", as: "c.csv", into: "members")
    #expect(again.note == nil && again.progress.inserted == 1)
    try await daemon.stop()
    let next = try await folder.start()
    let last = try await folder.imported("number,name,shoe size\n5,Eve,42\n", as: "d.csv", into: "members")
    #expect(last.progress.inserted == 1)
    #expect(try await folder.sqlite("SELECT shoeSize FROM Member WHERE number > 3 ORDER BY 1") == "41\n42")
    #expect(try versions(folder) == ["Model 1.xcdatamodel", "Model 2.xcdatamodel"])
    try await next.stop()
  }

  @Test("takes a key that JSON shows in its last record, and loses no value of it")
  func lateKey() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    var lines = (1...500).map { "{\"number\":\($0),\"name\":\"M\($0)\"}" }
    lines.append("{\"number\":501,\"name\":\"Last\",\"hat\":\"red\"}")
    let job = try await folder.imported(lines.joined(separator: "\n"), as: "a.ndjson", into: "members")
    #expect(job.state == .completed && job.progress.inserted == 501, "\(job.reason ?? "")")
    #expect(try await folder.sqlite("SELECT number, hat FROM Member WHERE hat IS NOT NULL") == "501,'red'")
    try await daemon.stop()
  }

  @Test("gets an entity for a file of an archive that has none")
  func entities() async throws {
    let folder = try folder(recipes: "  all: { store: main, entity: \"*\", schema: { entities: evolve } }")
    let daemon = try await folder.start()
    try folder.write("number,name\n1,Ada\n", to: "Member.csv")
    try folder.write("sku,price\na,1.50\nb,2.25\n", to: "products.csv")
    let tar = try #require(Products.system("tar"))
    let packed = try await ProgramOutput.of(
      tar, ["-C", folder.path, "-cf", folder.file("all.tar"), "Member.csv", "products.csv"],
      environment: Products.environment([:]), files: folder.nextRun())
    try #require(packed.status == 0, "\(packed.error)")
    let job = try await folder.imported(try folder.data("all.tar"), as: "all.tar", into: "all")
    #expect(job.state == .completed && job.progress.inserted == 3, "\(job.reason ?? "") \(job.note ?? "")")
    #expect(
      job.note?.contains("the model has evolved: Product, new, in Model 2.xcdatamodel") == true, "\(job.note ?? "")")
    #expect(try await folder.sqlite("SELECT sku, price FROM Product ORDER BY 1") == "'a',1.5\n'b',2.25")
    let back = try await done(folder, "store", "revert")
    #expect(
      back.state == .discarded && back.reason?.contains("2 Product would be lost") == true, "\(back.reason ?? "")")
    try await daemon.stop()
  }

  @Test("is taken back where nothing is lost, or by force, and may evolve again")
  func reverts() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let early = try await done(folder, "store", "revert")
    #expect(early.state == .discarded && early.failureCode == "nothing_to_revert")
    _ = try await folder.imported("number,name,hat\n1,Ada,red\n", as: "a.csv", into: "members")
    let refused = try await done(folder, "store", "revert")
    #expect(refused.state == .discarded && refused.failureCode == "would_lose", "\(refused.reason ?? "")")
    #expect(refused.reason?.contains("1 value(s) of Member.hat would be lost") == true)
    #expect(try await folder.sqlite("SELECT hat FROM Member") == "'red'")
    let back = try await done(folder, "store", "revert", "--force")
    #expect(back.state == .completed, "\(back.reason ?? "")")
    #expect(back.note?.hasSuffix("Model 1.xcdatamodel is the current version") == true)
    #expect(try await folder.sqlite("SELECT count(*) FROM pragma_table_info('Member') WHERE name = 'hat'") == "0")
    #expect(try await folder.count("Member") == 1)
    _ = try await folder.imported("number,name,hat\n2,Bob,blue\n", as: "b.csv", into: "members")
    #expect(try await folder.sqlite("SELECT number, hat FROM Member ORDER BY 1") == "1,NULL\n2,'blue'")
    #expect(try versions(folder) == ["Model 1.xcdatamodel", "Model 2.xcdatamodel"])
    _ = try await folder.imported("number,name,hat\n2,Bob,\n", as: "empty.csv", into: "members")
    #expect(try await done(folder, "store", "revert").state == .completed)
    // A wider type stays: its values have no way back.
    _ = try await folder.imported("number,name,age\n3,Cleo,70000\n", as: "c.csv", into: "members")
    let typed = try await done(folder, "store", "revert", "--force")
    #expect(typed.state == .discarded && typed.failureCode == "cannot_revert", "\(typed.reason ?? "")")
    try await daemon.stop()
  }

  @Test("fails before it imports anything where no version takes the file, or the model's folder can't be written")
  func refuses() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let nested = try await folder.imported(
      #"[{"number":1,"name":"Ada","hat":{"size":1}}]"#, as: "a.json", into: "members")
    #expect(nested.state == .discarded && nested.failureCode == "cannot_evolve", "\(nested.reason ?? "")")
    #expect(try await folder.count("Member") == 0)
    let ticket = try await folder.ladectl(
      "import", folder.write("number,name,hat\n1,Ada,red\n", to: "b.csv"), "--entity", "Member", "--option",
      "schema=evolve")
    #expect(ticket.status == 1 && ticket.error.contains("only a recipe of the configuration"), "\(ticket.error)")
    let stricter = try await folder.ladectl(
      "import", folder.file("b.csv"), "--recipe", "members", "--option", "schema=freeze", "--wait")
    #expect(stricter.status == 3)
    #expect(try versions(folder) == ["Model 1.xcdatamodel"])
    let diff = try await folder.ladectl("model", "diff", folder.file("b.csv"), "--recipe", "members")
    #expect(diff.status == 0 && diff.text.contains("new column: hat, String as hat"), "\(diff.text)")
    #expect(try versions(folder) == ["Model 1.xcdatamodel"])
    try await daemon.stop()
    // What the configuration doesn't let evolve.
    try folder.write(
      folder.text("lade.yaml").replacing(", evolves: true", with: ""), to: "lade.yaml")
    let check = try await ProgramOutput.of(
      Products.laded, ["--config", folder.file("lade.yaml"), "--check-config"],
      environment: Products.environment([:]), files: folder.file("check"))
    #expect(check.status == 78 && check.error.contains("Say `evolves: true` in stores.main"), "\(check.error)")
  }

  @Test("is killed at any change of the model's folder and of the store, and has every value once")
  func kills() async throws {
    let folder = try folder()
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: "/Model.xcdatamodeld")
    let rounds = try await folder.killed(at: point) { rounds in
      try folder.drop(
        "number,name,c\(rounds)\n\(rounds),M\(rounds),v\(rounds)\n", as: "\(rounds).csv", into: "members")
    }
    #expect(KillPoint.changes(in: rounds) >= 7, "so many changes are met")
    let daemon = try await folder.start()
    let jobs = try await folder.listedJobs()
    #expect(jobs.count == rounds)
    for job in jobs {
      #expect(job.state == .completed && job.progress.inserted == 1, "\(job.id): \(job.reason ?? "")")
      #expect(job.note?.hasPrefix("the model has evolved: Member.c") == true, "\(job.id): \(job.note ?? "")")
    }
    #expect(try await folder.count("Member") == rounds)
    for round in 1...rounds {
      #expect(try await folder.sqlite("SELECT c\(round) FROM Member WHERE number = \(round)") == "'v\(round)'")
    }
    // One version for each file: what a kill left is used again.
    #expect(try versions(folder).count == rounds + 1)
    #expect(
      try folder.names(in: "Model.xcdatamodeld").filter { $0.hasSuffix(".evolving") || $0.hasSuffix(".new") } == [])
    try await daemon.stop()
  }

  @Test("is killed at changes of the store while it is opened, migrated and imported into, and has every value once")
  func storeKills() async throws {
    let folder = try folder()
    try await folder.start().stop()
    let point = try KillPoint(in: folder, watch: "/main.sqlite")
    let rounds = 12
    for round in 1...rounds {
      try folder.drop("number,name,c\(round)\n\(round),M\(round),v\(round)\n", as: "\(round).csv", into: "members")
      // Spread over the opening of the store, its migration and the import.
      try point.arm(round * 5)
      let daemon = try folder.launch(point.environment)
      if try await daemon.started.value() == .ready, try await folder.haveAllEnded() { daemon.terminate() }
      _ = try await daemon.ended()
      let next = try await folder.start()
      #expect(try await folder.haveAllEnded(), "round \(round)")
      try await next.stop()
    }
    let daemon = try await folder.start()
    #expect(try await folder.count("Member") == rounds)
    for round in 1...rounds {
      #expect(try await folder.sqlite("SELECT c\(round) FROM Member WHERE number = \(round)") == "'v\(round)'")
    }
    #expect(try versions(folder).count == rounds + 1)
    try await daemon.stop()
  }
}
