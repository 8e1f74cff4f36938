import Foundation
import Glibc
import TestSupport
import Testing

@Suite("What a daemon doesn't start with", .startsDaemons)
struct StartRefusalTests {
  private func folder() throws -> DaemonFolder {
    try DaemonFolder(model: Members.model, recipes: "  members: { store: main, entity: Member }")
  }

  @Test("a file that isn't a store ends it with status 65, and stays as it is")
  func notAStore() async throws {
    let folder = try folder()
    let text = String(repeating: "number,name\n1,Ada\n", count: 1000)
    try folder.write(text, to: "main.sqlite")
    let daemon = try folder.launch()
    #expect(try await daemon.ended() == .exit(65))
    #expect(
      try daemon.log.contains("store main can't be opened: \(folder.file("main.sqlite")): file is not a database"))
    #expect(try folder.text("main.sqlite") == text)
    #expect(daemon.notices.contains { $0.hasPrefix("STATUS=failed: store main can't be opened") })
    #expect(!daemon.notices.contains("READY=1"))
  }

  /// What belongs to root, and may not be written to by others.
  enum Place: String, CaseIterable, Sendable {
    case store = "main.sqlite", state, active = "spool/active"
  }

  @Test(
    "what belongs to somebody else ends it with status 77, with owner, mode and what to do",
    .enabled("it takes root and setpriv to be somebody else") { geteuid() == 0 && Products.system("setpriv") != nil },
    arguments: Place.allCases)
  func somebodyElses(_ place: Place) async throws {
    let folder = try folder()
    chmod(folder.path, 0o777)
    let setpriv = try #require(Products.system("setpriv")).path
    let nobody = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]
    let first = try await folder.start(by: nobody)
    try await first.stop()
    let path = folder.file(place.rawValue)
    try #require(chown(path, 0, 0) == 0 && chmod(path, place == .store ? 0o600 : 0o700) == 0)
    let daemon = try folder.launch(by: nobody)
    #expect(try await daemon.ended() == .exit(77))
    let log = try daemon.log
    #expect(log.contains("\(path) belongs to user root, its mode is \(place == .store ? 600 : 700)"), "\(log)")
    #expect(log.contains("the daemon runs as user nobody: give it to that user (chown)"), "\(log)")
    // Given back, it goes on.
    try #require(chown(path, 65534, 65534) == 0)
    let last = try await folder.start(by: nobody)
    try await last.stop()
  }
}
