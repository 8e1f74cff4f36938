import ControlAPI
import ControlServer
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
    Case(method: .DELETE, uri: "/v1/status", status: 404, code: "no_such_route", says: "DELETE"),
    Case(uri: "/v2/status", status: 404, code: "no_such_route", says: "/v2/status"),
    Case(uri: "/v1/jobs/99", status: 404, code: "no_such_job", says: "99"),
    Case(uri: "/v1/jobs/99/events", status: 404, code: "no_such_job", says: "99"),
    Case(uri: "/v1/jobs/abc", status: 422, code: "invalid_request", says: "abc"),
    Case(method: .POST, uri: "/v1/jobs/99/cancel", status: 404, code: "no_such_job", says: "99"),
    Case(uri: "/v1/jobs?state=walking", status: 400, code: "invalid_query", says: "walking"),
    Case(uri: "/v1/status?x=1", status: 400, code: "invalid_query", says: "'x'"),
    Case(uri: "/v1/objects/Stop?limit=10001", status: 400, code: "invalid_query", says: "10000"),
    Case(method: .POST, uri: "/v1/jobs", body: "{", status: 400, code: "malformed_body", says: ""),
    Case(method: .POST, uri: "/v1/jobs", status: 400, code: "malformed_body", says: ""),
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
