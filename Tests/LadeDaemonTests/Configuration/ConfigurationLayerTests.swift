import Foundation
@testable import LadeDaemon
import Testing

@Suite("The layers of a configuration")
struct ConfigurationLayerTests {
  private static let base = """
    spool: /base
    log_level: warning
    allowed_folders: [/a, /b]
    keep: {jobs: 5, completed: 1d}
    stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
    recipes:
      people-2: {store: main, entity: Person, priority: 1, properties: {fullName: name}}

    """

  @Test("the files beside it come after it in the order of their names, and only those that end in .yaml")
  func order() throws {
    let file = try ConfigurationFile(Self.base)
    try file.add("20-b.yaml", "spool: /second\nkeep: {jobs: 7}\n")
    try file.add("10-a.yaml", "spool: /first\nstate: /state\nallowed_folders: [/c]\n")
    try file.add("30.yaml.dpkg-old", "spool: /old\n")
    try file.add(".40.yaml", "spool: /hidden\n")
    try file.add("50.yaml~", "spool: /rest\n")
    try file.add("60.yaml", "# nothing yet\n")
    let configuration = try file.load()
    #expect(configuration.spool == "/second")
    #expect(configuration.state == "/state")
    #expect(configuration.logLevel == .warning)
    // Mappings are put together, lists replaced.
    #expect(configuration.keep.jobs == 7)
    #expect(configuration.keep.completed == .seconds(86_400))
    #expect(configuration.allowedFolders == ["/c"])
  }

  @Test("a later file adds stores, recipes and lanes, and changes single keys of those that are there")
  func mappings() throws {
    let file = try ConfigurationFile(Self.base)
    try file.add(
      "a.yaml",
      """
      stores: {second: {path: /s/n.sqlite, model: models/N.xcdatamodeld}}
      lanes: {bulk: {concurrency: 3}}
      recipes:
        desks: {store: second, entity: Desk, lane: bulk}
        people-2: {lane: bulk, properties: {born: {date_format: dd.MM.yyyy}}}
      """)
    try file.add("b.yaml", "recipes: {desks: {priority: 4}}\n")
    let configuration = try file.load()
    #expect(configuration.stores.map(\.name) == ["main", "second"])
    // Relative paths begin in the folder of the first file.
    #expect(configuration.store(named: "second")?.model == file.folder + "/models/N.xcdatamodeld")
    #expect(configuration.recipes.map(\.name) == ["people-2", "desks"])
    let people = try #require(configuration.recipe(named: "people-2"))
    #expect(people.entity == "Person" && people.lane == "bulk" && people.priority == 1)
    #expect(people.options.mapping.properties.keys.sorted() == ["born", "fullName"])
    #expect(configuration.recipe(named: "desks")?.priority == 4)
  }

  @Test("something else than a mapping replaces what came before, whatever that was")
  func replacement() throws {
    let file = try ConfigurationFile(Self.base)
    try file.add("a.yaml", "recipes: {people-2: {properties: {fullName: {column: n, trim: true}}}}\n")
    try file.add("b.yaml", "recipes: {people-2: {properties: {fullName: full}}}\n")
    let replaced = try file.load().recipe(named: "people-2")?.options.mapping.properties["fullName"]
    #expect(replaced?.column == "full" && replaced?.trims == nil)
    try file.add("c.yaml", "recipes: {people-2: {properties: {fullName: {trim: true}}}}\n")
    let again = try file.load().recipe(named: "people-2")?.options.mapping.properties["fullName"]
    #expect(again?.column == nil && again?.trims == true)
  }

