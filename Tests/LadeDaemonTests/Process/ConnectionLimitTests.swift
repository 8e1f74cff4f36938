import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A daemon without descriptors", .startsDaemons)
struct ConnectionLimitTests {
  @Test("refuses clients in words, says so in its log and in its health, and goes on when there are some again")
  func refuses() async throws {
    let prlimit = try #require(Products.system("prlimit"), "util-linux isn't installed")
    let folder = try DaemonFolder(model: Members.model)
    let daemon = try await folder.start(by: [prlimit.path, "--nofile=128"])
    var held: [Int32] = []
    defer { for descriptor in held { close(descriptor) } }
    for _ in 0..<200 { held.append(try DaemonFolder.connected(to: folder.file("s"), asking: "")) }
    let answer = try await folder.http("GET", "/v1/status")
    #expect(answer.status == 503, "\(answer.text)")
    #expect(try answer.decoded(as: Problem.self).code == "unavailable")
    try await daemon.logs("connections can't be accepted")

    for descriptor in held { close(descriptor) }
    held = []
    var health = try await folder.http("GET", "/v1/health")
    while health.status == 503 { health = try await folder.http("GET", "/v1/health") }
    #expect(health.status == 200)
    let checks = try health.decoded(as: Health.self).checks
    #expect(checks["connections"]?.first?.status == .warn, "\(health.text)")
    #expect(try await folder.http("GET", "/metrics").text.contains("lade_connections_refused_total"))
    try await daemon.stop()
  }

  @Test(
    "one user's connections leave room for another's",
    .enabled("it takes root, setpriv and curl to be somebody else") {
      geteuid() == 0 && Products.system("setpriv") != nil && Products.system("curl") != nil
    })
  func shares() async throws {
    let prlimit = try #require(Products.system("prlimit"), "util-linux isn't installed")
    let folder = try DaemonFolder(model: Members.model)
    // The folder is root's alone otherwise; the socket's own mode is what counts here.
    chmod(folder.path, 0o755)
    let daemon = try await folder.start(by: [prlimit.path, "--nofile=256"])
    // One user can have 32 of them.
    let greedy = try client(folder, user: 54321, Array(repeating: Endpoint.allJobEvents.path, count: 48))
    var text = ""
    while !text.contains(#"lade_connections_refused_total{reason="user"}"#)
      || text.contains(#"lade_connections_refused_total{reason="user"} 0"#)
    {
      text = try await folder.http("GET", "/metrics").text
    }
    try await daemon.logs("connections are refused: user 54321 has 32 connections")
    let refused = try client(folder, user: 54321, [Endpoint.status.path])
    #expect(try await refused.ending.value() == .exit(0))
    #expect(try String(contentsOfFile: refused.output, encoding: .utf8).contains("too_many_connections"))
    let other = try client(folder, user: 54322, [Endpoint.status.path])
    #expect(try await other.ending.value() == .exit(0))
    #expect(try String(contentsOfFile: other.output, encoding: .utf8).contains("\"version\""))
    greedy.send(SIGKILL)
    try await daemon.stop()
  }

  /// Asks as another user in the socket's group, all at the same time.
  private func client(_ folder: DaemonFolder, user: Int, _ paths: [String]) throws -> ChildProcess {
    try ChildProcess(
      try #require(Products.system("setpriv")),
      [
        "--reuid=\(user)", "--regid=\(getegid())", "--clear-groups", "curl", "--silent", "--no-buffer", "--parallel",
        "--parallel-immediate", "--parallel-max", "\(paths.count)", "--unix-socket", folder.file("s"),
      ] + paths.map { "http://laded" + $0 }, environment: Products.environment([:]), files: folder.nextRun())
  }
}
