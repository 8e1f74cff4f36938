import ControlAPI
import ControlTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ControlServer

@Suite("Limits of connections", .timeLimit(.minutes(20)))
struct ConnectionLimitsTests {
  private static let request = "GET /v1/status HTTP/1.1\r\nHost: lade\r\n\r\n"

  /// Limits for everybody, with so much patience that a busy machine doesn't matter.
  private static func patient(ofAll: Int, ofOne: Int) -> ConnectionLimits {
    ConnectionLimits(ofAll: ofAll, ofOne: ofOne, trusted: [], patience: .seconds(1000), idle: .seconds(1000))
  }

  /// A server for which the tests' own user is one like any other.
  private func serving(
    _ limits: ConnectionLimits, _ body: (RunningServer, RequestMeter) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let meter = RequestMeter(limits: limits)
    try await RunningServer.with(MemoryBackend(), meter: meter, at: directory.file("s")) { server async throws in
      try await body(server, meter)
    }
  }

  /// Clients whose first request is answered, so that their connections count.
  private func clients(_ count: Int, of server: RunningServer) async throws -> [PlainSocket] {
    var clients: [PlainSocket] = []
    for _ in 0..<count {
      let client = try PlainSocket(connectingTo: server.path)
      try client.send(Self.request)
      #expect(await client.receive(until: "}").hasPrefix("HTTP/1.1 200"))
      clients.append(client)
    }
    return clients
  }

  private func problem(_ answer: String) throws -> Problem {
    let body = try #require(answer.range(of: "\r\n\r\n"))
    return try WireFormat.decode(Problem.self, from: Data(answer[body.upperBound...].utf8))
  }

  @Test("a refused client that asks nothing is answered after a moment, and nothing comes after the answer")
  func silent() async throws {
    try await serving(ConnectionLimits(ofAll: 100, ofOne: 4, trusted: [])) { server, _ async throws in
      let held = try await clients(4, of: server)
      let silent = try PlainSocket(connectingTo: server.path)
      let answer = await silent.receive(until: "}")
      #expect(answer.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n") && answer.contains("connection: close"))
      let refusal = try problem(answer)
      #expect(refusal.code == "too_many_connections" && refusal.status == 429)
      #expect(refusal.detail == "Your user has 4 connections, as many as one user can have.")
      #expect(await silent.receive(until: "never") == "")
      withExtendedLifetime(held) {}
    }
  }

  @Test("a user who has as many as one can have is refused until one is closed")
  func ofOne() async throws {
    try await serving(Self.patient(ofAll: 100, ofOne: 4)) { server, meter async throws in
      var held = try await clients(4, of: server)
      #expect(try await ask(server.path, .GET, "/v1/status").problem().code == "too_many_connections")
      #expect(try await ask(server.path, .GET, "/v1/status").problem().code == "too_many_connections")
      #expect(meter.connections.open == 4 && meter.connections[.user] == 2 && meter.connections[.all] == 0)
      // It is this user's own business.
      #expect(meter.connections.health.status == .pass)
      held.removeLast()
      var after = try await ask(server.path, .GET, "/metrics")
      while after.status == 429 { after = try await ask(server.path, .GET, "/metrics") }
      let text = try PrometheusText(String(decoding: after.body, as: UTF8.self))
      #expect(text.value("lade_connections") == 4)
      #expect(try #require(text.value("lade_connections_refused_total", ["reason": "user"])) >= 2)
      #expect(text.value("lade_connections_refused_total", ["reason": "all"]) == 0)
      withExtendedLifetime(held) {}
    }
  }

  @Test("when all users together have as many as they can have, others are told to come back, and health warns")
  func ofAll() async throws {
    // Enough that the server waits for each client that is refused here.
    try await serving(Self.patient(ofAll: 32, ofOne: 100)) { server, meter async throws in
      var held = try await clients(32, of: server)
      let refusal = try await ask(server.path, .GET, "/v1/status").problem()
      #expect(refusal.status == 503 && refusal.code == "too_many_connections")
      #expect(refusal.detail == "All users together have 32 connections, as many as they can have.")
      held.removeLast()
      var health = try await ask(server.path, .GET, "/v1/health")
      while health.status == 503 { health = try await ask(server.path, .GET, "/v1/health") }
      let checks = try WireFormat.decode(Health.self, from: health.body).checks
      #expect(checks["connections"]?.first?.status == .warn)
      #expect(meter.connections[.all] >= 1)
      withExtendedLifetime(held) {}
    }
  }

