import ControlAPI
import ControlTestSupport
import Foundation
import Testing

@testable import ControlServer
@testable import ladectl

@Suite("Event streams")
struct EventStreamTests {
  /// What a client heard, from several tasks.
  private actor Heard {
    private(set) var jobs: [Job] = []
    func add(_ event: ControlEvent) {
      if case .job(let job) = event { jobs.append(job) }
    }
  }

  @Test("a job's stream begins with the job as it is, and ends when the job has")
  func oneJob() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend(jobs: [.example(1, .running), .example(2, .running)])
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let heard = Heard()
      try await ControlClient(socketPath: server.path).listen(to: .jobEvents(1)) {
        true
      } each: { event in
        if await heard.jobs.isEmpty {
          backend.set(.example(2, .completed))
          backend.set(.example(1, .completed))
        }
        await heard.add(event)
        return true
      }
      let jobs = await heard.jobs
      #expect(jobs.first?.state == .running)
      #expect(jobs.last?.state == .completed)
      #expect(jobs.allSatisfy { $0.id == 1 })
    }
  }

  @Test("the stream of a job that has ended tells it once and ends")
  func endedJob() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(jobs: [.example(1, .discarded)]), at: directory.file("s")) {
      server async throws in
      let heard = Heard()
      try await ControlClient(socketPath: server.path).listen(to: .jobEvents(1)) {
        true
      } each: { event in
        await heard.add(event)
        return true
      }
      #expect(await heard.jobs == [.example(1, .discarded)])
    }
  }

  @Test("a change made as soon as the stream of all jobs is open is sent")
  func allJobs() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let heard = Heard()
      try await ControlClient(socketPath: server.path).listen(to: .allJobEvents) {
        backend.set(.example(1, .available))
        backend.set(.example(2, .available))
        return true
      } each: { event in
        await heard.add(event)
        return await heard.jobs.count < 2
      }
      #expect(await heard.jobs.map(\.id) == [1, 2])
    }
  }

  @Test("a client that goes away isn't listened for any longer")
  func departure() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      try await ControlClient(socketPath: server.path).listen(to: .allJobEvents) {
        false
      } each: { _ in
        true
      }
      var departures = backend.departures.makeAsyncIterator()
      await departures.next()
    }
  }

  @Test("open streams end at shutdown, and the client learns that the answer is complete")
  func shutdown() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(jobs: [.example(1, .running)]), at: directory.file("s")) {
      server async throws in
      // Were the stream cut off instead of ended, this would throw.
      try await ControlClient(socketPath: server.path).listen(to: .jobEvents(1)) {
        true
      } each: { _ in
        await server.stop()
        return true
      }
    }
    #expect(!FileManager.default.fileExists(atPath: directory.file("s")))
  }

  @Test("a client that never reads doesn't hold up a shutdown")
  func deafClient() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    // Returning from here is the proof: the server waits for its connections when it stops.
    try await RunningServer.with(backend, at: directory.file("s"), grace: .milliseconds(10)) { server async throws in
      let socket = try PlainSocket(connectingTo: server.path)
      try socket.send("GET /v1/jobs/events HTTP/1.1\r\nHost: laded\r\n\r\n")
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      let reason = String(repeating: "x", count: 10_000)
      for id in 1...500 { backend.set(.example(Int64(id), .discarded, reason: reason)) }
      await server.stop()
      withExtendedLifetime(socket) {}
    }
  }

  @Test("a client that doesn't go on sending doesn't hold up a shutdown")
  func stuckClient() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s"), grace: .milliseconds(10)) {
      server async throws in
      let socket = try PlainSocket(connectingTo: server.path)
      // In one piece, so that whoever answers the first has the second one's head.
      try socket.send(
        "GET /v1/count/Stop HTTP/1.1\r\nHost: laded\r\n\r\n"
          + "POST /v1/jobs HTTP/1.1\r\nHost: laded\r\nContent-Length: 100\r\n\r\n{")
      #expect(await socket.receive(until: "}").hasPrefix("HTTP/1.1 200"))
      await server.stop()
      let answer = await socket.receive(until: "never")
      #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 503"))
    }
  }
}