  @Test("variables come last: two underscores lead a level down, and what they say is YAML")
  func variables() throws {
    let file = try ConfigurationFile(Self.base)
    try file.add("a.yaml", "log_level: error\nkeep: {jobs: 6}\n")
    let configuration = try file.load([
      "LADE_LOG_LEVEL": "debug", "LADE_KEEP__JOBS": "9", "LADE_KEEP": "{jobs: 8, discarded: 5d}",
      "LADE_ALLOWED_FOLDERS": "[/x, y]", "LADE_STORES__MAIN__PATH": "other.sqlite", "LADE_SPOOL": "",
      "LADE_RECIPES__PEOPLE_2__MAX_ATTEMPTS": "2", "LADE_LANES__BULK__CONCURRENCY": "4",
      "LADE_RECIPES__PEOPLE_2__PROPERTIES__FULLNAME": "FN",
      "LADE_COMPLETION_PATIENCE": "3", "LADER": "1", "PATH": "/bin",
    ])
    #expect(configuration.logLevel == .debug)
    // The deeper one is the later one.
    #expect(configuration.keep.jobs == 9)
    #expect(configuration.keep.discarded == .seconds(5 * 86_400))
    #expect(configuration.keep.completed == .seconds(86_400))
    // As a shell has it, relative paths begin in the working directory.
    let here = FileManager.default.currentDirectoryPath
    #expect(configuration.allowedFolders == ["/x", here + "/y"])
    #expect(configuration.store(named: "main")?.place.path == here + "/other.sqlite")
    // One that is empty says nothing.
    #expect(configuration.spool == "/base")
    let people = try #require(configuration.recipe(named: "people-2"))
    #expect(people.maxAttempts == 2 && people.options.mapping.properties["fullName"]?.column == "FN")
    #expect(configuration.lane(named: "bulk")?.concurrency == 4)
  }

  @Test("a file that only says in its folder or by variables what there is, is one")
  func empty() throws {
    let file = try ConfigurationFile("# see lade.yaml.d\n")
    try file.add("a.yaml", "stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}\n")
    #expect(try file.load().stores.count == 1)
    let alone = try ConfigurationFile("")
    #expect(try alone.load(["LADE_STORES": "{main: {path: /m, model: /M}}"]).stores.count == 1)
    #expect(!alone.allProblems().isEmpty)
  }

  @Test("files of jobs are kept as long as the job, for a time, or forever")
  func keptFiles() throws {
    #expect(try ConfigurationFile(Self.base).load().keep.files == .job)
    for (text, files) in [("job", KeepConfiguration.Files.job), ("forever", .forever), ("7d", .age(.seconds(604_800)))]
    {
      let file = try ConfigurationFile(Self.base)
      try file.add("a.yaml", "keep: {files: \(text)}\n")
      #expect(try file.load().keep.files == files)
    }
    let file = try ConfigurationFile(Self.base)
    try file.add("a.yaml", "keep: {files: never}\n")
    #expect(file.allProblems().first?.contains("`keep.files` can't be “never”") == true)
  }

  @Test("former values of rows are kept for a week, for a time, or not at all")
  func keptValues() throws {
    #expect(try ConfigurationFile(Self.base).load().keep.undo == .seconds(7 * 86_400))
    for (text, time) in [("none", Duration?.none), ("90m", .seconds(5400))] {
      let file = try ConfigurationFile(Self.base)
      try file.add("a.yaml", "keep: {undo: \(text)}\n")
      #expect(try file.load().keep.undo == time)
    }
    let file = try ConfigurationFile(Self.base)
    try file.add("a.yaml", "keep: {undo: 1s}\n")
    #expect(file.allProblems().first?.contains("`keep.undo`") == true)
  }

