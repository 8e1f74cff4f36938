import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ladectl

/// What comes on the socket may be anything.
@Suite("Requests that aren't HTTP")
struct BrokenRequestTests {
  private func answer(to request: String, of server: RunningServer) async throws -> (head: String, problem: Problem) {
    let client = try PlainSocket(connectingTo: server.path)
    try client.send(request)
    let text = await client.receive(until: "}")
    let parts = try #require(text.range(of: "\r\n\r\n"))
    let body = Data(text[parts.upperBound...].utf8)
    return (String(text[..<parts.lowerBound]), try WireFormat.decode(Problem.self, from: body))
  }

  @Test("a body in broken chunks is the client's mistake")
  func chunks() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let request =
        "POST /v1/jobs HTTP/1.1\r\nHost: lade\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\n{\"a\":\r\nnot a length\r\n1}\r\n0\r\n\r\n"
      let (head, problem) = try await answer(to: request, of: server)
      #expect(head.hasPrefix("HTTP/1.1 400"))
      #expect(problem.status == 400 && problem.code == "malformed_request")
    }
  }

  @Test("what isn't a request is answered with a problem document")
  func garbage() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let (head, problem) = try await answer(to: "hello, are you there?\r\n\r\n", of: server)
      #expect(head.hasPrefix("HTTP/1.1 400") && head.lowercased().contains("application/problem+json"))
      #expect(problem.code == "malformed_request")
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
    }
  }

  @Test("a URL that is too long is answered with a problem document")
  func longURL() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let uri = "/v1/objects/Stop?where=" + String(repeating: "x", count: 90_000)
      let (head, problem) = try await answer(to: "GET \(uri) HTTP/1.1\r\nHost: lade\r\n\r\n", of: server)
      #expect(head.hasPrefix("HTTP/1.1 431"))
      #expect(problem.status == 431 && problem.code == "request_too_long")
    }
  }
}
