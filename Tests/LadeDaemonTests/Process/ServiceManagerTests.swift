import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A daemon and its service manager", .startsDaemons)
struct ServiceManagerTests {
  /// One batch is the whole file: a stop has to wait for it.
  private static let recipes = "  members: { store: main, entity: Member, mode: insert, batch_size: 1000000 }"

  @Test("it asks for time while it starts, and pings the watchdog as often as that wants")
  func watchdog() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try folder.launch(["WATCHDOG_USEC": "400000"])
    try await daemon.ready()
    try await daemon.tells("WATCHDOG=1", times: 3)
    let notices = daemon.notices
    let asked = try #require(notices.firstIndex { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") })
    let ready = try #require(notices.firstIndex(of: "READY=1"))
    #expect(asked < ready)
    try await daemon.stop()
    #expect(try !daemon.log.contains("watchdog"))
  }

  @Test("the first SIGTERM waits for a batch, the second for nothing; each row is there once")
  func twice() async throws {
    let members = Members(rows: 200_000, faults: 0)
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes, more: "drain_timeout: 600s")
    let daemon = try await folder.start()
    try folder.drop(members.csv, as: "members.csv", into: "members")
    let job = try #require(try await folder.jobs().first)
    _ = try await JobEvents(of: job.id, socket: folder.file("s")).first { $0.state == .running }
    daemon.terminate()
    try await daemon.tells("STOPPING=1")
    daemon.terminate()
    let ending = try await daemon.ended()
    // A batch that was just over let it end by itself.
    #expect([.signal(SIGTERM), .exit(0)].contains(ending))
    let next = try await folder.start()
    #expect(try await folder.ended(job.id).state == .completed)
    #expect(try await folder.count("Member") == members.good)
    try await next.stop()
  }

  @Test("SIGUSR1 writes to the log what it does, SIGHUP doesn't end it")
  func dump() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    daemon.send(SIGHUP)
    daemon.send(SIGUSR1)
    try await daemon.logs("state: memory")
    let log = try daemon.log
    for words in [
      "state: lane import: 0 of 1 running", "state: store main: \(folder.file("main.sqlite"))", "open files",
    ] {
      #expect(log.contains(words), "\(log)")
    }
    try await daemon.stop()
  }

  @Test(
    "a socket that its service manager listens on is served, by the first who connects",
    .enabled("it takes systemd-socket-activate") { Products.system("systemd-socket-activate") != nil })
  func activation() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let listening = try FolderWatch(folder.path)
    let daemon = try folder.launch(by: Products.activating(on: folder.file("s"), as: "control"))
    try await listening.appearance(of: "s")
    #expect(try await folder.asked(Status.self, "status").spool == folder.file("spool"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("s.lock")))
    try await daemon.stop()
  }
}
