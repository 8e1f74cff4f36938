import Importing
@testable import LadeDaemon
import Jobs
import Testing

@Suite("A configuration file that is right")
struct ConfigurationLoadTests {
  @Test("every key says what it says")
  func everyKey() throws {
    let file = try ConfigurationFile(
      """
      spool: /srv/spool
      state: /srv/state
      socket: /srv/run/control.sock
      allowed_folders: [/srv/exports, /mnt/incoming/]
      log_level: debug
      drain_timeout: 5m
      rescan_interval: 1500ms
      intake: {settle: 2s, quiet: 30s, source_grace: 10m, partial_suffixes: [.uploading, "!"], corrupt_limit: 5000}
      stores:
        main: {path: /srv/main.sqlite, model: /srv/Main.xcdatamodeld}
        second:
          path: /srv/second.sqlite
          model: /srv/Second.xcdatamodel
          migration: {allow_loss: [Desk, Person.email]}
      lanes:
        bulk: {concurrency: 4, rate: {jobs: 10, per: 1h}}
        import: {concurrency: 64}
      keep: {completed: 1d, discarded: 400d, jobs: 50}
      retry: {first: 500ms, longest: 2h, spread: 0%}
      recipes:
        people-2:
          store: second
          entity: Person
          mode: insert
          lane: bulk
          priority: -3
          max_attempts: 1
          format: csv
          delimiter: tab
          quote: none
          header: false
          columns: [id, 2024, true]
          reject_limit: none
          batch_size: 500
        countries: {store: main, entity: Country, mode: upsert, format: json, root: "3166-1", reject_limit: 0}
      """)
    let configuration = try file.load()

    #expect(configuration.spool == "/srv/spool")
    #expect(configuration.state == "/srv/state")
    #expect(configuration.queueStore == "/srv/state/queue.sqlite")
    #expect(configuration.rejects == "/srv/state/rejects")
    #expect(configuration.exports == "/srv/state/exports")
    #expect(configuration.socket == "/srv/run/control.sock")
    #expect(configuration.allowedFolders == ["/srv/exports", "/mnt/incoming"])
    #expect(configuration.logLevel == .debug)
    #expect(configuration.drainTimeout == .seconds(300))
    #expect(configuration.rescanInterval == .milliseconds(1500))
    #expect(configuration.lane(named: "bulk")?.rate == .init(jobs: 10, period: 3600))
    #expect(configuration.keep.completed == .seconds(86_400) && configuration.keep.cancelled == .seconds(30 * 86_400))
    #expect(configuration.keep.discarded == .seconds(400 * 86_400) && configuration.keep.jobs == 50)
    let retry = Backoff(configuration.retry)
    #expect((1...14).map { retry.delay(afterAttempt: $0, random: 0) }.suffix(3) == [1024, 2048, 4096])
    #expect(retry.delay(afterAttempt: 1, random: 0.9) == 0.5 && retry.delay(afterAttempt: 15, random: 0.9) == 7200)
    #expect(configuration.intake.timing.settle == .seconds(2))
    #expect(configuration.intake.timing.quiet == .seconds(30))
    #expect(configuration.intake.timing.sourceGrace == .seconds(600))
    #expect(configuration.intake.rules.partialSuffixes == [".uploading", "!"])
    #expect(configuration.intake.rules.corruptLimit == 5000)
    #expect(
      configuration.stores == [
        StoreConfiguration(name: "main", path: "/srv/main.sqlite", model: "/srv/Main.xcdatamodeld"),
        StoreConfiguration(
          name: "second", path: "/srv/second.sqlite", model: "/srv/Second.xcdatamodel",
          migration: MigrationConfiguration(allowedLoss: .these(["Desk", "Person.email"]))),
      ])
    #expect(configuration.lanes.map(\.name) == ["maintenance", "bulk", "import"])
    #expect(configuration.lanes.map(\.concurrency) == [1, 4, 64])

    var people = RecipeConfiguration(name: "people-2", store: "second", entity: "Person")
    people.lane = "bulk"
    people.priority = -3
    people.maxAttempts = 1
    people.options = ImportOptions(
      mode: .insert,
      reader: ReaderOptions(
        format: .csv, delimiter: "\t", quote: nil, header: false, columns: ["id", "2024", "true"]),
      batchSize: 500, rejectLimit: nil)
    #expect(configuration.recipe(named: "people-2") == people)

