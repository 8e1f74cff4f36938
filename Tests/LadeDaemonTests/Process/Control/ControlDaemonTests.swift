import ControlAPI
import Foundation
import TestSupport
import Testing

/// What a real daemon says of itself, its log, its stores, its recipes and its configuration.
@Suite("Control: daemon, log, stores, recipes", .startsDaemons)
struct ControlDaemonTests {
  private static let recipes = "  members: { store: main, entity: Member, batch_size: 500 }\n"

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    return (folder, try await folder.start())
  }

  @Test("stats count what ended, and how long it took")
  func stats() async throws {
    let (folder, daemon) = try await started()
    _ = try await folder.imported(Members(rows: 1200).csv, as: "a.csv", into: "members")
    let stats: Stats = try await folder.got("GET", .stats)
    #expect(stats.counts["completed"] == 1)
    #expect(stats.lanes["import"] == ["completed": 1])
    #expect(stats.rates.map(\.completed) == [1, 1, 1])
    #expect(stats.rates.map(\.records) == [1200, 1200, 1200])
    #expect(stats.durations["import"]?.count == 1)
    #expect(stats.mainQueue?.count ?? 0 > 0)
    #expect(stats.uptime > 0 && stats.rates.allSatisfy { $0.seconds <= stats.uptime + 1 })
    try await daemon.stop()
  }

  @Test("the log has a job's lines, and goes on with those to come")
  func log() async throws {
    let (folder, daemon) = try await started()
    let job = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members")
    let page: LogPage = try await folder.got("GET", .log, LogQuery(job: job.id).queryString)
    #expect(page.lines.contains { $0.message.contains("a.csv") }, "\(page.lines)")
    #expect(page.lines.allSatisfy { $0.job == job.id })
    let everything: LogPage = try await folder.got("GET", .log)
    #expect(everything.lines.map(\.number) == everything.lines.map(\.number).sorted())
    #expect(everything.lines.contains { $0.level == .notice && $0.message.contains("starts") })

    var events = try folder.events(Endpoint.log.path + "?follow=true&limit=0&level=warning").makeAsyncIterator()
    while try await folder.got(Stats.self, "GET", .stats).listeners != 1 {}
    let bad = try await folder.imported("", as: "empty.csv", into: "members")
    #expect(bad.state == .discarded)
    guard let event = await events.next(), case .line(let line) = try LogEvent(event) else {
      Issue.record("the stream ended")
      return
    }
    #expect(line.job == bad.id && line.level == .error, "\(line)")
    try await daemon.stop()
    while await events.next() != nil {}
  }

  @Test("stores are listed with their sizes and what is in them")
  func stores() async throws {
    let (folder, daemon) = try await started()
    _ = try await folder.imported(Members(rows: 100).csv, as: "a.csv", into: "members")
    let list: StoreList = try await folder.got("GET", .stores)
    #expect(list.stores.map(\.name) == ["main"])
    let store: Store = try await folder.got("GET", .store("main"), StoreCountQuery(counts: true).queryString)
    #expect(store.path == folder.file("main.sqlite"))
    #expect(store.size > 0)
    #expect(store.entities.map(\.name) == ["Member"])
    #expect(store.entities.first?.count == 100)
    #expect(store.entities.first?.properties.contains("manager") == true)
    let uncounted: Store = try await folder.got("GET", .store("main"), StoreCountQuery(counts: false).queryString)
    #expect(uncounted.entities.first?.count == nil)
    try await daemon.stop()
  }

  @Test("a recipe is tried on a file, or on its beginning, and nothing comes of it")
  func recipeTest() async throws {
    let (folder, daemon) = try await started()
    _ = try await folder.imported("number,name\n1,Ada\n2,Bob\n", as: "a.csv", into: "members")
    let file = try folder.write("number,name,colour\n1,Ada,red\n2,Bea,red\n3,Cy,red\nx,Dee,red\n", to: "b.csv")
    let whole: RecipeTestResult = try await folder.got(
      "POST", .testRecipe, body: RecipeTest(source: file, recipe: "members"))
    #expect(whole.isWhole && whole.failure == nil, "\(whole)")
    #expect((whole.store, whole.entity, whole.mode) == ("main", "Member", .upsert))
    let counts = whole.progress
    #expect((counts.records, counts.inserted, counts.updated, counts.unchanged, counts.rejected) == (4, 1, 1, 1, 1))
    #expect(whole.rejects.groups.map(\.code) == ["not_an_integer"])
    #expect(whole.rejects.groups.first?.examples.first?.line == 5)
    #expect(whole.notes.contains { $0.contains("colour") }, "\(whole.notes)")
    #expect(
      whole.examples == [
        .init(
          change: .inserted, entity: "Member", key: "3",
          values: [.init(property: "name", new: "Cy"), .init(property: "number", new: "3")]),
        .init(
          change: .updated, entity: "Member", key: "2", values: [.init(property: "name", old: "Bob", new: "Bea")]),
      ])
    let bare: RecipeTestResult = try await folder.got(
      "POST", .testRecipe, body: RecipeTest(source: file, recipe: "members", mode: .insert))
    // Nothing is compared, so 1 and 2 are refused as known.
    #expect(bare.examples.map(\.key) == ["3"] && bare.progress.inserted == 1, "\(bare)")
    let many: RecipeTestResult = try await folder.got(
      "POST", .testRecipe,
      body: RecipeTest(source: try folder.write(Members(rows: 300).csv, to: "many.csv"), entity: "Member"))
    // Two of them say again what is there already.
    #expect(
      many.examples.map(\.change) == [.inserted, .inserted, .inserted, .inserted, .inserted, .updated, .updated],
      "\(many)")

    let large = try folder.write(Members(rows: 3000).csv, to: "large.csv")
    let part: RecipeTestResult = try await folder.got(
      "POST", .testRecipe, body: RecipeTest(source: large, entity: "Member", records: 50))
    #expect(!part.isWhole)
    #expect(part.progress.records == 50)
    let wrong: RecipeTestResult = try await folder.got(
      "POST", .testRecipe,
      body: RecipeTest(
        source: large, entity: "Member",
        options: ["schema": .string("freeze"), "columns": .list([.string("a")])]))
    #expect(wrong.failure != nil, "\(wrong)")

    #expect(try await folder.count("Member") == 2)
    #expect(try await folder.sqlite("SELECT number, name FROM Member ORDER BY 1") == "1,'Ada'\n2,'Bob'")
    #expect(try await folder.jobs().count == 1)
    #expect(try folder.names(in: "state").contains("trial") == false)
    for table in ["_lade_checkpoint", "_lade_unresolved", "_lade_aside"] {
      #expect(try await folder.sqlite("SELECT count(*) FROM \(table)") == "0", "\(table)")
    }
    let none = try await folder.http("POST", Endpoint.testRecipe.path, #"{"source": "/nowhere", "recipe": "members"}"#)
    #expect(none.status == 422)
    try await daemon.stop()
  }

  @Test("the configuration is checked as it is now, with the place of each mistake")
  func configuration() async throws {
    let (folder, daemon) = try await started()
    let good: ConfigurationCheck = try await folder.got("GET", .checkConfiguration)
    #expect((good.isGood, good.differs, good.mistakes) == (true, false, []))
    let text = try folder.text("lade.yaml")
    try folder.write(text + "\nlog_level: debug\n", to: "lade.yaml")
    let other: ConfigurationCheck = try await folder.got("GET", .checkConfiguration)
    #expect((other.isGood, other.differs) == (true, true))
    try folder.write(text + "\nlgo_level: debug\n", to: "lade.yaml")
    let bad: ConfigurationCheck = try await folder.got("GET", .checkConfiguration)
    #expect((bad.isGood, bad.differs) == (false, true))
    #expect(bad.mistakes.map(\.key) == ["lgo_level"])
    #expect(bad.mistakes.first?.line == text.split(separator: "\n", omittingEmptySubsequences: false).count + 1)
    try folder.write(text.replacing("entity: Member", with: "entity: Membre"), to: "lade.yaml")
    let recipe: ConfigurationCheck = try await folder.got("GET", .checkConfiguration)
    #expect(recipe.mistakes.first?.message.contains("Membre") == true, "\(recipe)")
    try folder.write(text, to: "lade.yaml")
    try await daemon.stop()
  }

  @Test("a daemon's answers are as the document that it serves describes them")
  func described() async throws {
    let (folder, daemon) = try await started()
    let job = try await folder.imported("number,name\n1,Ada\nx,Bob\n", as: "a.csv", into: "members")
    let document = try DocumentValue(yaml: try await folder.http("GET", Endpoint.description.path).text)
    let schemas = OpenAPISchemas(document)
    let uris: [(String, String)] = [
      ("/v1/status", "/v1/status"), ("/v1/stats", "/v1/stats"), ("/v1/log", "/v1/log"),
      ("/v1/config/check", "/v1/config/check"), ("/v1/jobs", "/v1/jobs"), ("/v1/jobs/{id}", "/v1/jobs/\(job.id)"),
      ("/v1/jobs/{id}/rejects", "/v1/jobs/\(job.id)/rejects"), ("/v1/lanes", "/v1/lanes"),
      ("/v1/recipes", "/v1/recipes"), ("/v1/stores", "/v1/stores"), ("/v1/stores/{store}", "/v1/stores/main"),
      ("/v1/objects/{entity}", "/v1/objects/Member?where=number%20%3E%200"), ("/v1/count/{entity}", "/v1/count/Member"),
    ]
    for (path, uri) in uris {
      let answer = try await folder.http("GET", uri)
      #expect(answer.status == 200, "\(uri): \(answer.text)")
      let mistakes = schemas.mistakes(
        of: try DocumentValue(json: answer.body), schemas.schema("get", path, status: "200"))
      #expect(mistakes.isEmpty, "\(uri)")
    }
    let problem = try await folder.http("GET", "/v1/jobs/4711")
    let schema = document["components"]["schemas"]["Problem"]
    #expect(schemas.mistakes(of: try DocumentValue(json: problem.body), schema).isEmpty)
    try await daemon.stop()
  }
}
