import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("Recipes that clients save", .startsDaemons)
struct SavedRecipeTests {
  private static let members = "  members: { store: main, entity: Member }\n"
  private static let saving = "intake: { settle: 100ms }\nsave_recipes: true"
  private static let csv = "Nr.,Full Name,colour\n1,Ada,red\n2,n/a,blue\nx,Cy,red\n"

  private func started(
    _ recipes: String = members, _ more: String = saving
  ) async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: recipes, more: more)
    return (folder, try await folder.start())
  }

  private static let draft = RecipeDraft(
    store: "main", entity: "Member",
    options: [
      "nulls": .list([.string("n/a"), .string("null"), .string("#: \"x\"\n")]),
      "properties": .map([
        "number": .string("Nr."), "name": .map(["column": .string("Full Name"), "trim": .bool(true)]),
      ]),
    ])

  /// The detail of a problem, whose code is the expected one.
  private func refused(
    _ folder: DaemonFolder, _ draft: RecipeDraft, as name: String, _ code: String
  ) async throws -> String {
    let body = String(decoding: try WireFormat.encode(draft), as: UTF8.self)
    let answer = try await folder.http("PUT", Endpoint.recipe(name).path, body)
    let problem: Problem = try answer.decoded()
    #expect(problem.code == code, "\(problem)")
    return problem.detail
  }

  @Test("the columns of a file are named beside what they may become, and a draft is tried with the first rows")
  func columns() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write(Self.csv, to: "a.csv")
    let columns: FileColumns = try await folder.got(
      "POST", .fileColumns, body: ModelDiffRequest(source: file, entity: "Member"))
    #expect(columns.columns.map(\.name) == ["Nr.", "Full Name", "colour"] && columns.format == "csv")
    #expect(columns.columns.first?.values == ["1", "2", "x"])
    let number = try #require(columns.properties.first { $0.name == "number" })
    #expect(number.type == "Integer 64" && number.column == nil && number.suggestion == nil)
    let spelt = try folder.write("NUMBER,Name\n1,Ada\n", to: "b.csv")
    let near: FileColumns = try await folder.got(
      "POST", .fileColumns, body: ModelDiffRequest(source: spelt, entity: "Member"))
    #expect(near.properties.first { $0.name == "number" }?.suggestion == "NUMBER")
    #expect(near.properties.first { $0.name == "name" }?.suggestion == "Name")
    let broken = try folder.write("{", to: "c.json")
    let unreadable: FileColumns = try await folder.got(
      "POST", .fileColumns, body: ModelDiffRequest(source: broken, entity: "Member"))
    #expect(unreadable.failure != nil && unreadable.columns.isEmpty)

    let result: RecipeTestResult = try await folder.got(
      "POST", .testRecipe,
      body: RecipeTest(source: file, store: "main", entity: "Member", options: Self.draft.options, rows: 5))
    #expect(result.progress.inserted == 1 && result.progress.rejected == 2, "a member needs a name")
    let rows = try #require(result.rows)
    let (first, second) = (try #require(rows.columns.firstIndex(of: "number")), rows.columns.firstIndex(of: "name"))
    #expect(rows.rows.map { $0[first] } == [.int(1)])
    #expect(rows.rows.map { $0[second ?? 0] } == [.string("Ada")])
    #expect(try await folder.count("Member") == 0)
    try await daemon.stop()
  }

  @Test("a saved recipe works at once and after a restart, says what was saved, and is gone when it is removed")
  func saved() async throws {
    let (folder, daemon) = try await started()
    let reload: Reload = try await folder.got("PUT", .recipe("mine"), body: Self.draft)
    #expect(reload == Reload(changed: ["recipes.mine"]))
    let definition: RecipeDefinition = try await folder.got("GET", .recipe("mine"))
    #expect(definition.isSaved && definition.settings == Self.draft.options, "\(definition)")
    let file: RecipeDefinition = try await folder.got("GET", .recipe("members"))
    #expect(!file.isSaved && file.settings.isEmpty)
    let job = try await folder.imported(Self.csv, as: "a.csv", into: "mine")
    #expect(job.state == .completed && job.progress.inserted == 1 && job.progress.rejected == 2, "\(job)")
    #expect(try folder.names(in: "state/recipes") == ["mine.yaml"])
    let settings: ConfigurationSettings = try await folder.got("GET", .configuration)
    #expect(settings.layers.last == folder.file("state/recipes/mine.yaml") && !settings.differs)

    var other = Self.draft
    other.mode = .insert
    #expect(try await folder.got(Reload.self, "PUT", .recipe("mine"), body: other).changed == ["recipes.mine"])
    try await daemon.stop()
    let again = try await folder.start()
    let kept: RecipeDefinition = try await folder.got("GET", .recipe("mine"))
    #expect(kept.settings["mode"] == .string("insert"))
    #expect(try await folder.got(Reload.self, "DELETE", .recipe("mine")) == Reload(removed: ["recipes.mine"]))
    #expect(try folder.names(in: "state/recipes") == [])
    #expect(try await folder.http("GET", Endpoint.recipe("mine").path).status == 404)
    try await again.stop()
  }

  @Test("no recipe of the files is replaced or removed, and a mistake anywhere keeps everything as it was")
  func mistakes() async throws {
    let (folder, daemon) = try await started()
    #expect(try await refused(folder, Self.draft, as: "members", "conflict").contains("members"))
    #expect(try await folder.http("DELETE", Endpoint.recipe("members").path).status == 409)
    for name in ["../x", "a b", "-x", ".x", String(repeating: "a", count: 65)] {
      _ = try await refused(folder, Self.draft, as: name, "invalid_request")
    }
    for (options, word) in [
      ("from", OptionValue.map(["sqlite": .string("/etc/passwd"), "table": .string("a"), "cursor": .string("b")])),
      ("keep_failed", .bool(true)), ("maximum_expansion", .int(9999)), ("filter", .string("name MATCHES '.*'")),
      ("properties", .map(["name": .map(["mask": .string("hmac(sha256, other)")])])),
      ("properties", .map(["nothing": .string("a")])), ("schema", .string("evolve")), ("colour", .string("red")),
    ] {
      let draft = RecipeDraft(store: "main", entity: "Member", options: [options: word])
      _ = try await refused(folder, draft, as: "mine", "invalid_request")
    }
    #expect(
      try await refused(folder, RecipeDraft(store: "none", entity: "Member"), as: "mine", "invalid_request") != "")
    // One that the daemon doesn't know yet is the files', too.
    let text = try folder.text("lade.yaml")
    try folder.write(
      text.replacing("recipes:\n", with: "recipes:\n  next: { store: main, entity: Member }\n"), to: "lade.yaml")
    #expect(try await refused(folder, Self.draft, as: "next", "conflict").contains("next"))
    try folder.write(text + "\nlgo_level: debug\n", to: "lade.yaml")
    #expect(try await refused(folder, Self.draft, as: "mine", "bad_configuration").contains("lgo_level"))
    try folder.write(text, to: "lade.yaml")
    #expect(FileManager.default.fileExists(atPath: folder.file("state/recipes/mine.yaml")) == false)
    #expect(try await folder.asked(RecipeList.self, "recipe", "list").recipes.map(\.name) == ["members"])

    // A recipe of the files goes before one that was saved under its name.
    _ = try await folder.got(Reload.self, "PUT", .recipe("mine"), body: Self.draft)
    try folder.write(
      text.replacing("recipes:\n", with: "recipes:\n  mine: { store: main, entity: Member, mode: insert }\n"),
      to: "lade.yaml")
    _ = try await folder.asked(Reload.self, "reload")
    let own: RecipeDefinition = try await folder.got("GET", .recipe("mine"))
    #expect(!own.isSaved && own.settings == ["mode": .string("insert")])
    // What isn't one recipe isn't read as more.
    try folder.write("log_level: trace\n", to: "state/recipes/more.yaml")
    let check: ConfigurationCheck = try await folder.got("GET", .checkConfiguration)
    #expect(check.isGood && check.warnings.first?.file == folder.file("state/recipes/more.yaml"), "\(check)")
    try await daemon.stop()
  }

  @Test("no recipe is saved under the name of another route")
  func takenNames() async throws {
    let (folder, daemon) = try await started()
    for name in Recipe.takenNames.sorted() {
      let answer = try await folder.http("PUT", "/v1/recipes/\(name)", "{\"store\": \"main\", \"entity\": \"Member\"}")
      #expect(answer.status >= 400, "\(answer.text)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("state/recipes")))
    try await daemon.stop()
  }

  @Test("a saved recipe that fits the model no more keeps nothing from starting, is named, refused, and removed")
  func unfit() async throws {
    let nightly = "  nightly: { calendar: daily, job: { recipe: mine, source: a.csv } }"
    let more = Self.saving + "\nallowed_folders: [.]\nschedules:\n" + nightly
    let folder = try DaemonFolder(model: Members.model, recipes: Self.members, more: Self.saving)
    let first = try await folder.start()
    for name in ["mine", "other"] { _ = try await folder.got(Reload.self, "PUT", .recipe(name), body: Self.draft) }
    try await first.stop()

    // As a model leaves it that calls an attribute otherwise. A schedule uses the recipe, and another file isn't even YAML.
    let saved = try folder.text("state/recipes/mine.yaml")
    try folder.write(saved.replacing("name:", with: "colour:"), to: "state/recipes/mine.yaml")
    var draft = Self.draft
    draft.options["properties"] = .map(["number": .string("Nr."), "colour": .string("colour")])
    let text = try folder.text("lade.yaml")
    try folder.write(text.replacing(Self.saving, with: more), to: "lade.yaml")
    try folder.write("recipes: [", to: "state/recipes/torn.yaml")
    let daemon = try await folder.start()
    let recipes: RecipeList = try await folder.got("GET", .recipes)
    #expect(recipes.recipes.filter { $0.fault == nil }.map(\.name) == ["members", "other"], "\(recipes)")
    #expect(recipes.recipes.filter { $0.fault != nil }.map(\.name).sorted() == ["mine", "torn"])
    #expect(recipes.recipes.first { $0.name == "mine" }?.fault?.contains("colour") == true)

    let health = try await folder.http("GET", Endpoint.health.path)
    #expect(
      health.text.contains("saved_recipe:mine") && health.text.contains("ladectl recipe remove mine"), "\(health.text)")
    let log: LogPage = try await folder.got("GET", .log)
    #expect(log.lines.contains { $0.message.contains("the saved recipe mine isn't used") }, "\(log)")
    let check: ConfigurationCheck = try await folder.got("GET", .checkConfiguration)
    #expect(check.isGood && !check.differs, "\(check)")
    for key in ["recipes.mine", "recipes.torn", "schedules.nightly"] {
      #expect(check.warnings.contains { $0.key == key }, "\(key): \(check.warnings)")
    }

    let file = try folder.write(Self.csv, to: "a.csv")
    let submission = #"{"source": "\#(file)", "recipe": "mine"}"#
    let refused: Problem = try await folder.http("POST", Endpoint.jobs.path, submission).decoded()
    #expect(refused.code == "invalid_request" && refused.detail.contains("isn't used"), "\(refused)")
    #expect(refused.hint?.contains("ladectl recipe remove mine") == true)
    #expect(try await folder.imported(Self.csv, as: "b.csv", into: "other").progress.inserted == 1)

    // Another one is saved all the same; one that doesn't fit isn't.
    #expect(try await codeOfRefusal(folder, draft) == "invalid_request")
    _ = try await folder.got(Reload.self, "PUT", .recipe("third"), body: Self.draft)
    // While a schedule needs it, it stays.
    #expect(try await folder.ladectl("recipe", "remove", "mine").status != 0)
    try folder.write(text, to: "lade.yaml")
    for name in ["mine", "torn"] {
      #expect(try await folder.ladectl("recipe", "remove", name).status == 0)
      #expect(!FileManager.default.fileExists(atPath: folder.file("state/recipes/\(name).yaml")))
    }
    let left: RecipeList = try await folder.got("GET", .recipes)
    #expect(left.recipes.allSatisfy { $0.fault == nil })
    let later: LogPage = try await folder.got("GET", .log)
    #expect(later.lines.contains { $0.message.contains("recipe mine: removed by") }, "\(later)")
    try await daemon.stop()
  }

  private func codeOfRefusal(_ folder: DaemonFolder, _ draft: RecipeDraft) async throws -> String {
    let body = String(decoding: try WireFormat.encode(draft), as: UTF8.self)
    return try await folder.http("PUT", Endpoint.recipe("mine").path, body).decoded(as: Problem.self).code
  }

  @Test("until a restart, recipes are saved and used in the state folder of the start, even if the files name another")
  func otherState() async throws {
    let (folder, daemon) = try await started()
    _ = try await folder.got(Reload.self, "PUT", .recipe("mine"), body: Self.draft)
    let text = try folder.text("lade.yaml")
    try folder.write(text.replacing("state: state", with: "state: other"), to: "lade.yaml")
    let answer = try await folder.http("POST", Endpoint.reload.path)
    let reload: Reload = try answer.decoded()
    #expect(reload.changed.isEmpty && reload.removed.isEmpty && reload.needsRestart.contains("state"), "\(reload)")
    let saving: Reload = try await folder.got("PUT", .recipe("second"), body: Self.draft)
    #expect(saving.changed == ["recipes.second"])
    #expect(try folder.names(in: "state/recipes") == ["mine.yaml", "second.yaml"])
    let definition: RecipeDefinition = try await folder.got("GET", .recipe("mine"))
    #expect(definition.isSaved)
    try await daemon.stop()
  }

  @Test("a daemon that isn't to save recipes does not, and uses none")
  func off() async throws {
    let (folder, daemon) = try await started(Self.members, "")
    #expect(try await refused(folder, Self.draft, as: "mine", "conflict").contains("saved"))
    try await daemon.stop()
  }

  @Test("a saved recipe takes no mask off that another recipe has")
  func masks() async throws {
    let recipes = "  members: { store: main, entity: Member, properties: { name: { mask: redact } } }\n"
    let (folder, daemon) = try await started(recipes)
    _ = try await folder.got(Reload.self, "PUT", .recipe("mine"), body: Self.draft)
    let job = try await folder.imported("Nr.,Full Name\n1,ada-secret\n", as: "a.csv", into: "mine")
    #expect(job.state == .completed, "\(job)")
    #expect(try await !folder.sqlite("SELECT name FROM Member").contains("secret"))
    let file = try folder.write("Nr.,Full Name\n1,ada-secret\n", to: "b.csv")
    let result: RecipeTestResult = try await folder.got(
      "POST", .testRecipe,
      body: RecipeTest(source: file, store: "main", entity: "Member", options: Self.draft.options, rows: 5))
    #expect(result.rows?.rows.isEmpty == false && !"\(result)".contains("secret"))
    let columns = try await folder.http(
      "POST", Endpoint.fileColumns.path, #"{"source": "\#(file)", "entity": "Member"}"#)
    #expect(columns.status == 403 && !columns.text.contains("secret"), "\(columns.text)")
    try await daemon.stop()
  }

  @Test("the masks of a saved recipe hold when it isn't used, and one that can't be read and has some ends the start")
  func masksOfUnused() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: Self.members, more: Self.saving + "\nallowed_folders: [.]")
    let first = try await folder.start()
    _ = try await folder.got(Reload.self, "PUT", .recipe("mine"), body: Self.draft)
    try await first.stop()
    let text = """
      recipes:
        mine: { store: main, entity: Member, properties: { name: { mask: redact }, colour: { column: colour } } }

      """
    try folder.write(text, to: "state/recipes/mine.yaml")
    let daemon = try await folder.start()
    let recipes: RecipeList = try await folder.got("GET", .recipes)
    #expect(recipes.recipes.first { $0.name == "mine" }?.fault?.contains("colour") == true, "\(recipes)")
    let file = try folder.write("number,name\n1,ada-secret\n", to: "a.csv")
    let imported = try await folder.ladectl("import", file, "--store", "main", "--entity", "Member", "--wait")
    #expect(imported.status == 0, "\(imported)")
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "1")
    #expect(try await !folder.sqlite("SELECT name FROM Member").contains("secret"))
    try await daemon.stop()

    try folder.write(text + "[", to: "state/recipes/mine.yaml")
    let torn = try folder.launch()
    #expect(try await torn.ended() == .exit(78))
    #expect(try torn.log.contains("mine.yaml"))
  }
}
