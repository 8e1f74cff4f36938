import ControlAPI
import Foundation
import Glibc
import Testing

@Suite("A daemon without descriptors", .startsDaemons, .timeLimit(.minutes(20)))
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
}