  @Test("null removes what earlier layers say under a key: an entry, a section or a value; and nothing where none does")
  func removal() throws {
    let file = try ConfigurationFile(Self.base + "  desks: {store: main, entity: Desk}\n")
    try file.add("10.yaml", "recipes: {people-2: null}\nkeep: ~\nlog_level: null\n")
    let removed = try file.load()
    #expect(removed.recipes.map(\.name) == ["desks"])
    #expect(removed.keep == KeepConfiguration() && removed.logLevel == .info)
    // A later layer may say it again.
    try file.add("20.yaml", "recipes: {people-2: {store: main, entity: Human}}\n")
    #expect(try file.load().recipe(named: "people-2")?.entity == "Human")
    #expect(try file.load().recipe(named: "people-2")?.priority == 0)
    #expect(try file.load(["LADE_RECIPES__DESKS": "null"]).recipes.map(\.name) == ["people-2"])
    try file.add("30.yaml", "recipes: {peple: null}\nretry:\n")
    #expect(
      file.allProblems() == [
        "lade.yaml.d/30.yaml:1:18: `recipes.peple` must be a mapping of keys to values, such as `store: …`, and is "
          + "nothing; write a value, or remove the key",
        "lade.yaml.d/30.yaml:2:7: `retry` must be a mapping of keys to values, such as `first: …`, and is nothing; write "
          + "a value, or remove the key",
      ])
  }

  @Test("everything wrong in any of them is reported at once, with the file and line, or the variable")
  func problems() throws {
    let file = try ConfigurationFile(Self.base + "sool: /x\n")
    try file.add("a.yaml", "log_level: wrning\n\nrecipes:\n  people-2: {pririty: 4}\n  desks: {store: mian}\n")
    try file.add("b.yaml", "sool: /y\nkeep: {jobs: -1}\nspool: /a\nspool: /b\nstores: {main: !x {}}\n")
    let problems = file.allProblems([
      "LADE_LOGLEVEL": "debug", "LADE_KEEP__JOBS_": "5", "LADE_DRAIN_TIMEOUT": "soon", "LADE_": "1",
      "LADE_LANES": "# none",
    ])
    #expect(
      problems == [
        "lade.yaml:8:1: there is no key `sool`; did you mean `spool`?",
        "lade.yaml.d/a.yaml:1:12: `log_level` can't be “wrning”; did you mean `warning`?",
        "lade.yaml.d/a.yaml:4:14: there is no key `recipes.people-2.pririty`; did you mean `priority`?",
        "lade.yaml.d/a.yaml:5:10: `recipes.desks.entity` is missing: the entity of the store's model that records become",
        "lade.yaml.d/a.yaml:5:18: `recipes.desks.store` can't be “mian”; did you mean `main`?",
        "lade.yaml.d/b.yaml:1:1: there is no key `sool`; did you mean `spool`?",
        "lade.yaml.d/b.yaml:2:14: `keep.jobs` can't be “-1”: it must be from 1 to 100000000",
        "lade.yaml.d/b.yaml:4:1: `spool` is there twice, first in line 3; remove one",
        "lade.yaml.d/b.yaml:5:16: tags (`!name`) mean nothing here; write the value out, or put it in quotes",
        "LADE_: there is no key ``; it could be: "
          + DaemonConfiguration.Key.allCases.map { "`\($0.rawValue)`" }.sorted().joined(separator: ", "),
        "LADE_DRAIN_TIMEOUT: `drain_timeout` can't be “soon”: write a number and its unit (ms, s, m, h, d), such as "
          + "30s or 5m",
        "LADE_KEEP__JOBS_: there is no key `keep.jobs_`; did you mean `jobs`?",
        "LADE_LANES: `lanes` must be a mapping of names to lanes, and is nothing; write a value, or remove the key",
        "LADE_LOGLEVEL: there is no key `loglevel`; did you mean `log_level`?",
      ])
  }

  @Test("what is missing in a recipe that two files make is reported once")
  func missing() throws {
    let file = try ConfigurationFile(Self.base)
    try file.add("a.yaml", "recipes:\n  desks: {store: mian}\n")
    try file.add("b.yaml", "recipes:\n  desks: {priority: 2}\n")
    #expect(
      file.allProblems() == [
        "lade.yaml.d/a.yaml:2:10: `recipes.desks.entity` is missing: the entity of the store's model that records become",
        "lade.yaml.d/a.yaml:2:18: `recipes.desks.store` can't be “mian”; did you mean `main`?",
      ])
  }

  @Test("where one can't be read, it isn't said of the others what they lack")
  func unreadable() throws {
    let file = try ConfigurationFile("recipes:\n  a: {store: main, entity: A}\nsool: /x\n")
    try file.add("stores.yaml", "stores: {main: [\n")
    try file.add("list.yaml", "[a]\n")
    #expect(
      file.allProblems(["LADE_RETRY": "["]) == [
        "lade.yaml:3:1: there is no key `sool`; did you mean `spool`?",
        "lade.yaml.d/list.yaml:1:1: `the file` must be a mapping of keys to values, such as `stores: …`, and is a list",
        "lade.yaml.d/stores.yaml:2:1: this is not YAML: did not find expected node content",
        "LADE_RETRY: this is not YAML: did not find expected node content",
      ])
  }

  @Test("a running daemon's saved recipes are those of its state, whatever folder the files name for the next start")
  func savedRecipes() throws {
    let file = try ConfigurationFile(Self.base + "state: next\nsave_recipes: true\n")
    let saved = SavedRecipes(state: file.folder + "/now")
    try saved.apply(.init(name: "mine", text: "recipes: {mine: {store: main, entity: Person}}\n"))
    let running = try LoadedConfiguration(path: file.path, environment: [:], saved: saved).configuration
    #expect(running.state == file.folder + "/next")
    #expect(running.recipe(named: "mine")?.isSaved == true)
    #expect(try file.load().recipe(named: "mine") == nil)
  }

  @Test("a variable that may mean two names is reported")
  func ambiguous() throws {
    let file = try ConfigurationFile(
      "stores: {a-b: {path: /s/m, model: /s/M}, A_b: {path: /s/n, model: /s/M}}\n")
    #expect(
      file.allProblems(["LADE_STORES__A_B__PATH": "/x"]) == [
        "LADE_STORES__A_B__PATH: there are several keys that this may mean by `stores.a_b`: say it in a file"
      ])
  }
}

