import ControlAPI
import ControlTestSupport
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import ControlServer
@testable import ladectl

@Suite("Streams of log lines and of standing queries")
struct StreamTests {
  /// Reads a stream, event by event, until the closure has had enough; returns whether the stream ended by itself.
  private func listen(
    _ path: String, _ uri: String, opened: @Sendable () -> Void = {},
    each: @Sendable (ServerSentEvent) async throws -> Bool
  ) async throws -> Bool {
    try await HTTPExchange(socketPath: path).perform(.init(.GET, uri: uri)) { head, body in
      #expect(head.status == .ok)
      opened()
      var parser = ServerSentEventParser()
      while let bytes = try await body.next() {
        for event in parser.feed(bytes.readableBytesView) {
          if try await !each(event) { return false }
        }
      }
      return true
    }
  }

  @Test("the log is sent from its last lines on, without a gap and without a line twice")
  func log() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    for number in 1...3 { backend.log("line \(number)", job: number == 2 ? nil : 7) }
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let heard = Mutex<[String]>([])
      let ended = try await listen(server.path, "/v1/log?job=7&limit=5&follow=true") {
        backend.log("line 4", job: 7)
        backend.log("another's", job: 8)
        backend.log("line 5", job: 7)
      } each: { event in
        guard case .line(let line) = try LogEvent(event) else { return false }
        return heard.withLock { heard in
          heard.append(line.message)
          return heard.count < 4
        }
      }
      #expect(!ended)
      #expect(heard.withLock { $0 } == ["line 1", "line 3", "line 4", "line 5"])
    }
  }

  @Test("without following, the log is a page of the newest lines that match")
  func page() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    for number in 1...4 { backend.log("line \(number)", level: number == 3 ? .error : .info) }
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      func lines(_ query: String) async throws -> [Int64] {
        let answer = try await ask(server.path, .GET, "/v1/log?" + query)
        return try WireFormat.decode(LogPage.self, from: answer.body).lines.map(\.number)
      }
      #expect(try await lines("limit=2") == [3, 4])
      #expect(try await lines("level=warning") == [3])
      #expect(try await lines("after=3") == [4])
    }
  }

  @Test("a standing query gets its result, then each change, and what ends it")
  func watch() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    let result = WatchResult(entity: "Stop", columns: ["name"], rows: [WatchRow(id: 1, values: [.string("a")])])
    let changes = WatchChanges(changes: [.init(kind: .insert, from: nil, to: 1, id: 2, values: [.null])])
    let problem = Problem(status: 422, code: "too_many_results", title: "Too many", detail: "Too many.")
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let heard = Mutex<[WatchEvent]>([])
      let query = WatchQuery(entity: "Stop", predicate: "name == 'a&b'", limit: 5)
      let ended = try await listen(server.path, "/v1/watch?" + query.queryString.text) {
        backend.tell(.result(result))
        backend.tell(.changes(changes))
        backend.tell(.problem(problem))
        backend.endWatching()
      } each: { event in
        if let event = try WatchEvent(event) { heard.withLock { $0.append(event) } }
        return true
      }
      #expect(ended)
      #expect(heard.withLock { $0 } == [.result(result), .changes(changes), .problem(problem)])
      #expect(backend.watchQueries == [query])
    }
  }

  @Test("a client that goes away isn't listened for any longer")
  func departure() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      for uri in ["/v1/log?follow=true", "/v1/watch?entity=Stop"] {
        _ = try await HTTPExchange(socketPath: server.path).perform(.init(.GET, uri: uri)) { head, _ in head.status }
        var departures = backend.departures.makeAsyncIterator()
        await departures.next()
      }
      #expect(backend.logListeners == 0)
    }
  }

  @Test("a client that doesn't read is told that it lagged, and costs no more than its connection")
  func lagging() async throws {
    let directory = try TemporaryDirectory()
    let backend = MemoryBackend()
    try await RunningServer.with(backend, at: directory.file("s")) { server async throws in
      let socket = try PlainSocket(connectingTo: server.path)
      try socket.send("GET /v1/watch?entity=Stop HTTP/1.1\r\nHost: laded\r\n\r\n")
      var arrivals = backend.arrivals.makeAsyncIterator()
      await arrivals.next()
      let long = JSONValue.string(String(repeating: "x", count: 100))
      let change = WatchChanges.Change(kind: .insert, from: nil, to: 0, id: 1, values: [long])
      for _ in 0..<200 { backend.tell(.changes(WatchChanges(changes: .init(repeating: change, count: 100)))) }
      // The stream is let go of although the client hasn't read a byte.
      var departures = backend.departures.makeAsyncIterator()
      await departures.next()
      let text = await socket.receive(until: "event: lagged\ndata: {}\n\n\r\n0\r\n\r\n")
      #expect(text.contains("event: lagged"))
    }
  }
}
