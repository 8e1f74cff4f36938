import Foundation
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("What of a changed configuration applies")
struct ReloadPlanTests {
  @Test(
    "a recipe that fits neither as it was nor as it is to be isn't brought back by a schedule that is set aside",
    arguments: ["recipes: { guests: { store: second, entity: Member } }", ""])
  func gone(_ recipes: String) throws {
    let directory = try ScratchDirectory()
    // A migration has removed the guests.
    try Members.model.write(to: directory.file("Model.xcdatamodeld").path)
    let model = "model: Model.xcdatamodeld"
    func configuration(_ stores: String, _ recipes: String, job: String) throws -> DaemonConfiguration {
      let file = directory.file("lade.yaml")
      try Data(
        """
        state: \(directory.url.path)
        stores: { main: { path: main.sqlite, \(model) }\(stores) }
        allowed_folders: [exports]
        schedules: { nightly: { calendar: yearly, job: { \(job) } } }
        \(recipes)
        """.utf8
      ).write(to: file)
      return try DaemonConfiguration.load(path: file.path)
    }
    let before = try configuration(
      "", "recipes: { guests: { store: main, entity: Guest } }", job: "source: exports/a.csv, recipe: guests")
    let read = try configuration(
      ", second: { path: second.sqlite, \(model) }", recipes, job: "kind: check, store: second")
    let current = SubmissionPlan(configuration: before, stores: try DataStores(modelsOf: before.stores))
    let plan = try ReloadPlan(read, over: current, since: before)
    #expect(plan.submissions.configuration.recipes.isEmpty && plan.schedules.isEmpty)
    #expect(plan.reload.removed == ["recipes.guests", "schedules.nightly"])
    #expect(plan.reload.needsRestart == ["stores.second", "recipes.guests", "schedules.nightly"])
  }
}
