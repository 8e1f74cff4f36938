import ControlAPI
import ControlServer
import Foundation
import LadeDaemon
import Testing

@Suite("A configuration file that is wrong")
struct ConfigurationProblemTests {
  struct Case: CustomTestStringConvertible {
    let text: String
    let problem: String
    var testDescription: String { problem }

    init(_ text: String, _ problem: String) {
      self.text = text
      self.problem = problem
    }
  }

  static let stores = "stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}\n"
  static let name = "a name has 1 to 64 letters, digits, `_` and `-`, and doesn't begin with `-`"

  static let wholeFile: [Case] = [
    Case("", " the file says nothing; it must at least describe `stores`"),
    Case("# only this\n", " the file says nothing; it must at least describe `stores`"),
    Case("[a]", "1:1: `the file` must be a mapping of keys to values, such as `stores: …`, and is a list"),
    Case(
      "spool: /x\n",
      "1:1: `stores` is missing: where rows go, such as `main: {path: main.sqlite, model: "
        + "Main.xcdatamodeld}`"),
    Case("spool: [\n", "2:1: this is not YAML: did not find expected node content"),
    Case(stores + "a: 1\n---\nb: 2\n", "3:1: this is not YAML: but found another document"),
    Case("&k a: 1\na: 2\n", "1:1: this is not YAML: this key stands here and again further down; remove one"),
    Case(stores + "sool: /x\n", "2:1: there is no key `sool`; did you mean `spool`?"),
    Case(stores + "Socket: /x\n", "2:1: there is no key `Socket`; did you mean `socket`?"),
    Case(stores + "[a]: /x\n", "2:1: `?` must be a word, and is a list or a mapping"),
    Case(
      stores + "colour: red\n",
      "2:1: there is no key `colour`; it could be: `allowed_folders`, `drain_timeout`, `exports`, `intake`, `keep`, `lanes`, "
        + "`log_level`, `metrics`, `operators`, `queries`, `queue`, `recipes`, `rescan_interval`, `retry`, `save_recipes`, "
        + "`schedules`, `socket`, `spool`, `state`, `stores`, `time_zone`, `web`"),
    Case(stores + "spool: 5\n", "2:8: `spool` must be text, and is the number 5; put it in quotes"),
    Case(
      stores + "operators: [root, nobody-of-that-name]\n",
      "2:19: `operators[2]` can't be “nobody-of-that-name”: there is no user of that name on this system"),
    Case(stores + "spool:\n", "2:7: `spool` must be text, and is nothing; write a value, or remove the key"),
    Case(stores + "spool: ''\n", "2:8: `spool` can't be “”: it is empty; name something, or remove the key"),
    Case(stores + "spool: \"a\\nb\"\n", "2:8: `spool` can't be “a\\u{a}b”: it holds a control character"),
    Case(stores + "spool: ~/x\n", "2:8: `spool` can't be “~/x”: `~` means nothing here; write the folder out"),
    Case(
      stores + "spool: !include x\n", "2:8: tags (`!name`) mean nothing here; write the value out, or put it in quotes"),
    Case(stores + "log_level: wrning\n", "2:12: `log_level` can't be “wrning”; did you mean `warning`?"),
    Case(
      stores + "log_level: loud\n",
      "2:12: `log_level` can't be “loud”; there are: `trace`, `debug`, `info`, `notice`, `warning`, `error`, `critical`"
    ),
    Case(
      stores + "drain_timeout: 30\n",
      "2:16: `drain_timeout` can't be “30”: write a number and its unit (ms, s, m, h, d), such as 30s or 5m"),
    Case(
      stores + "drain_timeout: soon\n",
      "2:16: `drain_timeout` can't be “soon”: write a number and its unit (ms, s, m, h, d), such as 30s or 5m"),
    Case(stores + "drain_timeout: 2d\n", "2:16: `drain_timeout` can't be “2d”: it must be from 0s to 24h"),
    Case(stores + "intake: {settle: 2h}\n", "2:18: `intake.settle` can't be “2h”: it must be from 0s to 1h"),
    Case(
      stores + "intake: {partial_suffixes: [/x]}\n",
      "2:29: `intake.partial_suffixes[1]` can't be “/x”: it is the end of a file's name, such as “.uploading”, of at most "
        + "32 bytes, and not of a ticket's"),
    Case(stores + "rescan_interval: 0s\n", "2:18: `rescan_interval` can't be “0s”: it must be from 1s to 24h"),
    Case(
      stores + "allowed_folders: /x\n",
      "2:18: `allowed_folders` must be a list of folders, such as [a, b], and is the text “/x”"),
    Case(
      stores + "allowed_folders: [/x, 5]\n",
      "2:23: `allowed_folders[2]` must be text, and is the number 5; put it in quotes"),
    Case(
      stores + "allowed_folders: [/x, /x/]\n",
      "2:23: `allowed_folders[2]` can't be “/x/”: the folder is in the list twice"),
    Case(
      stores + "lanes: {import: {concurrency: 65}}\n",
      "2:31: `lanes.import.concurrency` can't be “65”: it must be from 1 to 64"),
    Case(
      stores + "lanes: {import: {concurrency: many}}\n",
      "2:31: `lanes.import.concurrency` must be a whole number, and is the text “many”"),
    Case(stores + "lanes: {a b: {}}\n", "2:9: `lanes.a b` can't be “a b”: " + name),
    Case(
      stores + "lanes: {import: 3}\n",
      "2:17: `lanes.import` must be a mapping of keys to values, such as `concurrency: …`, and is the number 3"),
    Case(stores + "spool: /x\nstate: /x\n", "3:8: `state`: “/x” is that of `spool`, too"),
    Case(stores + "spool: /var/lib/lade\n", "2:8: `spool`: “/var/lib/lade” is that of `state`, too"),
    Case(
      "stores:\n  main: {path: /var/lib/lade/queue.sqlite, model: /m}\n",
      "2:16: `stores.main.path`: “/var/lib/lade/queue.sqlite” is that of `state (its queue.sqlite)`, too"),
    Case(
      "stores:\n  a: {path: /x, model: /m}\n  b: {path: /x, model: /m}\n",
      "3:13: `stores.b.path`: “/x” is that of `stores.a.path`, too"),
    Case(
      "stores: {main: {path: /s/m.sqlite, model: /m, migration: {allow_loss: maybe}}}\n",
      "1:71: `stores.main.migration.allow_loss` can't be “maybe”; there are: `false`, `true`"),
    Case(
      "stores: {main: {path: /s/m.sqlite, model: /m, migration: {alow_loss: true}}}\n",
      "1:59: there is no key `stores.main.migration.alow_loss`; did you mean `allow_loss`?"),
    Case(
      "stores: {main: {path: /s/m.sqlite, model: /m, backups: {keep: 0}}}\n",
      "1:63: `stores.main.backups.keep` can't be “0”: it must be from 1 to 10000"),
    Case(
      "stores: {main: {path: /s/m.sqlite, model: /m, backups: {compress: zip}}}\n",
      "1:67: `stores.main.backups.compress` can't be “zip”; did you mean `gzip`?"),
    Case(
      "stores: {main: {path: /s/m.sqlite, model: /m, backups: {floder: /b}}}\n",
      "1:57: there is no key `stores.main.backups.floder`; did you mean `folder`?"),
    Case(
      stores + "retry: {first: 1h, longest: 1m}\n", "2:8: `retry`: `longest` is shorter than `first`"),
    Case(
      stores + "retry: {spread: 0.2}\n",
      "2:17: `retry.spread` can't be “0.2”: write a whole number from 0 to 100 and %, such as 20%"),
    Case(stores + "retry: {frist: 1m}\n", "2:9: there is no key `retry.frist`; did you mean `first`?"),
    Case("stores: {}\n", "1:9: `stores` must be a mapping with at least one store in it, and is an empty mapping"),
    Case("stores: main\n", "1:9: `stores` must be a mapping of names to stores, and is the text “main”"),
    Case(
      "stores:\n  main:\n    path: /x\n",
      "3:5: `stores.main.model` is missing: the store's model, an .xcdatamodeld or "
        + ".xcdatamodel"),
    Case("stores:\n  ../a: {path: /x, model: /m}\n", "2:3: `stores.../a` can't be “../a”: " + name),
  ]

