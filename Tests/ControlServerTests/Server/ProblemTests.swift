import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import NIOHTTP1
import Testing

@testable import ladectl

@Suite("Problem documents")
struct ProblemTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.GET
    var uri: String
    var body: String?
    var status: Int
    var code: String
    /// What the detail must mention.
    var says: String

    var testDescription: String { "\(method) \(uri) \(body ?? "")" }
  }

  static let cases = [
    Case(uri: "/v1/nothing", status: 404, code: "no_such_route", says: "GET /v1/nothing"),
    Case(method: .DELETE, uri: "/v1/status", status: 405, code: "method_not_allowed", says: "DELETE"),
    Case(method: .GET, uri: "/v1/jobs/1/cancel", status: 405, code: "method_not_allowed", says: "GET"),
    Case(method: .PATCH, uri: "/v1/jobs/events", status: 405, code: "method_not_allowed", says: "PATCH"),
    Case(uri: "/v1/jobs/1/nothing", status: 404, code: "no_such_route", says: "/v1/jobs/1/nothing"),
    Case(method: .POST, uri: "/v1/jobs/1/retry?x=1", status: 400, code: "invalid_query", says: "'x'"),
    Case(method: .POST, uri: "/v1/jobs/1/hold", body: #"{"a": 1}"#, status: 400, code: "unexpected_body", says: "hold"),
    Case(uri: "/v1/batches/7", status: 404, code: "no_such_batch", says: "7"),
    Case(uri: "/v1/batches/x", status: 422, code: "invalid_request", says: "batch"),
    Case(uri: "/v1/stores/none", status: 404, code: "no_such_store", says: "none"),
    Case(method: .POST, uri: "/v1/lanes/none/pause", status: 404, code: "no_such_lane", says: "none"),
    Case(
      method: .PUT, uri: "/v1/lanes/import/concurrency", body: #"{"concurrency": 65}"#, status: 422,
      code: "invalid_request", says: "64"),
    Case(
      method: .PUT, uri: "/v1/lanes/import/concurrency", body: "{}", status: 400, code: "malformed_body",
      says: "concurrency"),
    Case(
      method: .PUT, uri: "/v1/jobs/1/priority", body: #"{"priority": "high"}"#, status: 400, code: "malformed_body",
      says: "priority"),
    Case(
      method: .POST, uri: "/v1/jobs/change", body: #"{"action": "cancel", "filter": {}}"#, status: 422,
      code: "invalid_request", says: "every job"),
    Case(
      method: .POST, uri: "/v1/jobs/change", body: #"{"action": "priority", "filter": {"kind": "import"}}"#,
      status: 422, code: "invalid_request", says: "priority"),
    Case(
      method: .POST, uri: "/v1/jobs/many", body: #"{"jobs": []}"#, status: 422, code: "invalid_request", says: "256"),
    Case(
      method: .POST, uri: "/v1/jobs/many", body: #"{"jobs": [{}, {"source": 3}]}"#, status: 400,
      code: "malformed_body", says: "source"),
    Case(
      method: .POST, uri: "/v1/jobs/many", body: #"{"jobs": [{"source": "a"}]}"#, status: 422, code: "invalid_request",
      says: "absolute"),
    Case(
      method: .POST, uri: "/v1/batches", body: #"{"jobs": []}"#, status: 422, code: "invalid_request", says: "256"),
    Case(
      method: .POST, uri: "/v1/recipes/test", body: #"{"source": "/a", "records": 10001}"#, status: 422,
      code: "invalid_request", says: "10000"),
    Case(
      method: .POST, uri: "/v1/recipes/test", body: #"{"source": "a"}"#, status: 422, code: "invalid_request",
      says: "absolute"),
    Case(uri: "/v1/log?level=loud", status: 400, code: "invalid_query", says: "warning"),
    Case(uri: "/v1/stores?counts=perhaps", status: 400, code: "invalid_query", says: "true or false"),
    Case(uri: "/v1/watch", status: 400, code: "invalid_query", says: "entity"),
    Case(uri: "/v1/watch?entity=Nothing", status: 404, code: "no_such_entity", says: "Nothing"),
    Case(uri: "/v1/watch?entity=Stop&limit=1001", status: 400, code: "invalid_query", says: "1000"),
    Case(
      method: .POST, uri: "/v1/jobs", body: "{\n  \"source\": \"/a\",\n}", status: 400, code: "malformed_body",
      says: "Line 3, column 1"),
    Case(uri: "/v2/status", status: 404, code: "no_such_route", says: "/v2/status"),
    Case(uri: "/v1/jobs/99", status: 404, code: "no_such_job", says: "99"),
    Case(uri: "/v1/jobs/99/events", status: 404, code: "no_such_job", says: "99"),
    Case(uri: "/v1/jobs/abc", status: 422, code: "invalid_request", says: "abc"),
    Case(method: .POST, uri: "/v1/jobs/99/cancel", status: 404, code: "no_such_job", says: "99"),
    Case(uri: "/v1/jobs?state=walking", status: 400, code: "invalid_query", says: "walking"),
    Case(uri: "/v1/status?x=1", status: 400, code: "invalid_query", says: "'x'"),
    Case(uri: "/v1/objects/Stop?limit=10001", status: 400, code: "invalid_query", says: "10000"),
    Case(method: .POST, uri: "/v1/jobs", body: "{", status: 400, code: "malformed_body", says: "Line 1, column 2"),
    Case(method: .POST, uri: "/v1/jobs", status: 400, code: "malformed_body", says: "there is nothing"),
    Case(
      method: .POST, uri: "/v1/jobs", body: #"{"source": "/a", "priority": "high"}"#, status: 400,
      code: "malformed_body", says: "priority"),
    Case(
      method: .POST, uri: "/v1/jobs", body: #"{"source": "/a", "prioritty": 1}"#, status: 400,
      code: "malformed_body", says: "prioritty"),
    Case(
      method: .POST, uri: "/v1/jobs", body: #"{"source": "a.csv"}"#, status: 422, code: "invalid_request",
      says: "absolute"),
    Case(
      method: .POST, uri: "/v1/jobs", body: #"{"source": "/a", "entity": "Nothing"}"#, status: 404,
      code: "no_such_entity", says: "Nothing"),
    Case(
      method: .POST, uri: "/v1/jobs", body: #"{"source": "/a", "recipe": "full"}"#, status: 500,
      code: "internal_error", says: "the disk of the queue store is full"),
  ]

  @Test("every error is answered as a problem with its status, code and detail", arguments: cases)
  func problem(_ wanted: Case) async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let answer = try await ask(server.path, wanted.method, wanted.uri, body: wanted.body.map { Data($0.utf8) })
      #expect(answer.status == wanted.status)
      #expect(answer.contentType == "application/problem+json")
      let problem = try answer.problem()
      #expect(problem.status == wanted.status)
      #expect(problem.code == wanted.code)
      #expect(problem.type == "urn:lade:problem:" + wanted.code)
      #expect(wanted.says.isEmpty || problem.detail.contains(wanted.says))
    }
  }

  @Test("a method that a path hasn't got is refused with those that it has")
  func allow() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      #expect(try await ask(server.path, .PUT, "/v1/jobs").headers["allow"] == ["GET, POST"])
      #expect(try await ask(server.path, .POST, "/v1/jobs/1").headers["allow"] == ["DELETE, GET"])
    }
  }

  @Test(
    "a client of another major version is told so, but for what tells the daemon's version",
    arguments: [
      ("lade-version", "1.0.0", true), ("lade-version", "0.9.9", false), ("user-agent", "ladectl/7.2.0", true),
      ("user-agent", "ladectl/\(LadeVersion.current)", false), ("user-agent", "curl/7.2.0", false),
    ])
  func versions(_ header: String, _ value: String, _ isRefused: Bool) async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let socket = try PlainSocket(connectingTo: server.path)
      try socket.send(
        "GET /v1/lanes HTTP/1.1\r\nHost: laded\r\nConnection: close\r\n\(header): \(value)\r\n\r\n")
      let answer = await socket.receive(until: "never")
      #expect(answer.hasPrefix(isRefused ? "HTTP/1.1 400" : "HTTP/1.1 200"), "\(answer)")
      #expect(answer.contains("version_mismatch") == isRefused)
      #expect(answer.lowercased().contains("lade-version: \(LadeVersion.current)"))
      let again = try PlainSocket(connectingTo: server.path)
      try again.send(
        "GET /v1/status HTTP/1.1\r\nHost: laded\r\nConnection: close\r\n\(header): \(value)\r\n\r\n")
      #expect(await again.receive(until: "never").hasPrefix("HTTP/1.1 200"))
    }
  }

  @Test("a body of a mebibyte is read, and one byte more is refused")
  func bodyLimit() async throws {
    let directory = try TemporaryDirectory()
    let limit = ControlServer<MemoryBackend>.maximumBodySize
    func body(_ size: Int) -> Data {
      let start = Data(#"{"source": "/a.csv", "unique_key": ""#.utf8)
      let end = Data(#""}"#.utf8)
      return start + Data(repeating: UInt8(ascii: "x"), count: size - start.count - end.count) + end
    }
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      #expect(try await ask(server.path, .POST, "/v1/jobs", body: body(limit)).status == 201)
      let answer = try await ask(server.path, .POST, "/v1/jobs", body: body(limit + 1))
      #expect(answer.status == 413)
      #expect(try answer.problem().code == "body_too_large")
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
    }
  }

  @Test("what isn't HTTP doesn't disturb the server")
  func garbage() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let socket = try PlainSocket(connectingTo: server.path)
      try socket.send("\u{1}\u{2}\u{3} hello\r\n\r\n")
      #expect(await socket.receive(until: "never").hasPrefix("HTTP/1.1 400"))
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
    }
  }
}