  @Test("the daemon's own user always gets a connection")
  func trusted() async throws {
    try await serving(ConnectionLimits(ofAll: 1, ofOne: 1)) { server, _ async throws in
      _ = try await clients(20, of: server)
    }
  }

  @Test("a refused client may send its request before it reads the answer")
  func late() async throws {
    try await serving(Self.patient(ofAll: 1, ofOne: 1)) { server, meter async throws in
      let held = try await clients(1, of: server)
      let late = try PlainSocket(connectingTo: server.path)
      while meter.connections[.user] == 0 { await Task.yield() }
      try late.send(Self.request)
      #expect(await late.receive(until: "}").hasPrefix("HTTP/1.1 429"))
      withExtendedLifetime(held) {}
    }
  }

  @Test("each user has a share, those who come over TCP one together, and root counts for nothing")
  func shares() {
    let counts = ConnectionCounts(ConnectionLimits(ofAll: 5, ofOne: 2, trusted: [0]))
    for holder in [ConnectionHolder.user(1), .user(2), .network] {
      #expect(counts.came(holder) == nil)
      if holder != .network { #expect(counts.came(holder) == nil) }
    }
    #expect(counts.came(.user(1)) == .user)
    #expect(counts.came(.network) == .all && counts.came(.user(3)) == .all)
    for _ in 0..<10 { #expect(counts.came(.user(0)) == nil) }
    #expect(counts.open == 15)
    #expect(counts.mostHeld == "user 1: 2, user 2: 2, clients over TCP: 1")
    counts.left(.user(0))
    #expect(counts.came(.user(3)) == .all)
    counts.left(.user(1))
    #expect(counts.came(.network) == nil)
    #expect(counts.came(.network) == .user)
  }

  @Test("a refusal is logged once in a while, and one user's doesn't hide another's")
  func logged() {
    let counts = ConnectionCounts(ConnectionLimits(ofAll: 5, ofOne: 2))
    let now = ContinuousClock.now
    #expect(counts.note(.user, of: .user(1), at: now))
    #expect(!counts.note(.user, of: .user(1), at: now))
    #expect(counts.note(.user, of: .user(2), at: now) && counts.note(.user, of: .network, at: now))
    #expect(counts.note(.all, trouble: "there are too many", at: now))
    #expect(counts[.user] == 4 && counts[.all] == 1)
    #expect(counts.note(.user, of: .user(1), at: now + .seconds(60)))
    #expect(counts.health.status == .warn && counts.health.output?.contains("there are too many") == true)
  }

  @Test("one who has many user numbers doesn't fill the log")
  func manyUsers() {
    let counts = ConnectionCounts(ConnectionLimits(ofAll: 5, ofOne: 2))
    let now = ContinuousClock.now
    let users: ClosedRange<UInt32> = 1...1000
    #expect(users.count { counts.note(.user, of: .user($0), at: now) } == 32)
    #expect(counts.note(.all, at: now))
    #expect(counts[.user] == 1000)
    // A minute later the first ones don't count any more.
    #expect(counts.note(.user, of: .user(1001), at: now + .seconds(60)))
  }

  @Test("refused clients that are waited for never take more than a share of what users can have")
  func waitingRefused() {
    func most(_ ofAll: Int) -> Int { ConnectionLimits(ofAll: ofAll, ofOne: 1).waitingRefused }
    #expect(most(4) == 1 && most(8) == 2 && most(128) == 32 && most(1 << 19) == 64)
  }

  @Test("the limits are shares of the descriptors that the process may have")
  func ofProcess() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let limits = ConnectionLimits.ofProcess
    #expect(limits.ofAll == Int(clamping: limit.rlim_cur) / 2 && limits.ofOne == limits.ofAll / 4)
    #expect(limits.trusted == [0, geteuid()])
  }

  @Test(
    "what jobs and stores need isn't for connections, not even for those of root", arguments: [64, 128, 1024, 16_384])
  func reserved(descriptors: Int) {
    let reserved = 56
    let limits = ConnectionLimits.ofProcess(with: descriptors, reserving: reserved)
    #expect(limits.ofOne >= 1 && limits.ofOne <= limits.ofAll && limits.ofAll <= limits.ofEverybody)
    #expect(limits.ofEverybody + limits.waitingRefused + reserved <= descriptors)
    let counts = ConnectionCounts(limits)
    for _ in 0..<limits.ofEverybody { #expect(counts.came(.user(0)) == nil) }
    #expect(counts.came(.user(0)) == .descriptors && counts.came(.user(54_321)) == .descriptors)
    #expect(counts.open == limits.ofEverybody)
    counts.left(.user(0))
    #expect(counts.came(.user(54_321)) == nil)
  }
}
