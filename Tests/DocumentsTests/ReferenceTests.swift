import Foundation
import TestSupport
import Testing

@testable import ladectl

/// The reference says what the programs know, and nothing else. What they know is asked of themselves.
@Suite("The reference")
struct ReferenceTests {
  /// Where the build puts programs: the folder of the test bundle that runs; or `$LADE_PRODUCTS`.
  static let products: URL = {
    if let path = ProcessInfo.processInfo.environment["LADE_PRODUCTS"] { return URL(fileURLWithPath: path) }
    return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  }()

  /// The keys that a configuration with an unknown one in each of its mappings might have had, by mapping.
  private func knownKeys() async throws -> [String: Set<String>] {
    let scratch = try ScratchDirectory()
    let file = scratch.file("lade.yaml")
    try """
    xyzzy: 1
    intake: {xyzzy: 1}
    keep: {xyzzy: 1}
    retry: {xyzzy: 1}
    metrics: {xyzzy: 1}
    lanes: {import: {xyzzy: 1, rate: {xyzzy: 1}}}
    stores: {main: {xyzzy: 1, migration: {xyzzy: 1}, backups: {xyzzy: 1}}}
    recipes: {a: {xyzzy: 1, expect: {xyzzy: 1}, schema: {xyzzy: 1}, set: {xyzzy: 1, control: {xyzzy: 1}}, from: {xyzzy: 1}, properties: {b: {xyzzy: 1}}}}
    schedules: {a: {xyzzy: 1, job: {xyzzy: 1}}}
    """.write(to: file, atomically: true, encoding: .utf8)
    let checked = try await ProgramOutput.of(
      Self.products.appending(path: "laded"), ["--check-config", "--config", file.path], environment: [:])
    #expect(checked.status == 78)
    var known: [String: Set<String>] = [:]
    for line in checked.error.split(separator: "\n") {
      guard let place = line.firstMatch(of: /there is no key `([\w.]*?)\.?xyzzy`; it could be: (.*)$/) else { continue }
      known[String(place.output.1)] = Set(place.output.2.matches(of: /`(\w+)`/).map { String($0.output.1) })
    }
    return known
  }

