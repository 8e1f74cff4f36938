import ControlAPI
import Foundation
import Testing

@Suite("ladectl as a program")
struct LadectlTests {
  @Test("without a daemon it says how to start one and exits 5")
  func noDaemon() async throws {
    let directory = try TemporaryDirectory()
    let result = try await LadectlProcess.run(["list"], socket: directory.file("s"))
    #expect(result.status == 5)
    #expect(result.output == "")
    #expect(result.error.contains("laded isn't running"))
    #expect(result.error.contains("systemctl start laded"))
  }

  @Test("a socket on which no process listens is distinguished from none, also in JSON")
  func notListening() async throws {
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: false)
    let result = try await LadectlProcess.run(["status", "--json", "--socket", directory.file("s")])
    #expect(result.status == 5)
    let problem = try WireFormat.decode(Problem.self, from: Data(result.error.utf8))
    #expect(problem.code == "no_daemon")
    #expect(problem.detail.contains("no process listens"))
    withExtendedLifetime(socket) {}
  }

  @Test(
    "a server that answers in another way than this version expects is named",
    arguments: [
      (
        "HTTP/1.1 404 Not Found\r\nServer: laded/9.9.9\r\nContent-Type: application/problem+json\r\n"
          + "Content-Length: 95\r\n\r\n"
          + #"{"type":"x","title":"x","status":404,"code":"no_such_route","detail":"There is no /v1/status."}"#, "9.9.9"
      ),
      ("HTTP/1.1 200 OK\r\nServer: laded/9.9.9\r\nContent-Length: 2\r\n\r\n{}", "9.9.9"),
      ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "502"),
      ("SSH-2.0-OpenSSH_9.2\r\n", "HTTP"),
    ])
  func otherVersion(_ answer: String, _ says: String) async throws {
    let directory = try TemporaryDirectory()
    let socket = try PlainSocket(boundTo: directory.file("s"), listening: true)
    socket.answerOnce(answer)
    let result = try await LadectlProcess.run(["status"], socket: directory.file("s"))
    #expect(result.status == 7)
    #expect(result.error.contains("ladectl \(LadeVersion.current)"))
    #expect(result.error.contains(says))
  }

  @Test("a file that isn't a socket is reported as that")
  func notASocket() async throws {
    let directory = try TemporaryDirectory()
    try Data("x".utf8).write(to: URL(fileURLWithPath: directory.file("s")))
    let result = try await LadectlProcess.run(["status"], socket: directory.file("s"))
    #expect(result.status == 5)
    #expect(result.error.contains("isn't a socket"))
  }

  @Test(
    "a wrong command line exits 64 and names the help of its verb",
    arguments: [
      ["submit"], ["submit", "a.csv"], ["submit", "a.csv", "--recipe", "r", "--entity", "E"], ["list", "--state", "x"],
      ["wait"], ["wait", "1", "--all"], ["show", "one"], ["nonsense"], ["fetch", "E", "--format", "xml"],
      ["cancel"], ["cancel", "1", "--all"], ["cancel", "1", "--state", "running"], ["show", "9-3"], ["show", "1,,2"],
      ["list", "--columns", "id,colour"], ["list", "--limit", "0"], ["fetch", "E", "--watch", "--format", "csv"],
      ["fetch", "E", "--watch", "--offset", "3"], ["lane", "concurrency", "import", "0"], ["priority", "1"],
      ["submit", "--kind", "import"], ["import", "a", "--entity", "E", "--delimiter", ";", "--option", "delimiter=,"],
      ["submit", "a", "--entity", "E", "--unique-for", "1h"], ["submit", "a", "--entity", "E", "--timeout", "soon"],
      ["log", "--lines", "-1"], ["list", "--limit", "x", "--json"], ["manual", "show", "--output", "x"],
    ])
  func usage(_ arguments: [String]) async throws {
    let result = try await LadectlProcess.run(arguments)
    #expect(result.status == 64)
    let usage = arguments.contains("--json") ? "\"code\" : \"usage\"" : " --help' "
    #expect(result.error.lowercased().contains(usage) || arguments == ["nonsense"], "\(result.error)")
    #expect(arguments.contains("--json") || result.error.hasPrefix("ladectl: "), "\(result.error)")
    #expect(!result.error.contains("Error:") && !result.error.contains("␊"), "\(result.error)")
  }

  @Test("a misspelt verb is reported with the one that was meant, at every depth")
  func misspelt() async throws {
    let first = try await LadectlProcess.run(["canel", "1"])
    #expect(first.status == 64)
    #expect(first.error.hasPrefix("ladectl: 'ladectl' has no verb 'canel'; did you mean 'cancel'?\n"), "\(first.error)")
    let second = try await LadectlProcess.run(["store", "vacum", "main"])
    #expect(second.status == 64)
    #expect(second.error.contains("'ladectl store' has no verb 'vacum'; did you mean 'vacuum'?"), "\(second.error)")
    let inner = try await LadectlProcess.run(["infer"])
    #expect(inner.error.contains("has no verb 'infer'; did you mean 'model infer'?"), "\(inner.error)")
    let elsewhere = try await LadectlProcess.run(["jobs"])
    #expect(elsewhere.error.contains("has no verb 'jobs'; did you mean 'list'?"), "\(elsewhere.error)")
    let third = try await LadectlProcess.run(["cancel", "x"])
    #expect(third.error.contains("isn't a job's number"), "\(third.error)")
  }

  @Test("a configuration without a daemon is checked in words and as JSON")
  func checkedFile() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("lade.yaml")
    try Data("bad: 1\nstores: {main: {path: m.sqlite, model: none.xcdatamodel}}\n".utf8).write(
      to: URL(fileURLWithPath: file))
    let run = try await LadectlProcess.run(["config", "check", file, "--json"])
    #expect(run.status == 1)
    let check = try WireFormat.decode(ConfigurationCheck.self, from: Data(run.output.utf8))
    #expect(!check.isGood && check.path == file)
    #expect(check.mistakes.first?.file == file && check.mistakes.first?.line == 1 && check.mistakes.first?.column == 1)
    #expect(check.mistakes.first?.message.hasPrefix("there is no key `bad`") == true, "\(check)")
    #expect(try await LadectlProcess.run(["config", "check", file]).status == 1)
  }

  @Test("version and help need no daemon")
  func version() async throws {
    let version = try await LadectlProcess.run(["--version"])
    #expect(version.status == 0)
    #expect(version.output == LadeVersion.current + "\n")
    let help = try await LadectlProcess.run(["--help"])
    #expect(help.status == 0)
    #expect(help.output.contains("Exit status"))
  }

  @Test("a model is shown without a daemon, and one that isn't there is an error")
  func model() async throws {
    let directory = try TemporaryDirectory()
    let model = directory.file("Country.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
    let xml = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Country" representedClassName="Country">
          <attribute name="name" optional="YES" attributeType="String"/>
        </entity>
      </model>
      """
    try Data(xml.utf8).write(to: URL(fileURLWithPath: model + "/contents"))
    let shown = try await LadectlProcess.run(["model", "show", model])
    #expect(shown.status == 0)
    #expect(shown.output.contains("Country"))
    let json = try await LadectlProcess.run(["model", "show", model, "--json"])
    #expect(json.status == 0)
    #expect(json.output.contains("Country"))
    let missing = try await LadectlProcess.run(["model", "show", directory.file("none.xcdatamodeld")])
    #expect(missing.status == 1)
    #expect(missing.error.contains("none.xcdatamodeld"))
  }

  @Test("a mapping model is shown with its two models, which it names or which are given")
  func mapping() async throws {
    let directory = try TemporaryDirectory()
    func write(_ text: String, _ folder: String, _ name: String) throws {
      try FileManager.default.createDirectory(atPath: directory.file(folder), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(folder) + "/" + name))
    }
    for (model, attribute) in [("Old", "name"), ("New", "title")] {
      try write(
        "<model><entity name=\"Book\"><attribute name=\"\(attribute)\" attributeType=\"String\"/></entity></model>",
        "Books.xcdatamodeld/\(model).xcdatamodel", "contents")
    }
    try write(
      """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database>
        <object type="XDDEVATTRIBUTEMAPPING" id="z1">
          <attribute name="name" type="string">title</attribute>
          <attribute name="sourcekeypath" type="string">$source.name</attribute>
        </object>
        <object type="XDDEVENTITYMAPPING" id="z2">
          <attribute name="sourcename" type="string">Book</attribute>
          <attribute name="destinationname" type="string">Book</attribute>
          <attribute name="migrationpolicyclassname" type="string">App.BookPolicy</attribute>
          <relationship name="attributemappings" idrefs="z1"></relationship>
        </object>
        <object type="XDDEVMAPPINGMODEL" id="z3">
          <attribute name="sourcemodelpath" type="string">App/Books.xcdatamodeld/Old.xcdatamodel</attribute>
          <attribute name="destinationmodelpath" type="string">App/Books.xcdatamodeld/New.xcdatamodel</attribute>
          <relationship name="entitymappings" idrefs="z2"></relationship>
        </object>
      </database>
      """, "Old to New.xcmappingmodel", "xcmapping.xml")
    let mapping = directory.file("Old to New.xcmappingmodel")
    let shown = try await LadectlProcess.run(["model", "show", mapping])
    #expect(shown.status == 0, "\(shown.error)")
    #expect(
      shown.output.hasPrefix("BookToBook: Book to Book (custom)\n  title: name\nwarning: BookToBook is converted by"))
    let models = ["Old", "New"].map { directory.file("Books.xcdatamodeld/\($0).xcdatamodel") }
    let json = try await LadectlProcess.run(
      ["model", "show", mapping, "--from", models[0], "--to", models[1], "--json"])
    #expect(json.status == 0 && json.output.contains("\"BookToBook\""))
    let convert = try await LadectlProcess.run(
      ["model", "convert", mapping, "--output", directory.file("M.xcdatamodel")])
    #expect(convert.status == 1 && convert.error.contains("it is a mapping model"))
    let wrong = try await LadectlProcess.run(["model", "show", models[0], "--from", models[1]])
    #expect(wrong.status == 64 && wrong.error.contains("models of a mapping model"))
    try FileManager.default.removeItem(atPath: directory.file("Books.xcdatamodeld"))
    let missing = try await LadectlProcess.run(["model", "show", mapping])
    #expect(missing.status == 1 && missing.error.contains("--from and --to"))
  }

  @Test("a model's mistakes are all reported, and what keeps records from being imported is a warning")
  func modelMistakes() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("contents")
    func show(_ xml: String) async throws -> LadectlProcess {
      try Data("<model>\n\(xml)\n</model>".utf8).write(to: URL(fileURLWithPath: file))
      return try await LadectlProcess.run(["model", "show", file])
    }
    let wrong = try await show(
      """
      <entity name="A"><attribute name="a" attributeType="Boolean" optional="yes"/>
      <relationship name="r" destinationEntity="B" deletionRule="Explode"/></entity>
      """)
    #expect(wrong.status == 1)
    #expect(wrong.error.contains("contents:2: a's optional is “yes”"))
    #expect(wrong.error.contains("contents:3: r's deletionRule is “Explode”"))
    #expect(wrong.error.contains("A.r leads to B, which isn't in the model"))
    #expect(wrong.error.contains("lade-model") && !wrong.error.contains("directories as Xcode writes them"))
    let advised = try await show(
      "<entity name='A'><relationship name='r' toMany='YES' destinationEntity='A'/></entity>")
    #expect(advised.status == 0)
    #expect(advised.output.contains("contents: A.r is to-many and required"))
  }
}