  @Test("says so with its line", arguments: wholeFile)
  func problemOfFile(_ wrong: Case) throws {
    #expect(try ConfigurationFile(wrong.text).problems() == [wrong.problem])
  }

  /// Keys of a recipe in line 4, beside store and entity; the key itself begins in column 5.
  static let recipeKeys: [Case] = [
    Case("stor: main", "4:5: there is no key `recipes.r.stor`; did you mean `store`?"),
    Case("max_attemps: 3", "4:5: there is no key `recipes.r.max_attemps`; did you mean `max_attempts`?"),
    Case("lane: imprt", "4:11: `recipes.r.lane` can't be “imprt”; did you mean `import`?"),
    Case("mode: upser", "4:11: `recipes.r.mode` can't be “upser”; did you mean `upsert`?"),
    Case(
      "mode: overwrite",
      "4:11: `recipes.r.mode` can't be “overwrite”; there are: "
        + "`insert`, `upsert`, `update`, `replace`, `synchronise`"),
    Case("format: jsonl", "4:13: `recipes.r.format` can't be “jsonl”; did you mean `json`?"),
    Case("priority: high", "4:15: `recipes.r.priority` must be a whole number, and is the text “high”"),
    Case("priority: '1'", "4:15: `recipes.r.priority` must be a whole number, and is the text “1”"),
    Case("max_attempts: 0", "4:19: `recipes.r.max_attempts` can't be “0”: it must be from 1 to 1000"),
    Case("batch_size: 0", "4:17: `recipes.r.batch_size` can't be “0”: it must be from 1 to 1000000"),
    Case("reject_limit: -1", "4:19: `recipes.r.reject_limit` can't be “-1”: it must be from 0 to 1000000000"),
    Case("header: yes", "4:13: `recipes.r.header` can't be “yes”; did you mean `true`?"),
    Case("header: maybe", "4:13: `recipes.r.header` can't be “maybe”; there are: `false`, `true`"),
    Case("header: [true]", "4:13: `recipes.r.header` must be true or false, and is a list"),
    Case(
      "delimiter: ', '",
      "4:16: `recipes.r.delimiter` can't be “, ”: it must be one character of ASCII, or the word `tab`"),
    Case(
      "delimiter: §", "4:16: `recipes.r.delimiter` can't be “§”: it must be one character of ASCII, or the word `tab`"),
    Case(
      "quote: \"\\n\"",
      "4:12: `recipes.r.quote` can't be “\\u{a}”: it must be one character of ASCII, or the word `none`"),
    Case("columns: []", "4:14: `recipes.r.columns` must be a list of at least one name, and is an empty list"),
    Case("columns: [a, b, a]", "4:21: `recipes.r.columns[3]` can't be “a”: the name is in the list twice"),
    Case(
      "root: a..b", "4:11: `recipes.r.root` can't be “a..b”: between its dots there must be keys, such as `data.items`"),
    Case(
      "header: false",
      "4:13: `recipes.r.header`: without a header line the file can't name its columns; add `columns: [a, b]`"),
    Case("atomic: fil", "4:13: `recipes.r.atomic` can't be “fil”; did you mean `file`?"),
    Case(
      "reject_share: 5",
      "4:19: `recipes.r.reject_share` can't be “5”: write a percentage from 0% to 100%, such as 5%, or `none`"),
    Case(
      "fallback_encoding: utf-16",
      "4:24: `recipes.r.fallback_encoding` can't be “utf-16”: "
        + "it must have one byte a character, such as windows-1252"),
    Case(
      "encoding: windows-1253x", "4:15: `recipes.r.encoding` can't be “windows-1253x”; did you mean `windows-1253`?"),
    Case("format: fixed_width", "4:13: `recipes.r.format`: it needs the columns: add `fields: [id:5, name:20]`"),
    Case(
      "fields: [id]",
      "4:14: `recipes.r.fields[1]` can't be “id”: write the name and its width, such as id:5, or its first and last "
        + "place, such as id:1-5"),
    Case("fields: [{width: 5}]", "4:14: `recipes.r.fields[1].name` is missing: the column's name"),
    Case("short_lines: true", "4:18: `recipes.r.short_lines`: it needs `fields`, which isn't given"),
    Case("record: a\n    format: csv", "4:13: `recipes.r.record`: only XML has it, and the format is csv"),
    Case(
      "skip_lines: 1\n    format: json",
      "4:17: `recipes.r.skip_lines`: only CSV, TSV, fixed width, Excel and OpenDocument have it, and the format is json"
    ),
    Case(
      "properties: [a]",
      "4:17: `recipes.r.properties` must be a mapping of attributes and relationships to what becomes them, and is a list"
    ),
    Case("properties: {a: {colum: x}}", "4:22: there is no key `recipes.r.properties.a.colum`; did you mean `column`?"),
    Case(
      "properties: {a: {column: x, constant: y}}",
      "4:30: `recipes.r.properties.a.column`: `constant` says what the value is"),
    Case(
      "properties: {a: {other_values: reject}}",
      "4:36: `recipes.r.properties.a.other_values`: there are no `values` that it could be said of"),
    Case(
      "comment: ','\n    delimiter: ','",
      "4:5: `recipes.r`: the option comment is wrong: it begins with the delimiter, the quote or the escape"),
    Case("quote: ';'\n    delimiter: ;", "4:12: `recipes.r.quote`: it is the delimiter, too"),
    Case("delimiter: '\"'", "4:16: `recipes.r.delimiter`: it is the delimiter, too"),
    Case(
      "delimiter: ','\n    format: json",
      "4:16: `recipes.r.delimiter`: only CSV and TSV have it, and the format is json"),
    Case(
      "header: true\n    format: ndjson",
      "4:13: `recipes.r.header`: only CSV, TSV, Excel and OpenDocument have it, and the format is ndjson"
    ),
    Case(
      "delimiter: ','\n    format: tsv",
      "4:16: `recipes.r.delimiter`: the delimiter of TSV is a tab; write `format: csv`, or remove this key"),
    Case(
      "root: a\n    format: csv",
      "4:11: `recipes.r.root`: only JSON and property lists have it, and the format is csv"),
  ]

