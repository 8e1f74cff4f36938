import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import Glibc
import Testing

@testable import ladectl

@Suite("Routes")
struct RouteTests {
  @Test("the status comes through whole")
  func status() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let status = try await ControlClient(socketPath: server.path).status()
      #expect(try await backend.status() == status)
    }
  }

  @Test("jobs are listed by state and lane, and page by page")
  func list() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: (1...5).map { .example($0, $0 == 3 ? .running : .completed) })
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let client = ControlClient(socketPath: server.path)
      let first = try await client.jobs(JobQuery(states: [.completed], limit: 2))
      #expect(first.jobs.map(\.id) == [5, 4])
      #expect(first.next == 4)
      let rest = try await client.jobs(JobQuery(states: [.completed], before: first.next))
      #expect(rest.jobs.map(\.id) == [2, 1])
      #expect(rest.next == nil)
      #expect(try await client.jobs(JobQuery(lane: "other")).jobs.isEmpty)
    }
  }

  @Test("a job is shown, and cancelled once")
  func showAndCancel() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(7, .running)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let client = ControlClient(socketPath: server.path)
      #expect(try await client.job(7) == .example(7, .running))
      #expect(try await client.cancel(7).state == .cancelled)
      let error = await #expect(throws: ControlClientError.self) { try await client.cancel(7) }
      #expect(error?.problem.code == "conflict")
    }
  }

  @Test("a submission reaches the backend as it was sent, with the peer the kernel names")
  func submit() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    let submission = JobSubmission(
      source: "/data/größe.csv", entity: "Stop", mode: .upsert, priority: 2,
      notBefore: Date(timeIntervalSince1970: 1_800_000_000.5), options: ["delimiter": .string(";")])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let job = try await ControlClient(socketPath: server.path).submit(submission)
      #expect(job.id == 1)
      #expect(backend.submissions == [submission])
      #expect(backend.peers == [Peer(pid: getpid(), uid: geteuid(), gid: getegid())])
    }
  }

  @Test("objects and counts are asked for with everything that was said")
  func objects() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    let query = ObjectQuery(
      entity: "Große Entität/x", store: "main", predicate: "name CONTAINS[cd] 'a+b & c'",
      sort: [.init(keyPath: "name", ascending: true), .init(keyPath: "age", ascending: false)], limit: 10, offset: 20,
      columns: ["name", "route.name"])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let client = ControlClient(socketPath: server.path)
      let page = try await client.objects(query)
      #expect(page.rows.last == [.string("駅"), .int(12), .null])
      #expect(try await client.count(query) == ObjectCount(entity: query.entity, count: 1234))
      #expect(backend.objectQueries == [query, query])
    }
  }

  @Test("origins are asked for with everything that was said")
  func origins() async throws {
    let directory = try TemporaryDirectory()
    let query = OriginQuery(entity: "Große Entität/x", store: "other", key: "a+b & c", limit: 3)
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let origins = try await ControlClient(socketPath: server.path).origins(query)
      #expect(origins.entity == query.entity && origins.store == "other")
      #expect(origins.objects.map(\.key) == ["a+b & c", "8"] && origins.objects[1].steps.isEmpty)
      let steps = origins.objects[0].steps
      #expect(steps.map(\.event) == ["inserted", "deleted"] && steps[0].byte == 40 && steps[1].undoes == 12)
    }
    #expect(throws: QueryError.self) { try OriginQuery(entity: "Stop", QueryString(parsing: "limit=1001")) }
    #expect(throws: QueryError.self) { try OriginQuery(entity: "Stop", QueryString(parsing: "keys=1")) }
  }

  @Test("one connection serves several requests")
  func keepAlive() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let socket = try PlainSocket(connectingTo: server.path)
      for _ in 0..<2 {
        try socket.send("GET /v1/count/Stop HTTP/1.1\r\nHost: laded\r\n\r\n")
        let answer = await socket.receive(until: "}")
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains("1234"))
      }
    }
  }
}
