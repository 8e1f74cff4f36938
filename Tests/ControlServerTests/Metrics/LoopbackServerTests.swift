import ControlAPI
import ControlTestSupport
import Foundation
import Glibc
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import ControlServer

@Suite("Metrics on TCP")
struct LoopbackServerTests {
  /// Runs a server on a port of its own while `body` runs.
  private func serving(
    _ backend: MemoryBackend = MemoryBackend(), meter: RequestMeter = RequestMeter(), token: String? = nil,
    _ body: (UInt16) async throws -> Void
  ) async throws {
    let listener = try LoopbackListener(at: LoopbackAddress("127.0.0.1:0"))
    let port = try #require(listener.address.split(separator: ":").last.flatMap { UInt16($0) })
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = LoopbackServer(
      backend: backend, meter: meter, listeners: [listener], token: token.map { AccessToken($0) },
      logger: logger, grace: .seconds(600))
    let group = ServiceGroup(services: [server], logger: logger)
    async let running: Void = group.run()
    // Who connects before it accepts waits.
    do {
      try await body(port)
    } catch {
      await group.triggerGracefulShutdown()
      try await running
      throw error
    }
    await group.triggerGracefulShutdown()
    try await running
  }

  @Test("metrics, health and readiness are answered, and nothing else")
  func routes() async throws {
    let backend = MemoryBackend()
    try await serving(backend) { port async throws in
      let metrics = try await tcp("/metrics", port: port)
      #expect(metrics.status == 200)
      #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      let text = try PrometheusText(metrics.text)
      #expect(text.value("lade_jobs", ["lane": "import", "state": "running"]) == 1)
      #expect(text.value("lade_listeners") == 0)
      #expect(try await tcp("/v1/ready", port: port).status == 200)
      #expect(try await tcp("/v1/health", port: port).status == 200)
      backend.hangs = true
      let health = try await tcp("/v1/health", port: port)
      #expect(health.status == 503)
      #expect(health.headers["content-type"] == Health.contentType)
      #expect(try WireFormat.decode(Health.self, from: health.body).output == "the main queue: no answer for 7 s")
      for uri in ["/", "/v1/status", "/v1/jobs", "/v1/openapi.yaml", "/metrics/x", "/v1/health/x"] {
        let answer = try await tcp(uri, port: port)
        #expect(answer.status == 404, "\(uri)")
        let problem = try WireFormat.decode(Problem.self, from: answer.body)
        #expect(problem.code == "no_such_route", "\(uri)")
        #expect(problem.hint?.contains("It has /metrics, /v1/health, /v1/ready") == true, "\(problem)")
      }
      for (method, uri, status) in [
        ("POST", "/metrics", 405), ("DELETE", "/v1/health", 405), ("POST", "/v1/jobs", 404),
        ("POST", "/v1/reload", 404),
      ] {
        let answer = try await tcp(method, uri, port: port)
        #expect(answer.status == status, "\(method) \(uri)")
        #expect(answer.headers["content-type"] == Problem.contentType)
        if status == 405 { #expect(answer.headers["allow"] == "GET") }
      }
    }
  }

  @Test("who comes over TCP isn't trusted, and is refused beyond the share of one user")
  func limit() async throws {
    try await serving(meter: RequestMeter(limits: ConnectionLimits(ofAll: 10, ofOne: 0))) { port async throws in
      let answer = try await tcp("/metrics", port: port)
      #expect(answer.status == 429 && answer.headers["content-type"] == Problem.contentType)
      let problem = try WireFormat.decode(Problem.self, from: answer.body)
      #expect(problem.code == "too_many_connections")
      #expect(problem.detail == "Clients over TCP have 0 connections, as many as one user can have.")
    }
  }

  @Test("HEAD is answered as GET, without a body")
  func head() async throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else { return print("there is no curl") }
    try await serving(MemoryBackend()) { port async throws in
      let run = try await LadectlProcess.run(
        program: "/usr/bin/curl", ["--silent", "--head", "http://127.0.0.1:\(port)/v1/health"])
      #expect(run.status == 0 && run.output.hasPrefix("HTTP/1.1 200"), "\(run.output)\(run.error)")
      #expect(run.output.hasSuffix("\r\n\r\n"), "\(run.output)")
    }
  }