  @Test("says so of a recipe", arguments: recipeKeys)
  func problemOfRecipe(_ wrong: Case) throws {
    let file = try ConfigurationFile(
      Self.stores + "recipes:\n  r:\n    \(wrong.text)\n    store: main\n    entity: E\n")
    #expect(file.problems() == [wrong.problem])
  }

  @Test("says so of a recipe whose name is a route's", arguments: Recipe.takenNames.sorted())
  func takenNames(_ name: String) throws {
    let file = try ConfigurationFile(Self.stores + "recipes:\n  \(name): { store: main, entity: E }\n")
    #expect(
      file.problems() == [
        "3:3: `recipes.\(name)` can't be “\(name)”: the HTTP interface has `/v1/recipes/\(name)` for something else: "
          + "choose another name"
      ])
  }

  @Test("names what a recipe refers to and isn't there")
  func references() throws {
    let file = try ConfigurationFile(
      """
      stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}, archive: {path: /a, model: /b}}
      lanes: {bulk: {concurrency: 2}}
      recipes:
        a: {store: mian, entity: A, lane: bluk}
        b: {store: elsewhere, entity: B}
        c: {entity: C}
        d: {store: main}
        e/f: {store: main, entity: E}
      """)
    #expect(
      file.problems() == [
        "4:14: `recipes.a.store` can't be “mian”; did you mean `main`?",
        "4:37: `recipes.a.lane` can't be “bluk”; did you mean `bulk`?",
        "5:14: `recipes.b.store` can't be “elsewhere”; there are: `main`, `archive`",
        "6:6: `recipes.c.store` is missing: the name of one of the `stores`",
        "7:6: `recipes.d.entity` is missing: the entity of the store's model that records become",
        "8:3: `recipes.e/f` can't be “e/f”: " + Self.name,
      ])
  }

  @Test("is reported in full at once, in the order of its lines")
  func allAtOnce() throws {
    let file = try ConfigurationFile(
      """
      recipes:
        people: {store: min, entity: Person, priorty: 1}
        people: {store: main, entity: Person, max_attempts: none}
      drain_timeout: 30
      socket: \(String(repeating: "s", count: 107))
      log_level: inf
      stores:
        main: {path: m.sqlite}
        "main": {path: n.sqlite, model: N, modle: M}
      log_level: info
      lanes: [import]
      spol: /x
      """)
    let socket = file.folder + "/" + String(repeating: "s", count: 107)
    #expect(
      file.problems() == [
        "3:3: `recipes.people` is there twice, first in line 2; remove one",
        "3:55: `recipes.people.max_attempts` must be a whole number, and is the text “none”",
        "4:16: `drain_timeout` can't be “30”: write a number and its unit (ms, s, m, h, d), such as 30s or 5m",
        "5:9: `socket` can't be “\(String(repeating: "s", count: 80))”: the socket's path can have at most 101 bytes, "
          + "and “\(socket)” has \(socket.utf8.count)",
        "9:3: `stores.main` is there twice, first in line 8; remove one",
        "9:38: there is no key `stores.main.modle`; did you mean `model`?",
        "10:1: `log_level` is there twice, first in line 6; remove one",
        "11:8: `lanes` must be a mapping of names to lanes, and is a list",
        "12:1: there is no key `spol`; did you mean `spool`?",
      ])
  }

  @Test("refuses the socket paths that the start would refuse, and no others")
  func socketPath() throws {
    let long = "/" + String(repeating: "s", count: ControlSocket.longestPath - 1)
    #expect(try ConfigurationFile(Self.stores + "socket: \(long)\n").problems() == [])
    #expect(
      try ConfigurationFile(Self.stores + "socket: \(long)s\n").problems().first?
        .contains("at most \(ControlSocket.longestPath) bytes") == true)
  }

  @Test("is reported where an anchor stands, for each of its aliases")
  func aliases() throws {
    let file = try ConfigurationFile(Self.stores + "recipes:\n  a: &a {store: main}\n  b: *a\n")
    #expect(
      file.problems() == [
        "3:6: `recipes.a.entity` is missing: the entity of the store's model that records become",
        "3:6: `recipes.b.entity` is missing: the entity of the store's model that records become",
      ])
  }

  @Test("a key that is there three times is reported with the first")
  func threeTimes() throws {
    let file = try ConfigurationFile(Self.stores + "spool: /a\nspool: /b\nspool: /c\n")
    #expect(file.problems() == ["4:1: `spool` is there twice, first in line 2; remove one"])
  }

  @Test("is not text, or too much of it")
  func notText() throws {
    #expect(try ConfigurationFile(Data([0x73, 0xFF, 0xFE])).problems() == [" the file is not UTF-8 text"])
    let large = Data(repeating: UInt8(ascii: "#"), count: (1 << 20) + 1)
    #expect(
      try ConfigurationFile(large).problems() == [" the file has more than 1048576 bytes"])
  }

  @Test("isn't there, or is a folder")
  func unreadable() throws {
    let file = try ConfigurationFile("")
    for path in [file.folder + "/other.yaml", file.folder] {
      let error = #expect(throws: ConfigurationProblems.self) { try DaemonConfiguration.load(path: path) }
      #expect(error?.problems.count == 1)
      #expect(error?.description.hasPrefix("\(path): the file can't be read: ") == true)
    }
  }
}
