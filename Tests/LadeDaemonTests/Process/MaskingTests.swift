import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Masked values in the daemon", .startsDaemons)
struct MaskingTests {
  private static let key = "0123456789abcdef0123456789abcdef"
  private static let secrets = ["ada-secret", "grace-secret", "lost-secret", "note-secret", "broken-secret"]
  private static let recipe = """
      members:
        store: main
        entity: Member
        mode: upsert
        properties:
          name: { mask: "hmac(sha256, pii)" }
          note: { mask: keep_last(2) }
    """
  private static let csv = """
    number,name,age,note
    1,ada-secret,36,note-secret-01
    2,grace-secret,old,note-secret-02
    3,lost-secret
    4,"broken-secret"x,1,note-secret-04

    """

  private let folder: DaemonFolder
  private let environment: [String: String]

  init() throws { (folder, environment) = try Self.make(Self.recipe) }

  private static func make(
    _ recipes: String, _ model: ModelText = Members.model
  ) throws -> (DaemonFolder, [String: String]) {
    let folder = try DaemonFolder(model: model, recipes: recipes, more: "intake: { settle: 100ms }")
    try FileManager.default.createDirectory(atPath: folder.file("credentials"), withIntermediateDirectories: true)
    try folder.write(key + "\n", to: "credentials/pii")
    return (folder, ["CREDENTIALS_DIRECTORY": folder.file("credentials")])
  }

  private func start(_ more: [String: String] = [:]) async throws -> DaemonProcess {
    let daemon = try folder.launch(environment.merging(more) { $1 })
    try await daemon.ready()
    return daemon
  }