  @Test("documents every key of the configuration, and no other, where it belongs")
  func configurationKeys() async throws {
    let configuration = try Document("docs/configuration.md")
    let recipes = try Document("docs/recipes.md")
    let known = try await knownKeys()
    let sections = [
      "intake": "## intake", "keep": "## keep", "retry": "## retry", "metrics": "## metrics",
      "lanes.import": "## lanes",
      "lanes.import.rate": "## lanes", "stores.main": "## stores", "stores.main.migration": "## stores",
      "stores.main.backups": "## stores", "schedules.a": "## schedules", "schedules.a.job": "## schedules",
    ]
    #expect(known.count == sections.count + 8)
    for (mapping, heading) in sections {
      let documented = Document.keys(in: try #require(configuration.section(heading), "\(heading)"))
      let keys = try #require(known[mapping], "\(mapping)")
      #expect(keys.subtracting(documented) == [], "\(heading)")
      let others = sections.filter { $0.value == heading }.keys.compactMap { known[$0] }.reduce(into: Set<String>()) {
        $0.formUnion($1)
      }
      #expect(documented.subtracting(others) == [], "\(heading)")
    }
    let top = try #require(known[""])
    for key in top where configuration.section("## \(key)") == nil {
      #expect(Document.keys(in: configuration.text).contains(key), "\(key)")
    }
    let ofRecipes = try #require(known["recipes.a"])
    let ofProperties = try #require(known["recipes.a.properties.b"])
    let properties = Document.keys(in: try #require(recipes.section("## Properties")))
    #expect(properties == ofProperties)
    let sets = try Document("docs/sets.md")
    #expect(Document.keys(in: try #require(sets.section("## Keys"))) == known["recipes.a.set"])
    #expect(Document.keys(in: try #require(sets.section("## Control"))) == known["recipes.a.set.control"])
    let databases = try Document("docs/incremental.md")
    #expect(Document.keys(in: try #require(databases.section("## Keys"))) == known["recipes.a.from"])
    #expect(
      Document.keys(in: try #require(try Document("docs/contracts.md").section("## Keys"))) == known["recipes.a.schema"]
    )
    let expectations = Document.keys(in: try #require(recipes.section("## Freshness")))
    #expect(expectations == known["recipes.a.expect"])
    #expect(
      Document.keys(in: recipes.text).subtracting(properties).subtracting(expectations).union(["key", "nulls", "trim"])
        == ofRecipes)
  }

  @Test("tells of every file format, and of no other")
  func formats() async throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("lade.yaml")
    try """
    stores: {main: {path: main.sqlite, model: Demo.xcdatamodeld}}
    recipes: {a: {store: main, entity: Person, format: xyzzy}}
    """.write(to: file, atomically: true, encoding: .utf8)
    let checked = try await ProgramOutput.of(
      Self.products.appending(path: "laded"), ["--check-config", "--config", file.path], environment: [:])
    let known = try #require(checked.error.firstMatch(of: /“xyzzy”; there are: (.*)/))
    let table = try Document("docs/formats.md").lines.drop { !$0.text.hasPrefix("| format |") }
    let rows = table.prefix { $0.text.hasPrefix("|") }.filter { $0.text.hasPrefix("| `") }
    let documented = rows.compactMap { $0.text.firstMatch(of: /^\| `([\w-]+)`/).map { String($0.output.1) } }
    #expect(Set(documented) == Set(known.output.1.matches(of: /`([\w-]+)`/).map { String($0.output.1) }))
  }

  @Test("tells of every type of attribute and every deletion rule that a model file can have")
  func models() async throws {
    let scratch = try ScratchDirectory()
    let file = scratch.file("contents")
    func words(_ attributes: String, _ pattern: Regex<(Substring, Substring)>) async throws -> [String] {
      try "<model><entity name='A'>\(attributes)</entity></model>".write(to: file, atomically: true, encoding: .utf8)
      let shown = try await ProgramOutput.of(
        Self.products.appending(path: "ladectl"), ["model", "show", file.path], environment: [:])
      let found = try #require((shown.text + shown.error).firstMatch(of: pattern), "\(shown.text)\(shown.error)")
      return found.output.1.replacing(" or ", with: ", ").components(separatedBy: ", ")
    }
    let document = try Document("docs/models.md").text
    for type in try await words("<attribute name='a' attributeType='Quaternion'/>", /it can be ([A-Z].*)/)
    where type != "ObjectID" && type != "Undefined" {
      #expect(document.contains("`\(type)`"), "\(type)")
    }
    let rules = "<relationship name='r' destinationEntity='A' deletionRule='Explode'/>"
    for rule in try await words(rules, /it can be ([A-Z].*)/) { #expect(document.contains("`\(rule)`"), "\(rule)") }
  }

  @Test("has pieces of configuration whose keys and values are known", arguments: try Document.all())
  func pieces(of document: Document) async throws {
    let blocks = document.text.components(separatedBy: "```yaml\n").dropFirst().map {
      $0.components(separatedBy: "\n```")[0]
    }
    for block in blocks where block.contains(/(?m)^(stores|recipes|schedules|metrics):/) {
      let scratch = try ScratchDirectory()
      let file = scratch.file("lade.yaml")
      let rest = [
        "stores": "stores: {main: {path: main.sqlite, model: Demo.xcdatamodeld}}",
        "recipes": "recipes: {people: {store: main, entity: Person}}",
        "allowed_folders": "allowed_folders: [/srv/exports]",
      ].filter { !block.contains("\n\($0.key):") && !block.hasPrefix("\($0.key):") }
      try ([block] + rest.values).joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      let checked = try await ProgramOutput.of(
        Self.products.appending(path: "laded"), ["--check-config", "--config", file.path], environment: [:])
      // Its models aren't there.
      let problems = checked.error.split(separator: "\n").filter { !$0.contains("can't be opened") }
      #expect(problems == [], "\(document.path)\n\(block)")
    }
  }

  @Test("the example configuration explains every key")
  func example() async throws {
    let example = try Document("docs/examples/lade.yaml").text
    for (mapping, keys) in try await knownKeys() {
      for key in keys { #expect(example.contains(try Regex("\\b\(key):")), "\(mapping) \(key)") }
    }
  }

  /// A refused submission lists the members that there are; that it still does so is shown by `CommandTests`.
  @Test("documents every key of a ticket: the members of a submission")
  func ticketKeys() throws {
    let documented = Document.keys(in: try #require(try Document("docs/tickets.md").section("## Tickets")))
    let refusal = try #require(try Document("docs/http.md").text.firstMatch(of: /'colour' here; there are (.*)/))
    let members = Set(refusal.output.1.components(separatedBy: ", "))
    #expect(documented == members)
  }

  @Test("tells of every verb, of no other, and of every exit status")
  func verbs() throws {
    let document = try Document("docs/ladectl.md")
    let section = try #require(document.section("## Verbs"))
    let items = section.replacing("\n  ", with: " ").split(separator: "\n").filter { $0.hasPrefix("- `") }
    let named = Set(
      items.flatMap { item in
        // Verbs stand before the colon, each in backticks or one after the other.
        item.prefix { $0 != ":" }.split { !$0.isLowercase && $0 != "-" }.map(String.init)
      })
    let program = try VerbDescription.all()
    for verb in program.verbs { #expect(named.contains(verb.commandName), "\(verb.commandName)") }
    let store = try #require(program.verbs.first { $0.commandName == "store" })
    for verb in store.verbs { #expect(named.contains(verb.commandName), "store \(verb.commandName)") }
    let options = Set(
      program.family.flatMap(\.shownArguments).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name))
    for option in section.matches(of: /--([a-z][a-z-]+)/).map({ String($0.output.1) }) {
      #expect(options.contains(option), "--\(option)")
    }
    let statuses = try #require(document.section("## Exit status"))
    for status in ladectl.ExitStatus.allCases { #expect(statuses.contains("\n| \(status.rawValue) | "), "\(status)") }
  }

  @Test("shows the operation of the example package as it is built there")
  func operation() throws {
    let library = try Document("docs/library.md").text
    let source = try Document("Tests/ExamplePackage/Sources/Example/MoveOperation.swift").lines.map {
      $0.text.trimmingCharacters(in: .whitespaces)
    }
    let block = try #require(library.components(separatedBy: "```swift\n").first { $0.hasPrefix("final class Move") })
    for line in block.components(separatedBy: "\n```")[0].split(separator: "\n") {
      let isThere = source.contains(line.trimmingCharacters(in: .whitespaces))
      #expect(isThere, "\(line)")
    }
  }

  @Test("tells of every metric, and of no other")
  func metrics() throws {
    var named = Set<String>()
    for folder in ["Sources/LadeDaemon", "Sources/ControlServer"] {
      let url = Document.repository.appending(path: folder)
      let files = try #require(FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        let source = try String(contentsOf: file, encoding: .utf8)
        for name in source.matches(of: /"((?:lade|process)_[a-z_]+)"/) { named.insert(String(name.output.1)) }
      }
    }
    let section = try #require(try Document("docs/operations.md").section("## Metrics"))
    let documented = section.matches(of: /`((?:lade|process)_[a-z_]+)`/).map { String($0.output.1) }
    #expect(Set(documented) == named)
  }

  @Test("tells of every route, and of no other")
  func routes() throws {
    var described = Set<String>()
    var path = ""
    for line in try Document("Sources/ControlServer/OpenAPI/openapi.yaml").lines {
      if let found = line.text.wholeMatch(of: #/ {2}(/.*):/#) { path = String(found.output.1) }
      if let found = line.text.wholeMatch(of: #/ {4}(get|post|put|delete|patch):/#) {
        described.insert(found.output.1.uppercased() + " " + path)
      }
      if line.text.hasPrefix("components:") { break }
    }
    let section = try #require(try Document("docs/http.md").section("## Routes"))
    let documented = Set(section.matches(of: /`((?:GET|POST|PUT|DELETE|PATCH) [^`]+)`/).map { String($0.output.1) })
    #expect(documented == described)
  }
}
