import ControlAPI
import CoreDataStores
import Foundation
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

/// On real processes: by `ladectl`, in every format and mode.
@Suite("Rejects that are retried", .startsDaemons)
struct RetriedRejectTests {
  private static let corrected = "properties: { age: { values: { old: \"70\" } } }"

  private static func recipe(_ options: String...) -> String {
    "  members: { store: main, entity: Member"
      + options.filter { !$0.isEmpty }.map { ", " + $0 }.joined() + " }"
  }

  /// Changes the recipe of a daemon that runs.
  private func change(_ folder: DaemonFolder, _ recipe: String, to other: String) async throws {
    let text = try folder.text("lade.yaml")
    #expect(text.contains(recipe))
    _ = try folder.write(text.replacing(recipe, with: other), to: "lade.yaml")
    let run = try await folder.ladectl("reload")
    #expect(run.status == 0, "\(run.error)")
  }

  /// Retries a job's rejects, and waits.
  private func retried(_ job: Int64, _ folder: DaemonFolder, _ more: String...) async throws -> Job {
    let run = try await folder.ladectl(["rejects", "retry", "\(job)", "--json"] + more)
    try #require(run.status == 0, "\(run.text) \(run.error)")
    return try await folder.ended(try WireFormat.decode(Job.self, from: run.output).id)
  }