@Suite("A secret of the configuration")
struct SecretTests {
  /// What `{credential: NAME}` or a text becomes, and what is wrong with it.
  private func secret(_ yaml: String, _ environment: [String: String] = [:]) throws -> (value: String?, told: [String])
  {
    let reading = ConfigurationReading(environment: environment)
    let reader = YAMLReader(file: "f", reading: reading)
    let node = try #require(reader.compose(Array(yaml.utf8)))
    let value = YAMLValue(key: "token", node: node, reader: reader).secret()
    return (value, reading.problems.map(\.description))
  }

  @Test("is a text, or what a credential holds, without the line end behind it")
  func values() throws {
    let folder = try ConfigurationFile("a secret\n")
    try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: folder.folder + "/token"))
    let environment = ["CREDENTIALS_DIRECTORY": folder.folder]
    #expect(try secret("plain").value == "plain")
    #expect(try secret("12345").value == "12345")
    let found = try secret("{credential: token}", environment)
    #expect(found.value == "s3cret" && found.told.isEmpty)
  }

  @Test("that isn't there is reported with how to put it there, and no secret is ever shown")
  func problems() throws {
    let folder = try ConfigurationFile("a secret\n")
    let environment = ["CREDENTIALS_DIRECTORY": folder.folder]
    let none = try secret("{credential: token}")
    #expect(none.value == nil)
    #expect(none.told.count == 1 && none.told[0].contains("LoadCredential=token:"), "\(none.told)")
    let missing = try secret("{credential: token}", environment)
    #expect(missing.told.count == 1 && missing.told[0].contains(folder.folder + "/token"), "\(missing.told)")
    #expect(try secret("{credential: ../lade.yaml}", environment).told.count == 1)
    #expect(try secret("{credentail: token}", environment).told.contains { $0.contains("did you mean `credential`?") })
    // With a space in it.
    let spaced = try secret("{credential: lade.yaml}", environment)
    #expect(spaced.value == nil && spaced.told.count == 1 && !spaced.told[0].contains("a secret"), "\(spaced.told)")
    #expect(try secret("\"\"").told.count == 1)
    #expect(try secret("[a]").told.count == 1)
  }
}