  @Test("with a token, a client with another or none learns nothing")
  func token() async throws {
    try await serving(token: "s3cret-token") { port async throws in
      for header in [
        nil, "Bearer", "Bearer s3cret", "Bearer s3cret-tokem", "Bearer s3cret-token2", "Basic s3cret-token",
        "s3cret-token",
        "Bearer s3cret-token s3cret-token",
      ] {
        for uri in ["/metrics", "/v1/health", "/v1/ready", "/nothing"] {
          let answer = try await tcp(uri, port: port, headers: header.map { ["Authorization": $0] } ?? [:])
          #expect(answer.status == 401, "\(header ?? "") \(uri)")
          #expect(answer.headers["www-authenticate"] == "Bearer realm=\"laded\"")
          #expect(try WireFormat.decode(Problem.self, from: answer.body).code == "unauthorized")
          #expect(!answer.text.contains("s3cret"))
        }
      }
      for header in ["Bearer s3cret-token", "bearer  s3cret-token"] {
        #expect(try await tcp("/metrics", port: port, headers: ["Authorization": header]).status == 200)
      }
      #expect(try await tcp("/nothing", port: port, headers: ["Authorization": "Bearer s3cret-token"]).status == 404)
    }
  }

  @Test("a token is matched as a whole, and shown by nothing")
  func accessToken() {
    let token = AccessToken("abc")
    #expect(token.matches("abc"))
    for other in ["", "ab", "abd", "abcd", "ABC", "abc\0"] { #expect(!token.matches(other), "\(other)") }
    #expect(AccessToken("abc") == token && AccessToken("abd") != token)
    var dumped = ""
    dump(["token": Optional(token)], to: &dumped)
    for text in ["\(token)", String(reflecting: token), "\(Optional(token) as Any)", dumped] {
      #expect(!text.contains("abc") && !text.contains("97"), "\(text)")
    }
  }

  @Test(
    "addresses of this machine alone are taken",
    arguments: [
      ("127.0.0.1:9464", "127.0.0.1:9464"), ("localhost:1", "127.0.0.1:1"), ("LOCALHOST:1", "127.0.0.1:1"),
      ("127.9.8.7:65535", "127.9.8.7:65535"), ("[::1]:0", "[::1]:0"), ("[0:0::1]:80", "[::1]:80"),
    ])
  func addresses(_ text: String, _ shown: String) throws {
    #expect(try LoopbackAddress(text).description == shown)
  }

  @Test(
    "others are refused, and so is what isn't an address",
    arguments: [
      ("0.0.0.0:9464", LoopbackAddress.Mistake.notLoopback), ("192.168.1.1:9464", .notLoopback),
      ("[::]:9464", .notLoopback),
      ("[::ffff:127.0.0.1]:9464", .notLoopback), ("example.org:80", .notLoopback),
      ("localhost.example.org:80", .notLoopback),
      ("127.1:80", .notLoopback), ("9464", .form), ("127.0.0.1", .form), (":9464", .form), ("127.0.0.1:", .form),
      ("127.0.0.1:65536", .form), ("127.0.0.1:-1", .form), ("127.0.0.1:+1", .form), ("::1:9464", .form),
      ("[::1]", .form),
      ("[x]:80", .form),
    ])
  func refused(_ text: String, _ mistake: LoopbackAddress.Mistake) {
    #expect(throws: mistake, "\(text)") { try LoopbackAddress(text) }
  }

  @Test("a port that somebody listens on is theirs, and it is said")
  func inUse() throws {
    let first = try LoopbackListener(at: LoopbackAddress("127.0.0.1:0"))
    defer { close(first.descriptor) }
    #expect(first.isLoopback)
    let error = #expect(throws: LoopbackError.inUse(address: first.address, .metrics)) {
      try LoopbackListener(at: LoopbackAddress(first.address))
    }
    #expect(error?.description.contains("give metrics.address another port") == true)
  }
}
