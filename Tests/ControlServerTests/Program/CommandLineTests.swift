import ArgumentParser
import ControlAPI
import Foundation
import Testing

@testable import ladectl

@Suite("The command line")
struct CommandLineTests {
  @Test("options take their kind from how they are written, and repeated ones are lists")
  func options() throws {
    let values = try NamedOption.values(
      try ["a=true", "b=12", "c=007", "d=x=y", "e=1", "e=2", "f="].map(NamedOption.init(parsing:)))
    #expect(
      values == [
        "a": .bool(true), "b": .int(12), "c": .string("007"), "d": .string("x=y"),
        "e": .list([.string("1"), .string("2")]),
        "f": .string(""),
      ])
    let nested = try NamedOption.values(
      try ["p.born.column=Birth", "p.born.nulls=-", "p.born.nulls=?", "p.n=N"].map(NamedOption.init(parsing:)))
    let born: OptionValue = .map(["column": .string("Birth"), "nulls": .list([.string("-"), .string("?")])])
    #expect(nested == ["p": .map(["born": born, "n": .string("N")])])
    let both = try ["p.born=Birth", "p.born.trim=true"].map(NamedOption.init(parsing:))
    #expect(throws: ValidationError.self) { try NamedOption.values(both) }
    #expect(throws: ValidationError.self) { try NamedOption(parsing: "=x") }
    #expect(throws: ValidationError.self) { try NamedOption(parsing: "x") }
  }

  @Test(
    "names of properties, and texts that stand for values, may have dots",
    arguments: [
      ("properties.address.street.column=S", "address.street", OptionValue.map(["column": .string("S")])),
      ("properties.Stop.name=S", "Stop.name", .string("S")), ("properties.name=S", "name", .string("S")),
      ("properties.sex.values.n.a.=x", "sex", .map(["values": .map(["n.a.": .string("x")])])),
      ("properties.price.colum=k", "price", .map(["colum": .string("k")])),
      ("properties.key.key=k", "key", .map(["key": .string("k")])),
    ])
  func properties(_ text: String, _ name: String, _ value: OptionValue) throws {
    let values = try NamedOption.values([NamedOption(parsing: text)])
    #expect(values == ["properties": .map([name: value])])
  }

  @Test(
    "a start time may count from now or be ISO 8601",
    arguments: [("+90s", 90.0), ("+10m", 600), ("+1.5h", 5400), ("+1d", 86400), ("1970-01-01T00:00:07Z", 7)])
  func startTimes(_ text: String, _ seconds: Double) throws {
    #expect(
      try StartTime(parsing: text, now: Date(timeIntervalSince1970: 0)).date.timeIntervalSince1970 == seconds)
  }

  @Test("a start time without a zone is local")
  func localTime() throws {
    let date = try StartTime(parsing: "2026-07-01 12:30").date
    #expect(Quantity.time(date).hasPrefix("2026-07-01 12:30:00"))
    #expect(Quantity.clock(date) == "12:30:00")
    // What is printed can be given back.
    #expect(try StartTime(parsing: Quantity.time(date)).date == date)
    #expect(try StartTime(parsing: "2026-07-01T12:30:00").date == date)
  }

  @Test(
    "what isn't a time is refused",
    arguments: [
      "", "tomorrow", "+", "+5", "-5m", "2026-04-31 10:00", "2026-13-01 10:00", "2026-04-01 25:00", "1-1-1 1:1",
    ])
  func notATime(_ text: String) {
    #expect(throws: ValidationError.self) { try StartTime(parsing: text) }
  }

  @Test("relative paths become absolute, and names in them aren't resolved")
  func paths() {
    #expect(AbsolutePath.of("a/./b.csv", workingDirectory: "/home/x") == "/home/x/a/b.csv")
    #expect(AbsolutePath.of("../b.csv", workingDirectory: "/home/x") == "/home/x/../b.csv")
    #expect(AbsolutePath.of("/a//b") == "/a/b")
  }

  @Test(
    "the daemon and the form of the output may be named before the verb",
    arguments: [
      ("--socket /s status", "status --socket /s"),
      ("--socket=/s --json store check main", "store check --socket=/s --json main"),
      ("store --instance shop list", "store list --instance shop"), ("--json store", "store --json"),
      ("list --json", "list --json"), ("fetch --where x Person", "fetch --where x Person"), ("--json lsit", "lsit"),
      ("help list", "help list"), ("--socket /s", ""),
    ])
  func globalOptions(_ written: String, _ taken: String) {
    func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
    #expect(CommandWords(words(written)).arguments == words(taken))
  }

  @Test("an instance stands for its socket, and its name isn't a path")
  func instance() async throws {
    let away = try await LadectlProcess.run(["--instance", "no-such-instance", "status"])
    #expect(away.status == 5 && away.error.contains("/run/lade@no-such-instance/control.sock"), "\(away.error)")
    let both = try await LadectlProcess.run(["status", "--instance", "a", "--socket", "/s"])
    #expect(both.status == 64 && both.error.contains("--socket doesn't go with it"), "\(both.error)")
    #expect(try await LadectlProcess.run(["status", "--instance", "a/b"]).status == 64)
  }

  @Test(
    "what is wrong with a command line is always reported in the same way, with one line of what to do",
    arguments: [
      (
        ["list", "--jsno"], "There is no option --jsno; did you mean --json?",
        "'ladectl list --help' describes its options."
      ),
      (["fetch", "A", "--form", "csv"], "There is no option --form; did you mean --format?", "'ladectl fetch --help'"),
      (["fetch"], "<entity> is missing.", "'ladectl fetch --help'"),
      (["update", "A"], "--set <attribute=value> is missing.", "'ladectl update --help'"),
      (["fetch", "A", "--where"], "--where needs a value: --where <predicate>.", "'ladectl fetch --help'"),
      (["list", "--limit", "x"], "--limit can't be 'x'.", "'ladectl list --help'"),
      (["log", "--level", "warn"], "--level can't be 'warn'; it is one of trace, debug", "'ladectl log --help'"),
      (["submit", "a", "--mode", "inset"], "--mode can't be 'inset'; did you mean insert?", "'ladectl submit --help'"),
      (["store", "vacuum", "a", "b"], "'b': more arguments than the verb takes.", "'ladectl store vacuum --help'"),
      (["list", "--json=x"], "--json takes no value, and was given 'x'.", "'ladectl list --help'"),
      (["cancel"], "Which jobs? Give their numbers, or --all with a filter.", "'ladectl cancel --help'"),
    ])
  func usage(_ words: [String], _ says: String, _ hint: String) async throws {
    let run = try await LadectlProcess.run(words)
    let lines = run.error.split(separator: "\n")
    #expect(run.status == 64 && lines.count == 2, "\(run.error)")
    #expect(lines[0].hasPrefix("ladectl: \(says)") && lines[1].hasPrefix("  \(hint)"), "\(run.error)")
  }

  @Test("what the daemon says of a member of the request names the verb's option for it")
  func optionNames() throws {
    let program = try VerbDescription.all()
    func told(_ detail: String, _ verb: String) -> String {
      Problem(status: 422, code: "invalid_request", title: "", detail: detail)
        .detail(namingOptionsOf: program.verbs.first { $0.commandName == verb })
    }
    #expect(told("recipe: there is no recipe a", "import") == "--recipe: there is no recipe a")
    #expect(told("priority: it is 7", "priority") == "--to: it is 7")
    #expect(told("unique_period: it is 0", "submit") == "--unique-for: it is 0")
    #expect(told("options.batch_size: too large", "import") == "--option batch_size: too large")
    #expect(told("options.delimiter: too long", "import") == "--delimiter: too long")
    #expect(told("options: limit is 0", "export") == "--limit is 0")
    #expect(told("source: the daemon can't", "import") == "the daemon can't")
    #expect(told("A: b", "import") == "A: b")
  }

  @Test("each reason for not reaching the daemon says what to do")
  func messages() {
    func text(_ error: ControlClientError) -> String { Failure.text(of: error.problem) }
    #expect(text(.init(connecting: "/none/s", errno: 2)).contains("systemctl start laded"))
    #expect(text(.noPermission(path: "/s", group: "lade")).contains("usermod -aG lade"))
    #expect(text(.init(connecting: "/none/s", errno: 13)).contains("/none/s"))
    #expect(
      text(.versionMismatch(server: "laded/9.0.0", detail: "x")).contains("laded/9.0.0"))
    #expect(ControlClientError.noPermission(path: "/s", group: nil).exitStatus == .notAllowed)
    #expect(ControlClientError.timedOut(seconds: 1, waitingFor: "x", hint: "y").exitStatus == .timedOut)
  }

  @Test("a description of jobs that can't be read is reported in plain words, with the place")
  func description() async throws {
    let directory = try TemporaryDirectory()
    func told(_ text: String?) async throws -> String {
      let path = directory.file("jobs.json")
      if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
      let run = try await LadectlProcess.run(["batch", "submit", "--description", path], socket: directory.file("s"))
      #expect(run.status == 1)
      return String(run.error.prefix { $0 != "\n" }.dropFirst("ladectl: \(path): ".count))
    }
    #expect(try await told(nil).contains("o such file"))
    #expect(try await told(#"{"jobs": [{"x": 1}]}"#) == "jobs[0]: there is no 'x' here; there are after, job, name")
    #expect(try await told(#"{"jobs": [{"name": "a"}]}"#) == "jobs[0]: 'job' is missing")
    #expect(try await told(#"{"jobs": 7}"#).hasPrefix("jobs: a value of the type Array"))
    #expect(try await told("{").contains("not valid JSON"))
  }

  @Test("a socket's path that is too long is reported with how long it may be")
  func longPath() async throws {
    let run = try await LadectlProcess.run(["status"], socket: "/" + String(repeating: "x", count: 200))
    #expect(run.status == 5 && run.error.contains("too long for a Unix socket"), "\(run.error)")
  }

  @Test("the advice is never to join a group that the socket's mode keeps out")
  func closedGroup() throws {
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: true)
    #expect(chmod(directory.file("s"), 0o600) == 0)
    let error = ControlClientError(connecting: directory.file("s"), errno: EACCES)
    #expect(error == .noPermission(path: directory.file("s"), group: nil))
    withExtendedLifetime(socket) {}
  }
}