    var countries = RecipeConfiguration(name: "countries", store: "main", entity: "Country")
    countries.options.mode = .upsert
    countries.options.reader.format = .json
    countries.options.reader.root = "3166-1"
    countries.options.rejectLimit = 0
    #expect(configuration.recipe(named: "countries") == countries)
  }

  @Test("a recipe says how a file is read and what becomes of its records")
  func importOptions() throws {
    let configuration = try ConfigurationFile(
      """
      stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
      recipes:
        lines:
          store: main
          entity: E
          mode: synchronise
          atomic: file
          dry_run: true
          allow_empty: true
          reject_limit: none
          reject_share: 2.5%
          format: fixed_width
          member: "*.dat"
          encoding: cp850
          fallback_encoding: latin1
          maximum_expansion: 20
          maximum_unpacked_bytes: 1000000
          comment: "#"
          skip_lines: 2
          fields: [id:5, "full name:8-27", {name: note, start: 30, end: 40}, {name: 2024, width: 3}]
          field_unit: bytes
          field_trim: false
          short_lines: true
          nulls: [NA, ""]
          trim: true
          filter: "id > 5"
          ignored_columns: [note]
          schema: {columns: freeze, types: discard_value}
          key: [id, note]
          properties:
            name: full name
            born: {date_format: dd.MM.yyyy, time_zone: Europe/Berlin, default: 01.01.1970, nulls: "-"}
            price: {decimal_separator: ",", grouping_separator: ".", unit: €, negatives: trailing_minus}
            active: {true_words: [ja, j], false_words: [nein], trim: false}
            kind: {column: k, values: {m: male, "2": other}, other_values: reject}
            country: {constant: DE}
            boss: {key: email, create: true, unresolved: reject, separator: "|"}
            flight: {column: [from, hour], key: [origin, time_hour]}
        table: {store: main, entity: E, escape: '\\', tsv_escapes: true, format: tsv}
        feed: {store: main, entity: E, format: xml, record: feed/entry}
        map: {store: main, entity: E, format: json, root: ., key_column: id}
      """
    ).load()
    let lines = try #require(configuration.recipe(named: "lines")).options
    #expect(lines.mode == .synchronise)
    #expect(lines.atomicity == .file && lines.isDryRun && lines.allowsEmpty)
    #expect(lines.rejectLimit == nil && lines.rejectShare == 0.025)
    var reader = ReaderOptions(
      format: .fixedWidth, member: "*.dat", encoding: .ibm850, fallbackEncoding: .latin1, maximumExpansion: 20,
      maximumUnpackedBytes: 1_000_000)
    (reader.comment, reader.skipLines) = ("#", 2)
    reader.fixedWidth = FixedWidthLayout(
      columns: [
        .init("id", width: 5), .init("full name", start: 8, end: 27), .init("note", start: 30, end: 40),
        .init("2024", width: 3),
      ],
      unit: .bytes, trims: false, allowsShortLines: true)
    #expect(lines.reader == reader)
    #expect(lines.mapping.nulls == ["NA", ""] && lines.mapping.trims && lines.mapping.filter == "id > 5")
    #expect(lines.mapping.ignoredColumns == ["note"] && lines.mapping.schema.columns == .freeze)
    #expect(lines.mapping.schema.types == .discardValue && lines.mapping.schema.entities == .discardRow)
    var rules: [String: PropertyRule] = [:]
    func rule(_ name: String, _ change: (inout PropertyRule) -> Void) { change(&rules[name, default: PropertyRule()]) }
    rule("name") { $0.column = "full name" }
    rule("born") { ($0.dateFormat, $0.timeZone) = ("dd.MM.yyyy", "Europe/Berlin") }
    rule("born") { ($0.defaultValue, $0.nulls) = ("01.01.1970", ["-"]) }
    rule("price") { ($0.decimalSeparator, $0.groupingSeparator) = (",", ".") }
    rule("price") { ($0.unit, $0.negatives) = ("€", .trailingMinus) }
    rule("active") { ($0.trueWords, $0.falseWords, $0.trims) = (["ja", "j"], ["nein"], false) }
    rule("kind") { ($0.column, $0.values, $0.refusesOtherValues) = ("k", ["m": "male", "2": "other"], true) }
    rule("country") { $0.constant = "DE" }
    rule("flight") { ($0.columns, $0.keys) = (["from", "hour"], ["origin", "time_hour"]) }
    #expect(lines.mapping.key == ["id", "note"])
    rule("boss") { ($0.key, $0.creates, $0.unresolved, $0.separator) = ("email", true, .reject, "|") }
    #expect(lines.mapping.properties == rules)
    let table = try #require(configuration.recipe(named: "table")).options.reader
    #expect(table.escape == "\\" && table.tsvEscapes)
    #expect(configuration.recipe(named: "feed")?.options.reader.record == "feed/entry")
    let map = try #require(configuration.recipe(named: "map")).options.reader
    #expect(map.root == "." && map.keyColumn == "id")
  }

  @Test("what it leaves out has its default")
  func defaults() throws {
    let configuration = try ConfigurationFile("stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}").load()
    var expected = DaemonConfiguration()
    expected.stores = [StoreConfiguration(name: "main", path: "/s/m.sqlite", model: "/s/M.xcdatamodeld")]
    #expect(configuration == expected)
    #expect(configuration.lanes.map(\.name) == ["import", "maintenance"])
    #expect(configuration.lane(named: "maintenance")?.concurrency == 1)
    #expect(configuration.lane(named: "import")?.concurrency == 1)
  }

  @Test(
    "what a store's migration may lose is nothing, anything, or what is named",
    arguments: [
      ("{}", .nothing), ("{allow_loss: false}", .nothing), ("{allow_loss: true}", .anything),
      ("{allow_loss: []}", .these([])), ("{allow_loss: [A, A.b, A]}", .these(["A", "A.b"])),
    ] as [(String, MigrationConfiguration.Loss)])
  func allowedLoss(_ text: String, _ expected: MigrationConfiguration.Loss) throws {
    let file = try ConfigurationFile(
      "stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld, migration: \(text)}}")
    #expect(try file.load().stores.first?.migration.allowedLoss == expected)
  }

  @Test("backups are kept where and how a store says, else under the state, the newest seven, by zstd")
  func backups() throws {
    let file = try ConfigurationFile(
      """
      state: /s
      stores:
        main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}
        second: {path: /s/n.sqlite, model: /s/M.xcdatamodeld, backups: {folder: /b, keep: 3, compress: gzip}}
      """)
    let configuration = try file.load()
    let (main, second) = (configuration.stores[0], configuration.stores[1])
    #expect(main.backups == BackupConfiguration() && main.backups.keep == 7 && main.backups.compress == .zstd)
    #expect(configuration.backupFolder(of: main) == "/s/backups/main")
    #expect(second.backups.keep == 3 && second.backups.compress == .gzip)
    #expect(configuration.backupFolder(of: second) == "/b" && configuration.reports == "/s/reports")
  }

  @Test("a byte order mark and Windows' line ends are no part of it")
  func windows() throws {
    let text = "\u{FEFF}spool: /s\r\nstores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}\r\n"
    #expect(try ConfigurationFile(text).load().spool == "/s")
    #expect(try ConfigurationFile(text + "spool: /t\r\n").problems().map { $0.prefix(4) } == ["3:1:"])
  }

  @Test("the lanes import and maintenance are there even if only others are named")
  func importLane() throws {
    let file = try ConfigurationFile(
      """
      stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
      lanes: {bulk: {}}
      recipes:
        a: {store: main, entity: A}
        b: {store: main, entity: B, lane: bulk}
      """)
    let configuration = try file.load()
    #expect(configuration.lanes.map(\.name) == ["import", "maintenance", "bulk"])
    #expect(configuration.recipe(named: "a")?.lane == "import")
    #expect(configuration.recipe(named: "b")?.lane == "bulk")
  }

  @Test("relative paths begin in the file's own folder")
  func relativePaths() throws {
    let file = try ConfigurationFile(
      """
      spool: spool/
      state: ./state//here
      socket: ../c.sock
      allowed_folders: [exports/../drop]
      stores: {main: {path: main.sqlite, model: models/Main.xcdatamodeld}}
      """)
    let configuration = try file.load()
    let above = file.folder.split(separator: "/").dropLast().joined(separator: "/")
    #expect(configuration.spool == file.folder + "/spool")
    #expect(configuration.state == file.folder + "/state/here")
    #expect(configuration.socket == "/" + above + "/c.sock")
    #expect(configuration.allowedFolders == [file.folder + "/drop"])
    #expect(configuration.store(named: "main")?.place.path == file.folder + "/main.sqlite")
    #expect(configuration.store(named: "main")?.model == file.folder + "/models/Main.xcdatamodeld")
  }

  @Test(
    "a delimiter is one character, whichever way it is quoted",
    arguments: [
      ("\",\"", ","), ("';'", ";"), ("\"\\t\"", "\t"), ("tab", "\t"), ("'|'", "|"), ("\" \"", " "), ("0", "0"),
    ])
  func delimiters(written: String, delimiter: String) throws {
    let file = try ConfigurationFile(
      """
      stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
      recipes: {a: {store: main, entity: A, delimiter: \(written)}}
      """)
    #expect(try file.load().recipe(named: "a")?.options.reader.delimiter == delimiter)
  }

  @Test("JSON is YAML, and an alias stands for what it names")
  func jsonAndAliases() throws {
    let json = try ConfigurationFile(#"{"stores": {"main": {"path": "/s/m.sqlite", "model": "/s/M.xcdatamodeld"}}}"#)
    #expect(try json.load().stores.count == 1)
    let aliases = try ConfigurationFile(
      """
      stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}
      recipes:
        a: &a {store: main, entity: A}
        b: *a
      """)
    #expect(try aliases.load().recipe(named: "b")?.entity == "A")
  }
}
