import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("The life of a daemon process", .startsDaemons)
struct LifeCycleTests {
  private static let recipes = "  members: { store: main, entity: Member, mode: insert, batch_size: 500 }"

  @Test("SIGTERM ends a running import at a batch, and the next daemon goes on from there")
  func drains() async throws {
    let members = Members(rows: 100_000, faults: 50)
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes, more: "drain_timeout: 60s")
    let point = try KillPoint(in: folder, watch: "/main.sqlite", waits: true)
    let first = try folder.launch(point.environment)
    try await first.ready()
    try point.arm(Members.early)
    try folder.drop(members.csv, as: "members.csv", into: "members")
    let job = try #require(try await folder.jobs().first)
    try await point.reached(Members.early)
    first.terminate()
    try await first.tells("STATUS=stopping")
    // The services end one after the other. The import is asked to stop long before its last batch.
    try point.letGo()
    #expect(try await first.ended() == .exit(0))
    #expect(first.notices.contains("STOPPING=1"))
    #expect(first.notices.contains { $0.hasPrefix("STATUS=stopping") })

    let records = try await folder.sqlite("SELECT record, rejected FROM _lade_checkpoint").split(separator: ",")
    try #require(records.count == 2)
    let (read, rejected) = try (#require(Int(records[0])), #require(Int(records[1])))
    #expect(read.isMultiple(of: 500) && (500..<100_000).contains(read))
    #expect(try await folder.sqlite("SELECT count(*) FROM Member") == "\(read - rejected)")
    #expect(
      try await folder.sqlite("SELECT state, reason FROM Job", in: "state/queue.sqlite")
        == "'available','the daemon stopped'")

    let second = try await folder.start()
    let ended = try await folder.ended(job.id)
    #expect(ended.state == .completed)
    #expect(ended.progress.inserted == Int64(members.good))
    #expect(ended.progress.rejected == Int64(members.rejects.count))
    #expect(try await folder.count("Member") == members.good)
    #expect(ended.transitions?.contains { $0.to == .available && $0.reason == "the daemon stopped" } == true)
    try await second.stop()
  }

  @Test("a daemon without work ends at once, and tells the service manager how it is")
  func idle() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    #expect(try await folder.ladectl("status").status == 0)
    // It follows READY in a notification of its own.
    while !daemon.notices.contains("STATUS=0 available, 0 running") { _ = try await folder.ladectl("status") }
    try await daemon.stop()
    #expect(!FileManager.default.fileExists(atPath: folder.file("s")))
    let run = try await folder.ladectl("list")
    #expect(run.status == 5)
    #expect(run.error.contains("laded isn't running"))
  }

  @Test("a second daemon on the same directories is refused, and names the first")
  func second() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let first = try await folder.start()
    let second = try folder.launch()
    #expect(try await second.ended() == .exit(75))
    let log = try second.log
    #expect(log.contains("another laded (process \(first.pid)) works on \(folder.file("state"))"), "\(log)")
    #expect(log.contains("stop it, or give this one directories of its own"))
    #expect(try await folder.asked(Status.self, "status").pid == first.pid)
    // Nor is one with a state of its own, on the same spool.
    let other = try folder.text("lade.yaml").replacingOccurrences(of: "state: state", with: "state: state2")
    let third = try DaemonProcess(
      configuration: folder.write(other.replacingOccurrences(of: "socket: s", with: "socket: s2"), to: "other.yaml"),
      files: folder.file("third"))
    #expect(try await third.ended() == .exit(75))
    #expect(try third.log.contains("another laded (process \(first.pid)) works on \(folder.file("spool"))"))
    // The lock goes with the process, however it ends.
    try await first.kill()
    let last = try await folder.start()
    #expect(try await folder.asked(Status.self, "status").pid == last.pid)
    try await last.stop()
  }

  @Test(
    "a configuration with mistakes ends with status 78, reports all, and makes nothing")
  func badConfiguration() async throws {
    let folder = try DaemonFolder(model: Members.model)
    try folder.write(
      """
      spol: spool
      state: state
      socket: s
      drain_timeout: soon
      stores: { main: { path: main.sqlite } }
      recipes:
        members: { store: mian, entity: Member, batch_size: 0 }
      """, to: "lade.yaml")
    let problems = [
      "lade.yaml:1", "spol", "lade.yaml:4", "soon", "lade.yaml:5", "model", "lade.yaml:7", "mian", "batch_size",
    ]
    let daemon = try folder.launch()
    #expect(try await daemon.ended() == .exit(78))
    let log = try daemon.log
    for words in problems { #expect(log.contains(words), "\(log)") }
    let check = try await laded(folder, "--check-config")
    #expect(check.status == 78)
    for words in problems { #expect(check.error.contains(words), "\(check.error)") }
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
  }

  @Test("recipes that no file could be imported by end the start, all of them reported")
  func badRecipes() async throws {
    let folder = try DaemonFolder(
      model: Members.model,
      recipes: """
          good: { store: main, entity: Member }
          typo: { store: main, entity: Membre }
          zone: { store: main, entity: Member, properties: { joined: { time_zone: Europe/Berln }, nam: Name } }
          filter: { store: main, entity: Member, filter: "age >" }
          feed: { store: main, entity: "*", filter: "colour = 1" }
          part: { store: main, entity: "*", properties: { Member.age: { constant: old } } }
        """)
    let problems = [
      "recipe typo: entity: store main has no entity Membre", "recipe zone:", "nam", "recipe filter:", "recipe feed:",
      "recipe part:",
    ]
    let daemon = try folder.launch()
    #expect(try await daemon.ended() == .exit(78))
    let log = try daemon.log
    for words in problems { #expect(log.contains(words), "\(log)") }
    #expect(!log.contains("recipe good"))
    let check = try await laded(folder, "--check-config")
    #expect(check.status == 78)
    for words in problems { #expect(check.error.contains(words), "\(check.error)") }
    // No store is made, and none migrated, by a configuration that isn't worked by.
    for name in ["state", "spool", "main.sqlite"] {
      #expect(!FileManager.default.fileExists(atPath: folder.file(name)))
    }
  }

  @Test("--check-config says that a configuration is good, and starts nothing")
  func checkConfiguration() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let check = try await laded(folder, "--check-config")
    #expect(check.status == 0)
    #expect(check.text.contains("good"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
    #expect(!FileManager.default.fileExists(atPath: folder.file("spool")))
  }

  @Test("a model that can't be read ends the start with its file and line")
  func badModel() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let contents = "Model.xcdatamodeld/Model 1.xcdatamodel/contents"
    try folder.write(try folder.text(contents).replacingOccurrences(of: "</model>", with: "</modl>"), to: contents)
    let daemon = try folder.launch()
    #expect(try await daemon.ended() == .exit(78))
    let log = try daemon.log
    #expect(log.contains("store main can't be opened"), "\(log)")
    #expect(log.contains("contents:"), "\(log)")
  }

  private func laded(_ folder: DaemonFolder, _ arguments: String...) async throws -> ProgramOutput {
    try await ProgramOutput.of(
      Products.laded, ["--config", folder.file("lade.yaml")] + arguments, environment: Products.environment([:]),
      files: folder.file("laded"))
  }
}
