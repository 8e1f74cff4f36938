import Foundation
import Importing
@testable import LadeDaemon
import Testing

/// `etc/lade/lade.yaml` with its drop-in, and the example that explains every key.
@Suite("The configuration that is shipped")
struct ShippedConfigurationTests {
  private static let repository = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }
  private static let installed = repository.appendingPathComponent("etc/lade/lade.yaml").path
  static let path = repository.appendingPathComponent("docs/examples/lade.yaml").path

  @Test("loads, with every default but the demo, which is a file of its own, and the example says the same")
  func loads() throws {
    let configuration = try DaemonConfiguration.load(path: Self.installed)
    var expected = DaemonConfiguration()
    expected.stores = configuration.stores
    expected.recipes = configuration.recipes
    #expect(configuration == expected)
    #expect(configuration.stores.map(\.name) == ["demo"])
    #expect(configuration.recipes.map(\.name) == ["people", "countries", "subdivisions"])
    #expect(
      configuration.recipe(named: "people") == RecipeConfiguration(name: "people", store: "demo", entity: "Person"))
    let model = try #require(configuration.stores.first?.model)
    #expect(FileManager.default.fileExists(atPath: model))
    let example = try DaemonConfiguration.load(path: Self.path)
    #expect(Set(example.recipes.map(\.name)) == Set(configuration.recipes.map(\.name)))
    for recipe in example.recipes { #expect(configuration.recipe(named: recipe.name) == recipe) }
  }

  @Test("has a demo that leaves alone what the administrator calls main")
  func ownMain() throws {
    let file = try ConfigurationFile(
      """
      stores: { main: { path: own.sqlite, model: Own.xcdatamodel } }
      recipes: { orders: { store: main, entity: Order } }
      """)
    let demo = URL(fileURLWithPath: Self.installed + ".d/demo.yaml")
    try file.add("demo.yaml", try String(contentsOf: demo, encoding: .utf8))
    let configuration = try file.load()
    #expect(Set(configuration.stores.map(\.name)) == ["main", "demo"])
    #expect(configuration.stores.first { $0.name == "main" }?.place.path == file.folder + "/own.sqlite")
    #expect(
      configuration.recipe(named: "orders")?.store == "main" && configuration.recipe(named: "people")?.store == "demo")
  }

  @Test("is short, so that an upgrade has nothing to ask about")
  func short() throws {
    let text = try String(contentsOfFile: Self.installed, encoding: .utf8)
    #expect(text.split(separator: "\n").count <= 12)
  }

  @Test("says the same with every comment mark before a default removed")
  func defaults() throws {
    let shipped = try String(contentsOfFile: Self.path, encoding: .utf8)
    let line = /^(\ *)#([a-z_]+:)/.anchorsMatchLineEndings()
    #expect(shipped.matches(of: line).count == 42)
    let file = try ConfigurationFile(shipped.replacing(line) { $0.1 + $0.2 })
    var uncommented = try file.load()
    let original = try DaemonConfiguration.load(path: Self.path)
    // The model's path is relative, and the copy is in another folder.
    uncommented.stores = original.stores
    #expect(uncommented == original)
  }

  @Test("tells of every key")
  func everyKey() throws {
    let shipped = try String(contentsOfFile: Self.path, encoding: .utf8)
    let keys: [[String]] = [
      DaemonConfiguration.Key.allCases.map(\.rawValue),
      StoreConfiguration.Key.allCases.map(\.rawValue),
      MigrationConfiguration.Key.allCases.map(\.rawValue),
      KeepConfiguration.Key.allCases.map(\.rawValue),
      RetryConfiguration.Key.allCases.map(\.rawValue),
      RateLimit.Key.allCases.map(\.rawValue),
      BackupConfiguration.Key.allCases.map(\.rawValue),
      IntakeConfiguration.Key.allCases.map(\.rawValue),
      MetricsConfiguration.Key.allCases.map(\.rawValue),
      LaneConfiguration.Key.allCases.map(\.rawValue),
      RecipeConfiguration.Key.allCases.map(\.rawValue),
      RecipeExpectation.Key.allCases.map(\.rawValue),
      ScheduleConfiguration.Key.allCases.map(\.rawValue),
      ScheduleConfiguration.JobKey.allCases.map(\.rawValue),
      ImportOptionKey.allCases.map(\.rawValue),
    ]
    for key in keys.joined() { #expect(shipped.contains("\(key): ") || shipped.contains("\(key):\n"), "\(key)") }
  }
}