  @Test("once the recipe is corrected, in every format", arguments: MemberFile.allCases)
  func everyFormat(_ file: MemberFile) async throws {
    let before = Self.recipe(file.recipe)
    let folder = try DaemonFolder(model: Members.model, recipes: before)
    let daemon = try await folder.start()
    let members = Members(rows: 200, faults: 6, kinds: [.badInteger])
    let job = try await folder.imported(
      try await file.content(members, in: folder), as: file.name, into: "members")
    #expect(job.state == .completed && job.progress.rejected == 6, "\(job.reason ?? "")")
    #expect(job.openRejects == 6)

    // Nothing has changed, so nothing is resolved.
    let first = try await retried(job.id, folder)
    #expect(first.failureCode == "nothing_imported" && first.retryOf == job.id, "\(first.reason ?? "")")
    #expect(try await folder.job(job.id).openRejects == 6)

    try await change(folder, before, to: Self.recipe(file.recipe, Self.corrected))
    let dry = try await retried(job.id, folder, "--dry-run")
    #expect(dry.state == .completed && dry.progress.inserted == 6, "\(dry.reason ?? "")")
    #expect(try await folder.count("Member") == 194)
    #expect(try await folder.job(job.id).openRejects == 6)

    let child = try await retried(job.id, folder)
    #expect(child.state == .completed && child.progress.inserted == 6, "\(child.reason ?? "")")
    #expect(try await folder.count("Member") == 200)
    #expect(try await folder.count("Member", where: "age = 70 AND number > 0") >= 6)
    #expect(try await folder.job(job.id).openRejects == 0)
    #expect(try await folder.ladectl("show", "\(job.id)").text.contains("0 of 6 open"))
    #expect(try await folder.ladectl("rejects", "retry", "\(job.id)").status == 1)
    let report = try await folder.asked(RejectReport.self, "rejects", "\(job.id)")
    #expect(report.open == 0 && report.resolved == [.init(job: child.id, count: 6)])
    #expect(report.groups.flatMap(\.examples).allSatisfy { $0.resolvedBy == child.id && $0.number > 0 })
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try folder.names(in: "state/rejects").allSatisfy { !$0.hasSuffix(".numbers") })
    try await daemon.stop()
  }

  @Test(
    "in every mode, and delete nothing that they don't name", arguments: ImportMode.allCases)
  func everyMode(_ mode: ImportMode) async throws {
    let before = Self.recipe("mode: \(mode.rawValue)")
    let folder = try DaemonFolder(
      model: Members.model, recipes: before + "\n  fill: { store: main, entity: Member, mode: upsert }")
    let daemon = try await folder.start()
    if mode == .update { _ = try await folder.imported("number,name\n1,A\n2,B\n", as: "first.csv", into: "fill") }
    let job = try await folder.imported("number,name,age\n1,One,30\n2,Two,old\n", as: "members.csv", into: "members")
    #expect(job.state == .completed && job.progress.rejected == 1, "\(job.reason ?? "")")
    _ = try await folder.imported("number,name\n9,Nine\n", as: "more.csv", into: "fill")
    try await change(folder, before, to: Self.recipe("mode: \(mode.rawValue)", Self.corrected))
    let child = try await retried(job.id, folder)
    #expect(child.state == .completed && child.progress.deleted == 0, "\(child.reason ?? "")")
    #expect(
      try await folder.sqlite("SELECT number, name, age FROM Member ORDER BY number")
        == "1,'One',30\n2,'Two',70\n9,'Nine',NULL")
    try await daemon.stop()
  }

  @Test("in the mode that the submission gave beside the recipe")
  func givenMode() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipe("mode: upsert"))
    let daemon = try await folder.start()
    _ = try await folder.imported("number,name\n1,A\n", as: "first.csv", into: "members")
    let path = try folder.write("number,name,age\n1,A,old\n2,B,old\n", to: "members.csv")
    let run = try await folder.ladectl("import", path, "--recipe", "members", "--mode", "update", "--wait")
    #expect(run.status == 2 || run.status == 3, "\(run.text) \(run.error)")
    let job = try await folder.job(of: "members.csv")
    #expect(job.progress.rejected == 2, "\(job.reason ?? "")")
    try await change(folder, Self.recipe("mode: upsert"), to: Self.recipe("mode: upsert", Self.corrected))
    let child = try await retried(job.id, folder)
    #expect(
      child.mode == .update && child.progress.updated == 1 && child.progress.rejected == 1, "\(child.reason ?? "")")
    #expect(try await folder.sqlite("SELECT number, age FROM Member") == "1,70")
    try await daemon.stop()
  }

  @Test("of a Core Data store, each into its entity")
  func coreData() async throws {
    func attribute(_ name: String, _ type: String) -> ModelText.Property { .attribute(name, type, optional: true) }
    let model = ModelText(
      ModelText.entity(
        "Part", unique: ["row"],
        [.attribute("row", "Integer 64", optional: true, column: "Z_PK"), attribute("size", "Integer 16")]))
    let before = "  app: { store: main, entity: \"*\", format: core-data }"
    let folder = try DaemonFolder(model: model, recipes: before)
    let coordinator = PersistentStoreCoordinator(
      model: try ManagedObjectModel(entities: [
        EntityDefinition("Part", attributes: [AttributeDefinition("size", .integer32)])
      ]))
    let options = CoreDataStoreOptions(template: .versionHashes(["Part": Data(repeating: 7, count: 32)]))
    let app = URL(fileURLWithPath: folder.file("App.sqlite"))
    try coordinator.addPersistentStore(.coreData(at: app, options: options))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for size in [1, 70_000, 3, 70_000] { try context.insert("Part").setValue(.int(Int64(size)), forKey: "size") }
    try context.save()
    try coordinator.close()

    let daemon = try await folder.start()
    let output = try await folder.ladectl("import", app.path, "--recipe", "app", "--wait")
    #expect(output.status == 2, "\(output.text) \(output.error)")
    let job = try #require(try await folder.jobs().first)
    #expect(job.progress.inserted == 2 && job.progress.rejected == 2, "\(job.reason ?? "")")
    try await change(
      folder, before,
      to:
        "  app: { store: main, entity: \"*\", format: core-data, properties: { size: { values: { \"70000\": \"7\" } } } }"
    )
    let child = try await retried(job.id, folder)
    #expect(child.state == .completed && child.progress.inserted == 2, "\(child.reason ?? "")")
    #expect(try await folder.sqlite("SELECT size, count(*) FROM Part GROUP BY size ORDER BY size") == "1,1\n3,1\n7,2")
    #expect(try await folder.job(job.id).openRejects == 0)
    try await daemon.stop()
  }

  @Test(
    "of a job that was killed and cancelled before it ran again, which has rows in the store")
  func cancelled() async throws {
    let before = Self.recipe("batch_size: 100")
    let folder = try DaemonFolder(model: Members.model, recipes: before)
    var daemon = try await folder.start()
    let members = Members(rows: 300_000, faults: 900, kinds: [.badInteger])
    try folder.drop(members.csv, as: "members.csv", into: "members")
    while try await folder.count("Member") < 500 {}
    _ = try await folder.ladectl("pause")
    try await daemon.kill()
    daemon = try await folder.start()
    let waiting = try #require(try await folder.jobs().first)
    try #require(!waiting.state.isEnded, "\(waiting.reason ?? "")")
    _ = try await folder.ladectl("cancel", "\(waiting.id)")
    let job = try await folder.ended(waiting.id)
    _ = try await folder.ladectl("resume")
    #expect(job.state == .cancelled)
    #expect(job.progress.inserted == Int64(try await folder.count("Member")))
    let report = try await folder.asked(RejectReport.self, "rejects", "\(job.id)")
    #expect(report.count == job.progress.rejected && report.count > 0)
    try await change(folder, before, to: Self.recipe("batch_size: 100", Self.corrected))
    let child = try await retried(job.id, folder)
    #expect(child.progress.inserted == job.progress.rejected, "\(child.reason ?? "")")
    try await daemon.stop()
  }

  @Test("once the model is corrected")
  func model() async throws {
    let folder = try DaemonFolder(
      model: Self.people(nameIsOptional: false), recipes: "  people: { store: main, entity: Person }")
    let daemon = try await folder.start()
    let job = try await folder.imported("number,name\n1,A\n2,\n", as: "people.csv", into: "people")
    #expect(job.progress.rejected == 1, "\(job.reason ?? "")")
    try await daemon.stop()
    try Self.people(nameIsOptional: true).write(to: folder.file("Model.xcdatamodeld"))
    let next = try await folder.start()
    let child = try await retried(job.id, folder)
    #expect(child.state == .completed && child.progress.inserted == 1, "\(child.reason ?? "")")
    #expect(try await folder.job(job.id).openRejects == 0)
    try await next.stop()
  }

  private static func people(nameIsOptional: Bool) -> ModelText {
    ModelText(
      ModelText.entity(
        "Person", unique: ["number"],
        [.attribute("number", "Integer 64"), .attribute("name", optional: nameIsOptional)]))
  }

  @Test("of a feed, each into the entity of its file")
  func feed() async throws {
    let model = ModelText(
      ModelText.entity(
        "Club", unique: ["code"],
        [
          .attribute("code"), .attribute("size", "Integer 32", optional: true),
          .toMany("players", "Player", inverse: "club"),
        ]),
      ModelText.entity(
        "Player", unique: ["number"],
        [
          .attribute("number", "Integer 64"), .attribute("age", "Integer 16", optional: true),
          .toOne("club", "Club", inverse: "players", by: "code"),
        ]))
    let before = "  feed: { store: main, entity: \"*\" }"
    let folder = try DaemonFolder(model: model, recipes: before)
    let daemon = try await folder.start()
    let archive = try Packed.zip([
      ("Club.csv", Data("code,size\na,1\nb,many\n".utf8)),
      ("Player.csv", Data("number,age,club\n1,20,a\n2,old,b\n3,old,a\n".utf8)),
    ])
    let job = try await folder.imported(archive, as: "clubs.zip", into: "feed")
    #expect(job.state == .completed && job.progress.rejected == 3, "\(job.reason ?? "")")
    try await change(
      folder, before,
      to:
        "  feed: { store: main, entity: \"*\", properties: { age: { values: { old: \"70\" } }, size: { values: { many: \"99\" } } } }"
    )
    let child = try await retried(job.id, folder)
    #expect(child.state == .completed && child.progress.inserted == 3, "\(child.reason ?? "")")
    #expect(
      try await folder.sqlite(
        "SELECT p.number, p.age, c.code, c.size FROM Player p LEFT JOIN Club c ON p.club_id = c.id ORDER BY p.number")
        == "1,20,'a',1\n2,70,'b',99\n3,70,'a',1")
    #expect(try await folder.job(job.id).openRejects == 0)
    try await daemon.stop()
  }

  @Test("twice at once are refused, and one after another resolve each once")
  func atOnce() async throws {
    let before = Self.recipe("mode: insert")
    let folder = try DaemonFolder(model: Members.model, recipes: before)
    let daemon = try await folder.start()
    let job = try await folder.imported("number,name,age\n1,A,1\n2,B,old\n", as: "members.csv", into: "members")
    try await change(folder, before, to: Self.recipe("mode: insert", Self.corrected))
    _ = try await folder.ladectl("pause")
    async let one = folder.ladectl("rejects", "retry", "\(job.id)", "--json")
    async let two = folder.ladectl("rejects", "retry", "\(job.id)", "--json")
    let runs = try await [one, two]
    #expect(runs.map(\.status).sorted() == [0, 1], "\(runs.map(\.error))")
    // Nobody else can hold them up.
    let path = try folder.write("number,name\n7,G\n", to: "g.csv")
    let forged = try await folder.ladectl("import", path, "--recipe", "members", "--unique-key", "rejects of job 1")
    #expect(forged.status == 1 && forged.error.contains("as the daemon's own keys do"), "\(forged.error)")
    // A job whose rejects are being retried isn't tried again itself, and its retry isn't either.
    #expect(try await folder.ladectl("retry", "\(job.id)").status == 1)
    _ = try await folder.ladectl("resume")
    _ = try await folder.ladectl("wait", "--all")
    #expect(try await folder.count("Member") == 2)
    #expect(try await folder.job(job.id).openRejects == 0)
    #expect(try await folder.ladectl("rejects", "retry", "\(job.id)").status == 1)
    #expect(try await folder.count("Member") == 2)
    try await daemon.stop()
  }

  @Test("and whose daemon is killed are resolved once")
  func killed() async throws {
    let before = Self.recipe("mode: insert, batch_size: 100")
    let folder = try DaemonFolder(model: Members.model, recipes: before)
    var daemon = try await folder.start()
    let members = Members(rows: 3_000, faults: 900, kinds: [.badInteger])
    let job = try await folder.imported(members.csv, as: "members.csv", into: "members")
    #expect(job.progress.rejected == 900, "\(job.reason ?? "")")
    try await change(folder, before, to: Self.recipe("mode: insert, batch_size: 100", Self.corrected))
    let run = try await folder.ladectl("rejects", "retry", "\(job.id)", "--json")
    try #require(run.status == 0, "\(run.error)")
    try await daemon.kill()
    daemon = try await folder.start()
    let child = try await folder.ended(try WireFormat.decode(Job.self, from: run.output).id)
    #expect(child.state == .completed && child.progress.inserted == 900, "\(child.reason ?? "")")
    #expect(try await folder.count("Member") == 3_000)
    #expect(try await folder.job(job.id).openRejects == 0)
    try await daemon.stop()
  }

  // MARK: Corrected records

  /// Runs `ladectl` with an editor that is a command.
  private func edited(_ folder: DaemonFolder, _ editor: String, _ arguments: String...) async throws -> ProgramOutput {
    try await folder.ladectl(arguments, environment: ["VISUAL": editor])
  }

  @Test("in an editor are checked, and keep their numbers")
  func edit() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipe())
    let daemon = try await folder.start()
    let job = try await folder.imported(
      "number,name,age\n1,A,1\n2,B,old\n3,C,older\n4,\"D\nD\",oldest\n", as: "members.csv", into: "members")
    #expect(job.progress.rejected == 3)

    // The second is still wrong, so nothing is submitted.
    let wrong = try await edited(folder, "sed -i 's/,old$/,70/'", "rejects", "retry", "\(job.id)", "--edit")
    #expect(wrong.status == 2, "\(wrong.error)")
    #expect(wrong.error.contains("Reject 2, age:") && !wrong.error.contains("Reject 1,"))
    // What was corrected isn't lost.
    let kept = try #require(wrong.error.firstMatch(of: /corrections are kept in (\/.*)\./)?.1)
    #expect(try String(contentsOfFile: String(kept), encoding: .utf8).contains("2,B,70"))
    try FileManager.default.removeItem(atPath: String(kept))
    #expect(try await folder.jobs().count == 1)
    #expect(try await folder.count("Member") == 1)

    // The one that is removed stays open.
    let right = try await edited(
      folder, "sed -i -e 's/,oldest$/,72/' -e 's/,old$/,70/' -e '/older/d'", "rejects", "retry", "\(job.id)", "--edit",
      "--wait")
    #expect(right.status == 0, "\(right.text) \(right.error)")
    #expect(try await folder.sqlite("SELECT number, age FROM Member ORDER BY number") == "1,1\n2,70\n4,72")
    #expect(try await folder.ladectl("show", "\(job.id)").text.contains("1 of 3 open"))
    let open = try await folder.asked(Reject.self, "rejects", "\(job.id)", "2")
    #expect(open.resolvedBy == nil && open.record == "3,C,older" && open.cell == .init(offset: 4, length: 5))
    #expect(try await folder.asked(Reject.self, "rejects", "\(job.id)", "3").resolvedBy == job.id + 1)

    let failed = try await edited(folder, "false", "rejects", "retry", "\(job.id)", "--edit")
    #expect(failed.status == 1 && failed.error.contains("editor"))
    try await daemon.stop()
  }

  @Test("are those of a job that imported something, not of dry runs and retries")
  func refusals() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: Self.recipe() + "\n  dry: { store: main, entity: Member, dry_run: true }")
    let daemon = try await folder.start()
    let text = "number,name,age\n1,A,1\n2,B,old\n3,C,older\n"
    let dry = try await folder.imported(text, as: "dry.csv", into: "dry")
    #expect(try await folder.ladectl("rejects", "retry", "\(dry.id)").error.contains("dry run"))
    let job = try await folder.imported(text, as: "members.csv", into: "members")
    let child = try await retried(job.id, folder)
    #expect(try await folder.ladectl("rejects", "retry", "\(child.id)").error.contains("job \(job.id)"))
    #expect(try await folder.ladectl("retry", "\(child.id)").status == 1)
    #expect(try await folder.ladectl("rejects", "\(job.id)", "4").status == 1)
    let many = (1...1_001).map { "{\"number\": \($0)}" }.joined(separator: ",")
    for verb in ["check", "retry"] {
      let refused = try await folder.http("POST", "/v1/jobs/\(job.id)/rejects/\(verb)", "{\"records\": [\(many)]}")
      #expect(refused.status == 422 || refused.status == 400, "\(refused.text)")
      #expect(refused.text.contains("1001"), "\(refused.text)")
    }
    try await daemon.stop()
  }
}
