import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import Glibc
import NIOHTTP1
import Testing

@testable import ladectl

@Suite("Routes that change jobs and lanes")
struct ChangeRouteTests {
  private func job(_ path: String, _ method: HTTPMethod, _ uri: String, _ body: String? = nil) async throws -> Job {
    let answer = try await ask(path, method, uri, body: body.map { Data($0.utf8) })
    #expect(answer.status == 200, "\(method) \(uri): \(String(decoding: answer.body, as: UTF8.self))")
    return try WireFormat.decode(Job.self, from: answer.body)
  }

  @Test("a job is retried, held, released, given another priority and removed, by the peer that the kernel names")
  func jobs() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(7, .discarded), .example(8, .completed)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      #expect(try await job(server.path, .POST, Endpoint.retryJob(7).path).state == .available)
      #expect(try await job(server.path, .POST, Endpoint.holdJob(7).path).isHeld)
      #expect(try await job(server.path, .POST, Endpoint.releaseJob(7).path, " {} ").isHeld == false)
      #expect(try await job(server.path, .PUT, Endpoint.jobPriority(7).path, #"{"priority": -3}"#).priority == -3)
      #expect(try await job(server.path, .DELETE, Endpoint.job(8).path).id == 8)
      #expect(try await ask(server.path, .GET, "/v1/jobs/8").status == 404)
      #expect(try await ask(server.path, .DELETE, "/v1/jobs/7").problem().code == "conflict")
      let me = Peer(pid: getpid(), uid: geteuid(), gid: getegid())
      #expect(backend.peers == .init(repeating: me, count: 5))
    }
  }

  @Test("a change of many jobs reaches the backend as it was sent")
  func many() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    let change = JobChange(.priority, JobSelection(states: [.available], tag: "night"), priority: 5)
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let answer = try await ask(
        server.path, .POST, Endpoint.changeJobs.path, body: try WireFormat.encode(change))
      let job = try WireFormat.decode(Job.self, from: answer.body)
      #expect(answer.status == 201 && job.kind == "change")
      #expect(job.change == JobChangeResult(changed: 2, refused: 1, refusals: [.init(job: 3, reason: "it has ended")]))
      let all = Data(#"{"action": "cancel", "filter": {}, "all": true}"#.utf8)
      #expect(try await ask(server.path, .POST, Endpoint.changeJobs.path, body: all).status == 201)
      #expect(backend.changes == [change, JobChange(.cancel, JobSelection(), isForAll: true)])
    }
  }

  @Test("schedules are listed as they are, and take no parameters")
  func schedules() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let answer = try await ask(server.path, .GET, Endpoint.schedules.path)
      #expect(try WireFormat.decode(ScheduleList.self, from: answer.body).schedules == Schedule.examples)
      #expect(try await ask(server.path, .GET, Endpoint.schedules.path + "?name=nightly").status == 400)
    }
  }

  @Test("lanes are paused and resumed, one and all, and run more at once or as configured")
  func lanes() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      func lanes(_ method: HTTPMethod, _ endpoint: Endpoint) async throws -> [Lane] {
        let answer = try await ask(server.path, method, endpoint.path)
        return try WireFormat.decode(LaneList.self, from: answer.body).lanes
      }
      func lane(_ method: HTTPMethod, _ endpoint: Endpoint, _ body: String? = nil) async throws -> Lane {
        let answer = try await ask(server.path, method, endpoint.path, body: body.map { Data($0.utf8) })
        return try WireFormat.decode(Lane.self, from: answer.body)
      }
      #expect(try await lane(.POST, .pauseLane("maintenance")).isPaused)
      #expect(try await lanes(.GET, .lanes).map(\.isPaused) == [false, true])
      #expect(try await lanes(.POST, .pauseLanes).allSatisfy(\.isPaused))
      #expect(try await lanes(.POST, .resumeLanes).allSatisfy { !$0.isPaused })
      #expect(try await lane(.PUT, .laneConcurrency("import"), #"{"concurrency": 9}"#).concurrency == 9)
      let configured = try await lane(.PUT, .laneConcurrency("import"), #"{"concurrency": null}"#)
      #expect(configured.concurrency == configured.configuration.concurrency)
      #expect(try await lane(.POST, .resumeLane("import")).pausedBy == nil)
    }
  }

  @Test("jobs are listed oldest first, from where a list ended")
  func oldestFirst() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: (1...5).map { .example($0, .completed) })
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let client = ControlClient(socketPath: server.path)
      let first = try await client.jobs(JobQuery(limit: 2, order: .oldest))
      #expect(first.jobs.map(\.id) == [1, 2])
      let rest = try await client.jobs(JobQuery(after: first.next, order: .oldest))
      #expect(rest.jobs.map(\.id) == [3, 4, 5])
      #expect(backend.jobQueries.last == JobQuery(after: 2, order: .oldest))
    }
  }

  @Test("of many jobs in one request each has its number or its problem, in their order")
  func manyJobs() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    let submissions = ["Stop", "Nothing", "Route"].map { (name: String) in
      JobSubmission(source: "/\(name).csv", entity: name)
    }
    let body = JobsSubmission(jobs: submissions)
    #expect(try WireFormat.decode(JobsSubmission.self, from: WireFormat.encode(body)) == body)
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let receipts = try await ControlClient(socketPath: server.path).submit(submissions)
      #expect(receipts.map(\.id) == [1, nil, 2])
      #expect(receipts[1].problem?.code == "no_such_entity")
      #expect(backend.submissions.map(\.entity) == ["Stop", "Route"])
      let tooMany = JobsSubmission(jobs: .init(repeating: submissions[0], count: JobsSubmission.maximumJobs + 1))
      let answer = try await ask(server.path, .POST, Endpoint.manyJobs.path, body: try WireFormat.encode(tooMany))
      #expect(answer.status == 422)
      #expect(backend.submissions.count == 2)
    }
  }

  @Test("a batch is made of what was sent, and shown by its number")
  func batch() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    let submission = BatchSubmission(
      name: "night",
      jobs: [
        .init(JobSubmission(source: "/a.csv", entity: "Stop"), name: "a"),
        .init(JobSubmission(kind: "export", entity: "Stop"), after: ["a": .ended]),
      ], callback: JobSubmission(kind: "vacuum"), condition: .ended)
    #expect(try WireFormat.decode(BatchSubmission.self, from: WireFormat.encode(submission)) == submission)
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let answer = try await ask(
        server.path, .POST, Endpoint.batches.path, body: try WireFormat.encode(submission))
      #expect(answer.status == 201)
      #expect(answer.headers["location"] == [Endpoint.batch(1).path])
      #expect(try WireFormat.decode(Batch.self, from: answer.body).jobs == [1, 2])
      #expect(backend.submissions == submission.jobs.map(\.job))
      let shown = try await ask(server.path, .GET, Endpoint.batch(1).path)
      #expect(try WireFormat.decode(Batch.self, from: shown.body).callback == 9)
    }
  }

  @Test("requests that read are measured, and listeners counted")
  func stats() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      for _ in 0..<3 { _ = try await ask(server.path, .GET, "/v1/lanes") }
      _ = try await ask(server.path, .POST, "/v1/lanes/pause")
      let stats = try WireFormat.decode(Stats.self, from: try await ask(server.path, .GET, "/v1/stats").body)
      #expect(stats.requests?.count == 3)
      #expect(stats.listeners == 0)
    }
  }
}
