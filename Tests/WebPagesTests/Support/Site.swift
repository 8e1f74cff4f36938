import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import WebPages

/// The pages on a port of their own, over a backend in memory.
struct Site: Sendable {
  let port: UInt16
  let backend: MemoryBackend

  static let peer = Peer(pid: 1, uid: 4711, gid: 4711)

  /// Serves while `body` runs.
  static func with(
    _ backend: MemoryBackend = MemoryBackend(), settings: WebSettings = WebSettings(),
    _ body: (Site) async throws -> Void
  ) async throws {
    let listener = try LoopbackListener(at: LoopbackAddress("127.0.0.1:0"), for: .web)
    let port = try #require(listener.address.split(separator: ":").last.flatMap { UInt16($0) })
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = WebServer(
      backend: backend, sessions: backend.sessions, meter: RequestMeter(), listeners: [listener], settings: settings,
      logger: logger, grace: .seconds(600))
    let group = ServiceGroup(services: [server], logger: logger)
    async let running: Void = group.run()
    do {
      try await body(Site(port: port, backend: backend))
    } catch {
      await group.triggerGracefulShutdown()
      try await running
      throw error
    }
    await group.triggerGracefulShutdown()
    try await running
  }

  /// The address of a link, without the host.
  func link(for peer: Peer = Site.peer) async throws -> String {
    let link = try await backend.webLink(for: peer)
    return String(link.url[try #require(link.url.firstRange(of: "/sign-in")).lowerBound...])
  }

  /// A browser that has signed in.
  func signedIn(as peer: Peer = Site.peer) async throws -> Browser {
    let answer = try await ask("GET", try await link(for: peer))
    #expect(answer.status == 303 && answer.headers["location"] == "/")
    let cookie = try #require(answer.headers["set-cookie"]).prefix { $0 != ";" }
    return Browser(site: self, cookie: String(cookie))
  }

  func ask(
    _ method: String, _ uri: String, _ headers: [String: String] = [:], body: String = ""
  ) async throws -> TCPAnswer {
    try await tcp(method, uri, port: port, headers: headers, body: body)
  }
}

/// A browser with its cookie.
struct Browser: Sendable {
  let site: Site
  let cookie: String

  func get(_ uri: String, _ headers: [String: String] = [:]) async throws -> TCPAnswer {
    try await site.ask("GET", uri, headers.merging(["Cookie": cookie]) { $1 })
  }

  /// Sends a form of the pages.
  func post(_ uri: String, _ headers: [String: String] = ["Sec-Fetch-Site": "same-origin"]) async throws -> TCPAnswer {
    try await site.ask("POST", uri, headers.merging(["Cookie": cookie]) { $1 })
  }

  /// Sends a form of the pages that has fields.
  func send(_ uri: String, form: [String: String]) async throws -> TCPAnswer {
    var query = QueryString()
    for (name, value) in form { query[name] = value }
    return try await send(uri, body: query.text)
  }

  /// Sends a body as the pages do.
  func send(_ uri: String, body: String) async throws -> TCPAnswer {
    let headers = [
      "Cookie": cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded",
    ]
    return try await site.ask("POST", uri, headers, body: body)
  }
}

/// A clock that goes on when the test says so.
final class TestClock: Sendable {
  private let time = Mutex(ContinuousClock.now)

  var now: ContinuousClock.Instant { time.withLock { $0 } }

  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}
