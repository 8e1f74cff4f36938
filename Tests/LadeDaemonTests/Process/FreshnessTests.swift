import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A daemon that expects files", .startsDaemons)
struct FreshnessTests {
  private static func recipes(_ expect: String) -> String {
    "  members: { store: main, entity: Member, mode: insert, expect: { \(expect) } }"
  }

  /// The status, as soon as the recipe is in a state.
  private func status(_ folder: DaemonFolder, when state: RecipeFreshness.State) async throws -> RecipeFreshness {
    while true {
      let status = try await folder.asked(Status.self, "status")
      if let recipe = status.recipes?.first, recipe.state == state { return recipe }
    }
  }

  @Test(
    "says what is stale in status, health, metrics, log and a file, until a file is imported")
  func stale() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes("max_age: 1s"))
    let daemon = try await folder.start()
    let stale = try await status(folder, when: .stale)
    #expect(stale.recipe == "members" && stale.lastSuccess == nil)
    #expect(stale.reason?.hasPrefix("nothing has been imported for more than 1s") == true)
    let text = try await folder.ladectl("status").text
    #expect(text.contains("recipe members is stale: nothing has been imported"), "\(text)")
    let health: Health = try await folder.http("GET", "/v1/health").decoded()
    #expect(health.status == .warn && health.checks["recipe:members"]?.first?.status == .warn)
    var metrics = try PrometheusText(try await folder.http("GET", "/metrics").text)
    #expect(metrics.value("lade_recipe_freshness", ["recipe": "members", "state": "stale"]) == 1)
    #expect(metrics.value("lade_recipe_freshness", ["recipe": "members", "state": "fresh"]) == 0)
    #expect(try folder.names(in: "state/freshness") == ["members.stale"])

    // A reload applies: from now on the file need not come so often.
    let configuration = try folder.text("lade.yaml").replacing("max_age: 1s", with: "max_age: 1h, at_least: 3")
    try folder.write(configuration, to: "lade.yaml")
    #expect(try await folder.ladectl("reload").status == 0)
    _ = try await status(folder, when: .fresh)
    let job = try await folder.imported("number,name\n1,Ada\n2,Bob\n", as: "a.csv", into: "members")
    let odd = try await status(folder, when: .anomalous)
    #expect(odd.lastJob == job.id && odd.lastRecords == 2 && odd.lastSuccess != nil)
    #expect(odd.reason == "the last import was of 2 records, and at least 3 are expected")
    #expect(try folder.names(in: "state/freshness") == ["members.anomalous"])
    _ = try await folder.imported("number,name\n3,Cid\n4,Dan\n5,Eve\n", as: "b.csv", into: "members")
    #expect(try await status(folder, when: .fresh).lastRecords == 3)
    #expect(try folder.names(in: "state/freshness").isEmpty)
    metrics = try PrometheusText(try await folder.http("GET", "/metrics").text)
    #expect(metrics.value("lade_recipe_last_records", ["recipe": "members"]) == 3)
    #expect((metrics.value("lade_recipe_last_success_timestamp_seconds", ["recipe": "members"]) ?? 0) > 1_700_000_000)
    let log = try await folder.ladectl("log").text
    for state in ["stale", "fresh", "anomalous"] { #expect(log.contains("recipe members is \(state)"), "\(log)") }
    try await daemon.stop()
  }

  @Test("that expects nothing says nothing about it")
  func nothing() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  members: { store: main, entity: Member, mode: insert }")
    let daemon = try await folder.start()
    let status = try await folder.asked(Status.self, "status")
    #expect(status.recipes == nil)
    #expect(try await !folder.http("GET", "/metrics").text.contains("lade_recipe"))
    try await daemon.stop()
  }
}
