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

@Suite("Pages behind a proxy that names users")
struct ProxyTests {
  private static let me = geteuid()

  private static func lookUp(_ name: String) -> NamedUser {
    switch name {
    case "ada": .user(4711, group: 4711)
    case "grace": .user(4712, group: 4712)
    case "root": .privileged
    case "guest": .outsider
    default: .unknown
    }
  }

  private func settings(proxy: UInt32 = Self.me) -> WebSettings {
    WebSettings(url: WebURL("https://lade.example.org"), proxy: WebProxy(user: proxy))
  }

  /// Serves on a Unix socket while `body` runs.
  private func with(
    _ settings: WebSettings, _ body: (UnixSite) async throws -> Void
  ) async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running)])
    let directory = try ScratchDirectory()
    let listener = try LoopbackListener(at: directory.file("web").path)
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let server = WebServer(
      backend: backend, sessions: backend.sessions, meter: RequestMeter(), listeners: [listener], settings: settings,
      lookUp: Self.lookUp, logger: logger, grace: .seconds(600))
    let group = ServiceGroup(services: [server], logger: logger)
    async let running: Void = group.run()
    do {
      try await body(UnixSite(path: directory.file("web").path, backend: backend))
    } catch {
      await group.triggerGracefulShutdown()
      try await running
      throw error
    }
    await group.triggerGracefulShutdown()
    try await running
    #expect(!FileManager.default.fileExists(atPath: directory.file("web").path), "the socket is removed")
  }

  @Test("each request is its user's, without a link or a cookie")
  func users() async throws {
    try await with(settings()) { site in
      for (name, number) in [("ada", UInt32(4711)), ("grace", 4712)] {
        let page = try await site.ask("GET", "/jobs", ["X-Remote-User: \(name)"])
        #expect(page.status == 200 && page.text.contains("<bdi>\(name)</bdi>"), "\(page.text)")
        #expect(!page.text.contains("Sign out"), "the proxy has signed in")
        let change = try await site.ask(
          "POST", "/jobs/1/hold", ["x-remote-user: \(name)", "Sec-Fetch-Site: same-origin"])
        #expect(change.status == 303, "\(change.text)")
        #expect(site.backend.peers.last?.uid == number && site.backend.peers.last?.gid == number)
      }
    }
  }

  @Test("a request that names nobody, several, or one who may not come in is refused")
  func refused() async throws {
    try await with(settings()) { site in
      let cases: [(headers: [String], words: String)] = [
        ([], "names nobody"), (["X-Remote-User:"], "one user"),
        (["X-Remote-User: ada", "X-Remote-User: grace"], "2 times"),
        (["X-Remote-User: ada, grace"], "one user"), (["X-Remote-User: nobody-knows"], "unknown_user"),
        (["X-Remote-User: root"], "privileged_user"), (["X-Remote-User: guest"], "not_in_group"),
        (["X-Remote-User: a/da"], "one user"),
      ]
      for (headers, words) in cases {
        for (method, uri) in [("GET", "/jobs"), ("POST", "/jobs/1/cancel"), ("GET", "/sign-in?token=x")] {
          let answer = try await site.ask(method, uri, headers + ["Sec-Fetch-Site: same-origin"])
          #expect(answer.status == 403 && answer.text.contains(words), "\(headers) \(uri): \(answer.text)")
          #expect(!answer.text.contains("stops.csv"))
        }
      }
      let secret = try await site.backend.webLink(for: Site.peer).url
      let cookie = try #require(
        SessionSecret(String(secret.suffix(64))).flatMap { try site.backend.sessions.trade($0) })
      let stale = try await site.ask("GET", "/jobs", ["Cookie: lade-session=\(cookie.0.text)"])
      #expect(stale.status == 403, "no cookie counts in place of a name")
      #expect(try await site.backend.job(1).state == .running && site.backend.peers.isEmpty)
    }
  }

  @Test("a proxy's request has to have the pages' host, and come from the pages if it changes something")
  func checks() async throws {
    try await with(settings()) { site in
      for host in ["127.0.0.1", "localhost", "evil.example", "lade.example.org.evil.example"] {
        let answer = try await site.ask("GET", "/jobs", ["X-Remote-User: ada"], host: host)
        #expect(answer.status == 403 && answer.text.contains("web.url"), "\(host)")
        #expect(!answer.text.contains("<bdi>ada</bdi>"))
      }
      for headers in [[], ["Origin: https://evil.example"], ["Sec-Fetch-Site: cross-site"]] {
        #expect(try await site.ask("POST", "/jobs/1/cancel", ["X-Remote-User: ada"] + headers).status == 403)
      }
      let own = ["X-Remote-User: ada", "Origin: https://lade.example.org"]
      #expect(try await site.ask("POST", "/jobs/1/hold", own).status == 303)
    }
  }

  @Test("another site may lead to a page, and gets nothing else: no stream, file, JSON, trial, or part of its own page")
  func otherSites() async throws {
    try await with(settings()) { site async throws in
      func status(_ uri: String, _ site: String, _ mode: String, _ dest: String, in own: UnixSite) async throws -> Int {
        try await own.ask(
          "GET", uri,
          ["X-Remote-User: ada", "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: \(mode)", "Sec-Fetch-Dest: \(dest)"]
        ).status
      }
      let pages = ["/", "/jobs", "/jobs/1", "/data/main/Route", "/configuration"]
      for uri in pages {
        #expect(try await status(uri, "cross-site", "navigate", "document", in: site) == 200, "\(uri)")
        #expect(try await status(uri, "same-origin", "cors", "empty", in: site) == 200, "\(uri)")
        for (mode, dest) in [
          ("navigate", "iframe"), ("navigate", "embed"), ("no-cors", "image"), ("no-cors", "script"),
          ("cors", "empty"), ("navigate", "empty"), ("no-cors", "document"),
        ] {
          for from in ["cross-site", "same-site"] {
            #expect(try await status(uri, from, mode, dest, in: site) == 403, "\(uri) \(mode) \(dest)")
          }
        }
      }
      for uri in [
        "/events", "/jobs/complete?q=s", "/jobs/1/rejects/file", "/data/main/Route/csv", "/data/main/Route/events",
        "/upload/1", "/upload/1/map", "/upload/1/recipe.yaml", "/upload/1/state",
      ] {
        #expect(try await status(uri, "cross-site", "navigate", "document", in: site) == 403, "\(uri)")
      }
      #expect(try await status("/jobs/complete?q=s", "same-origin", "cors", "empty", in: site) == 200)
      #expect(try await status("/data/main/Route/csv", "same-origin", "navigate", "document", in: site) == 200)
    }
  }

  @Test("nobody else names users: not another process on the socket, and nobody over TCP")
  func others() async throws {
    try await with(settings(proxy: Self.me + 1)) { site in
      let answer = try await site.ask("GET", "/jobs", ["X-Remote-User: ada"], host: "localhost")
      #expect(answer.status == 403 && answer.text.contains("not_the_proxy"), "\(answer.text)")
      let without = try await site.ask("GET", "/jobs", [], host: "localhost")
      #expect(without.status == 403 && without.text.contains("signed_out"))
    }
    try await Site.with(settings: settings()) { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get("/jobs").status == 200)
      let named = try await browser.get("/jobs", ["X-Remote-User": "ada"])
      #expect(named.status == 403 && named.text.contains("not_the_proxy"))
    }
  }

  @Test("a link isn't made where a proxy signs browsers in")
  func links() async throws {
    let backend = MemoryBackend()
    let sessions = WebSessions()
    sessions.serve(behindProxyAt: "https://lade.example.org")
    #expect(throws: ControlError.self) { try sessions.link(for: Site.peer, user: "ada") }
    do {
      _ = try sessions.link(for: Site.peer, user: "ada")
    } catch {
      #expect(error.problem.hint?.contains("https://lade.example.org") == true)
    }
    withExtendedLifetime(backend) {}
  }

  @Test(
    "users are looked up once a minute, those who may not come in more often, and names that are made up are forgotten")
  func directory() async throws {
    let clock = TestClock()
    let asked = Mutex<[String]>([])
    let directory = UserDirectory(
      lookUp: { name in
        asked.withLock { $0.append(name) }
        return Self.lookUp(name)
      }, now: { clock.now })
    for _ in 0..<3 { #expect(try await directory.user(named: "ada") == .user(4711, group: 4711)) }
    for _ in 0..<3 { #expect(try await directory.user(named: "guest") == .outsider) }
    #expect(asked.withLock { $0 } == ["ada", "guest"])
    clock.advance(by: .seconds(30))
    _ = try await directory.user(named: "ada")
    _ = try await directory.user(named: "guest")
    clock.advance(by: .seconds(31))
    _ = try await directory.user(named: "ada")
    #expect(asked.withLock { $0 } == ["ada", "guest", "guest", "ada"])
    for number in 0...UserDirectory.mostEntries { _ = try await directory.user(named: "made-up-\(number)") }
    #expect(try await directory.user(named: "ada") == .user(4711, group: 4711))
  }

  @Test("while a name service doesn't answer, only so many wait for it", .timeLimit(.minutes(20)))
  func slow() async throws {
    let gate = DispatchSemaphore(value: 0)
    let directory = UserDirectory { _ in
      gate.wait()
      return .unknown
    }
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0...UserDirectory.mostWaiting {
        group.addTask {
          do {
            return try await directory.user(named: "user-\(number)") == .unknown
          } catch {
            return false
          }
        }
      }
      // The one too many is refused while the others wait.
      #expect(try await group.next() == false)
      for _ in 0..<UserDirectory.mostWaiting { gate.signal() }
      for try await wasAnswered in group { #expect(wasAnswered) }
    }
  }

  @Test("a header that browsers set, or that is none, can't name users")
  func headers() {
    for header in ["Host", "cookie", "Origin", "Sec-Fetch-User", "", "X Remote", "X-Remote-User:"] {
      #expect(WebProxy(user: 1, header: header) == nil, "\(header)")
    }
    #expect(WebProxy(user: 1, header: "X-Forwarded-User")?.header == "X-Forwarded-User")
  }
}

/// The pages on a Unix socket.
private struct UnixSite: Sendable {
  let path: String
  let backend: MemoryBackend

  func ask(
    _ method: String, _ uri: String, _ headers: [String], host: String = "lade.example.org"
  ) async throws -> TCPAnswer {
    try await unix(method, uri, socket: path, host: host, headers: headers)
  }
}