  /// The files of the folder that have one of the secrets in them.
  private func leaks(_ folder: DaemonFolder? = nil, besides places: [String] = []) throws -> [String] {
    let folder = folder ?? self.folder
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).flatMap { name -> [String] in
      if places.contains(where: { name.hasPrefix($0) }) { return [] }
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: folder.file(name), isDirectory: &isFolder), !isFolder.boolValue,
        let data = FileManager.default.contents(atPath: folder.file(name))
      else { return [] }
      return (Self.secrets + [Self.key]).filter { data.range(of: Data($0.utf8)) != nil && name != "credentials/pii" }
        .map { "\(name): \($0)" }
    }
  }

  @Test("are in no file, answer and log line after an import, and the file is gone")
  func nowhere() async throws {
    let daemon = try await start()
    let job = try await folder.imported(Self.csv, as: "a.csv", into: "members")
    #expect(job.state == .completed && job.progress.rejected == 3, "\(job.reason ?? "")")
    for arguments in [
      ["show", "\(job.id)", "--json"], ["rejects", "\(job.id)"], ["log"], ["fetch", "Member", "--json"],
      ["list", "--json"],
      ["config", "show"], ["store", "backup", "main", "--wait"],
    ] {
      #expect(try await folder.ladectl(arguments).status == 0, "\(arguments)")
    }
    #expect(try folder.names(in: "spool/done") == [])
    #expect(try folder.names(in: "spool/active") == [])
    #expect(try leaks() == [])
    try await daemon.stop()
    #expect(try leaks() == [])
    let row = try await folder.sqlite("SELECT number, length(name), note FROM Member")
    #expect(row == "1,64,'****01'")
    let rejects = try folder.text("state/rejects/\(job.id).rejects.csv")
    #expect(
      rejects.contains("ladehmac") && rejects.contains("****02") && rejects.contains("take this record from its source")
    )
  }

  @Test("are in no answer of a recipe test, nor in a job that fails; its file is removed, and the reason is there")
  func failure() async throws {
    let daemon = try await start()
    let job = try await folder.imported("number,name\nx,ada-secret\n", as: "bad.csv", into: "members")
    #expect(job.state == .discarded && job.failureCode == "nothing_imported")
    #expect(try folder.names(in: "spool/corrupt") == ["\(job.id)-bad.csv.reason"])
    #expect(
      try folder.text("spool/corrupt/\(job.id)-bad.csv.reason").contains("The file was removed, since values of it"))
    let retried = try await folder.ladectl("retry", "\(job.id)")
    #expect(retried.status == 1 && retried.error.contains("isn't in corrupt/ or done/ any more"))
    #expect(try leaks() == [])
    let path = try folder.write(Self.csv, to: "test.csv")
    let tested = try await folder.ladectl("recipe", "test", path, "--recipe", "members", "--json")
    #expect(tested.status == 2, "\(tested.text) \(tested.error)")
    #expect(try leaks(besides: ["test.csv"]) == [])
    try await daemon.stop()
  }

  @Test("stay in the file of a failed job where the recipe keeps it, and it can be tried again")
  func keepFailed() async throws {
    let (folder, environment) = try Self.make(Self.recipe + "\n    keep_failed: true")
    let daemon = try folder.launch(environment)
    try await daemon.ready()
    let job = try await folder.imported("number,name\nx,ada-secret\n", as: "bad.csv", into: "members")
    #expect(try folder.names(in: "spool/corrupt") == ["\(job.id)-bad.csv", "\(job.id)-bad.csv.reason"])
    #expect(try leaks(folder, besides: ["spool/corrupt"]) == [])
    #expect(try await folder.ladectl("retry", "\(job.id)").status == 0)
    #expect(try await folder.ended(job.id).state == .discarded)
    try await daemon.stop()
  }

  @Test("stay masked whatever a ticket or a submission says")
  func submissions() async throws {
    let daemon = try await start()
    try folder.drop("number,name\n1,ada-secret\n", as: "a.csv", into: "")
    try folder.drop("{entity: Member, mode: upsert, source: a.csv}", as: "a.job", into: "")
    #expect(try await folder.job(of: "a.csv").state == .completed)
    try folder.drop("number,wer\n2,grace-secret\n", as: "b.csv", into: "")
    try folder.drop("{entity: Member, source: b.csv, options: {properties: {name: wer}}}", as: "b.job", into: "")
    #expect(try await folder.job(of: "b.csv").state == .completed)
    #expect(try await folder.sqlite("SELECT count(*) FROM Member WHERE length(name) = 64") == "2")
    #expect(try leaks() == [])
    for (option, words) in [
      (
        "properties.name.mask=truncate(100)",
        "the configuration masks it by hmac(sha256, pii), and no submission changes that"
      ),
      ("properties.note.mask=hmac(sha256, pii)", "only a recipe of the configuration may name a credential"),
      ("keep_failed=true", "only a recipe of the configuration may say it"),
    ] {
      let path = try folder.write("number,name\n3,x\n", to: "c.csv")
      for target in [["--recipe", "members"], ["--entity", "Member"]] {
        let refused = try await folder.ladectl(["import", path] + target + ["--option", option])
        #expect(refused.status == 1 && refused.error.contains(words), "\(option): \(refused.error)")
      }
    }
    let path = try folder.write("number,name,manager\n3,lost-secret,1\n", to: "c.csv")
    let added = try await folder.ladectl(
      "import", path, "--entity", "Member", "--option", "properties.name.trim=true", "--wait")
    #expect(added.status == 0, "\(added.error)")
    try FileManager.default.removeItem(atPath: path)
    #expect(try leaks() == [])
    try await daemon.stop()
  }

  @Test("stay masked when rejects are retried, by a recipe and without one")
  func rejects() async throws {
    let daemon = try await start()
    let csv = "number,name,age\n1,ada-secret,1\n2,grace-secret,old\n"
    let path = try folder.write(csv, to: "a.csv")
    for (number, target) in [["--recipe", "members"], ["--entity", "Member"]].enumerated() {
      let imported = try await folder.ladectl(["import", path, "--wait"] + target)
      #expect(imported.status == 2, "\(imported.error)")
      let job = 2 * number + 1
      let retried = try await folder.ladectl(
        ["rejects", "retry", "\(job)", "--edit", "--wait"], environment: ["VISUAL": "sed -i s/,old/,\(number)/"])
      #expect(retried.status == 0, "\(retried.error)")
    }
    try FileManager.default.removeItem(atPath: path)
    #expect(
      try await folder.sqlite(
        "SELECT age FROM Member WHERE length(name) = 64 AND name NOT LIKE 'lade%' ORDER BY number")
        == "1\n1")
    #expect(try leaks() == [])
    try await daemon.stop()
  }

  @Test("go from done/ when a file of before the mask is replayed under it")
  func replayed() async throws {
    let (folder, environment) = try Self.make("  members: { store: main, entity: Member, mode: upsert }")
    let daemon = try folder.launch(environment)
    try await daemon.ready()
    let job = try await folder.imported("number,name\n1,ada-secret\n", as: "a.csv", into: "members")
    #expect(try folder.names(in: "spool/done") == ["\(job.id)-a.csv"])
    try folder.write(
      try folder.text("lade.yaml").replacing(
        "mode: upsert }", with: "mode: upsert, properties: { name: { mask: redact } } }"), to: "lade.yaml")
    #expect(try await folder.ladectl("reload").status == 0)
    let replayed = try await folder.ladectl("replay", "--recipe", "members", "--since", "1d", "--yes", "--wait")
    #expect(replayed.status == 0, "\(replayed.error)")
    #expect(try await folder.sqlite("SELECT name FROM Member") == "'****'")
    while try !folder.names(in: "spool/active").isEmpty { _ = try await folder.ladectl("status") }
    #expect(try folder.names(in: "spool/done") == [])
    try await daemon.stop()
  }

  @Test("hold for keys by which the objects are found from another entity; a recipe has to say so")
  func keys() async throws {
    let model = ModelText(
      ModelText.entity(
        "Member", unique: ["name"],
        [.attribute("name"), .toMany("orders", "Order", inverse: "member")]),
      ModelText.entity(
        "Order", unique: ["number"],
        [.attribute("number", "Integer 64"), .toOne("member", "Member", inverse: "orders", by: "name")]))
    let recipe = "  members: { store: main, entity: Member, properties: { name: { mask: \"hmac(sha256, pii)\" } } }\n"
    let (folder, environment) = try Self.make(recipe, model)
    let daemon = try folder.launch(environment)
    try await daemon.ready()
    let path = try folder.write("number,member\n1,ada-secret\n", to: "orders.csv")
    let imported = try await folder.ladectl(
      "import", path, "--entity", "Order", "--option", "properties.member.create=true", "--wait")
    #expect(imported.status == 0, "\(imported.error)")
    #expect(try await folder.sqlite("SELECT length(name) FROM Member") == "64")
    try FileManager.default.removeItem(atPath: path)
    #expect(try leaks(folder) == [])
    try folder.write(
      try folder.text("lade.yaml").replacing(
        "recipes:\n",
        with: "recipes:\n  orders: { store: main, entity: Order, properties: { member: { create: true } } }\n"),
      to: "lade.yaml")
    let refused = try await folder.ladectl("reload")
    #expect(
      refused.status == 1
        && refused.error.contains(
          "member's objects are found by Member.name, which a recipe masks by hmac(sha256, pii)"),
      "\(refused.error)")
    try await daemon.stop()
  }

  @Test("are in no file but the source when the daemon was killed at a change, and the import goes on")
  func killed() async throws {
    try await start().stop()
    let point = try KillPoint(in: folder, watch: "/main.sqlite:/rejects/:/spool/active:/spool/corrupt:/spool/done")
    var round = 0
    var isKilled = true
    while isKilled {
      round += 1
      try #require(round < 60, "there is no end")
      try folder.drop(Self.csv.replacing("\n1,", with: "\n\(round)1,"), as: "\(round).csv", into: "members")
      try point.arm(round * 3)
      let daemon = try folder.launch(environment.merging(point.environment) { $1 })
      if try await daemon.started.value() == .ready, try await folder.scanned() {
        _ = try await folder.ladectl("wait", "--all")
        daemon.terminate()
      }
      isKilled = try await daemon.ended() == .signal(SIGKILL)
      #expect(try leaks(besides: ["spool/active", "spool/incoming", "spool/tmp"]) == [], "round \(round)")
      let next = try await start()
      let job = try await folder.job(of: "\(round).csv")
      #expect(job.state == .completed && job.progress.rejected == 3, "round \(round): \(job.reason ?? "")")
      // The file goes with the end of the job.
      while try !folder.names(in: "spool/active").isEmpty {
        try #require(try await folder.ladectl("status").status == 0)
      }
      try await next.stop()
      #expect(try leaks() == [], "round \(round)")
    }
    #expect(round > 3, "so many changes are met")
  }

  @Test("need their credential: a configuration without it is refused with a remedy, also a too short one")
  func noCredential() async throws {
    let none = try folder.launch()
    #expect(try await none.ended() == .exit(78))
    #expect(try none.log.contains("add LoadCredential=pii:/path/of/the/file to the service"))
    try folder.write("short\n", to: "credentials/pii")
    let short = try folder.launch(environment)
    #expect(try await short.ended() == .exit(78))
    #expect(try short.log.contains("the credential pii has 5 bytes, and a key needs at least 16"))
    try folder.write(try folder.text("lade.yaml").replacing("keep_last(2)", with: "hide"), to: "lade.yaml")
    let wrong = try folder.launch(environment)
    #expect(try await wrong.ended() == .exit(78))
    #expect(try wrong.log.contains("write redact, keep_last(4), truncate(3) or hmac(sha256, NAME)"))
  }
}
