import ControlAPI
import ControlTestSupport
import Foundation
import Glibc
import Testing

@testable import ladectl

/// A request that submits one job is answered without the routes where that is possible. Clients mustn't see a difference.
@Suite("Single submissions")
struct SubmissionTests {
  private let body = #"{"kind": "vacuum", "lane": "maintenance"}"#

  private func request(_ body: String, fields: String = "") -> String {
    "POST /v1/jobs HTTP/1.1\r\nHost: lade\r\nContent-Type: application/json\r\n\(fields)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private func problem(in answer: String) throws -> Problem {
    let end = try #require(answer.range(of: "\r\n\r\n"))
    return try WireFormat.decode(Problem.self, from: Data(answer[end.upperBound...].utf8))
  }

  /// What a server answers to these bytes, up to the end of the connection.
  private func answer(to bytes: String, of server: RunningServer) async throws -> String {
    let client = try PlainSocket(connectingTo: server.path)
    try client.send(bytes)
    #expect(shutdown(client.descriptor, Int32(SHUT_WR)) == 0)
    return await client.receive(until: "(the end)")
  }

  @Test("a submission has the answer that its route gives")
  func sameAnswer() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let direct = try await answer(to: request(body), of: server)
      #expect(backend.submittedAtOnce == 1)
      let routed = try await answer(
        to: request(body, fields: "User-Agent: ladectl/\(LadeVersion.current)\r\n"), of: server)
      #expect(backend.submittedAtOnce == 1)
      /// Without what differs from job to job.
      func shape(_ answer: String) -> [String] {
        let head = answer.components(separatedBy: "\r\n\r\n")[0]
        let own = answer.replacing(/"(id|submitted_at|available_at)":("[^"]*"|\d+)/, with: "")
        let fields = head.components(separatedBy: "\r\n").map { $0.lowercased() }.filter {
          !$0.hasPrefix("date") && !$0.hasPrefix("location")
        }
        return fields.sorted() + [String(own.components(separatedBy: "\r\n\r\n")[1])]
      }
      #expect(direct.hasPrefix("HTTP/1.1 201 Created\r\n"))
      #expect(direct.lowercased().contains("location: /v1/jobs/1\r\n"))
      #expect(shape(direct) == shape(routed))
      #expect(backend.peers.allSatisfy { $0.uid == getuid() } && backend.peers.count == 2)
    }
  }

  @Test("requests that come together are answered in their order")
  func pipelined() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let get = "GET /v1/jobs/77 HTTP/1.1\r\nHost: lade\r\n\r\n"
      let text = try await answer(to: request(body) + request(body) + get + request(body) + get, of: server)
      let statuses = text.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) }
      #expect(statuses == ["201", "201", "404", "201", "404"])
      #expect(text.matches(of: /"id":(\d+)/).map { String($0.1) } == ["1", "2", "3"])
    }
  }

  @Test("a body that comes later than its head is taken, too")
  func slowBody() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let client = try PlainSocket(connectingTo: server.path)
      let whole = request(body)
      try client.send(String(whole.dropLast(10)))
      // Another request in the meantime shows that the first part has been read.
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
      try client.send(String(whole.suffix(10)))
      #expect(await client.receive(until: "}").hasPrefix("HTTP/1.1 201"))
      #expect(backend.submissions.count == 1 && backend.submittedAtOnce == 0)
    }
  }

  @Test("mistakes are answered as before")
  func mistakes() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let broken = try await answer(to: request(#"{"kind": "vacuum","#), of: server)
      let problem = try problem(in: broken)
      #expect(broken.hasPrefix("HTTP/1.1 400") && problem.code == "malformed_body")
      let relative = try await answer(to: request(#"{"source": "people.csv"}"#), of: server)
      #expect(relative.hasPrefix("HTTP/1.1 422") || relative.hasPrefix("HTTP/1.1 400"))
      #expect(backend.submittedAtOnce == 0)
    }
  }

  @Test("what keeps a job from being made is a problem document")
  func failures() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let full = try await answer(to: request(#"{"kind": "vacuum", "recipe": "full"}"#), of: server)
      let problem = try problem(in: full)
      #expect(full.hasPrefix("HTTP/1.1 500") && full.lowercased().contains("application/problem+json"))
      #expect(problem.code == "internal_error" && problem.detail.contains("the disk of the queue store is full"))
      let unknown = try await answer(to: request(#"{"kind": "vacuum", "entity": "Nothing"}"#), of: server)
      #expect(unknown.hasPrefix("HTTP/1.1 404") || unknown.hasPrefix("HTTP/1.1 422"))
      #expect(backend.submittedAtOnce == 2)
    }
  }
}
