import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import TestSupport
import Testing

@testable import WebPages

@Suite("Access to the pages")
struct AccessTests {
  private static let pages = [
    "/", "/jobs", "/jobs/1", "/jobs/1/rejects", "/jobs/1/cancel", "/events", "/nothing", "/jobs/nobody",
  ]

  @Test("nothing but signing in and the files of the pages can be had without a session")
  func withoutSession() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running)])) { site async throws in
      for uri in Self.pages where uri != "/nothing" {
        for cookie in ["", "lade-session=", "lade-session=x", "lade-session=\(SessionSecret().text)"] {
          let answer = try await site.ask("GET", uri, ["Cookie": cookie])
          #expect(answer.status == 403 && answer.text.contains("ladectl web"), "\(uri)")
          #expect(!answer.text.contains("stops.csv"))
        }
      }
      let change = try await site.ask("POST", "/jobs/1/cancel", ["Sec-Fetch-Site": "same-origin"])
      #expect(change.status == 403)
      #expect(try await site.backend.job(1).state == .running)
      #expect(try await site.ask("GET", PageLink.asset(.styles).text).status == 200)
    }
  }

  @Test("a link is traded once for a cookie that scripts and other sites don't get")
  func signIn() async throws {
    try await Site.with { site async throws in
      let link = try await site.link()
      let head = try await site.ask("HEAD", link)
      #expect(head.headers["set-cookie"] == nil, "a look at the head doesn't use it")
      let foreign = try await site.ask("GET", link, ["Sec-Fetch-Site": "cross-site"])
      #expect(foreign.status == 403 && foreign.headers["set-cookie"] == nil)
      let answer = try await site.ask("GET", link, ["Sec-Fetch-Site": "none"])
      #expect(answer.status == 303 && answer.headers["location"] == "/")
      let cookie = try #require(answer.headers["set-cookie"])
      #expect(cookie.contains(/^lade-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict$/))
      #expect(answer.headers["cache-control"] == "no-store")
      let again = try await site.ask("GET", link)
      #expect(again.status == 403 && again.headers["set-cookie"] == nil)
      for token in ["", "?token=", "?token=x", "?token=\(SessionSecret().text)"] {
        #expect(try await site.ask("GET", "/sign-in" + token).status == 403, "\(token)")
      }
    }
  }

  @Test("behind a proxy with TLS the cookie is for TLS only, and the proxy's host is allowed")
  func secure() async throws {
    let settings = WebSettings(url: WebURL("https://lade.example.org/"))
    try await Site.with(settings: settings) { site async throws in
      let link = try await site.backend.webLink(for: Site.peer)
      #expect(link.url.hasPrefix("https://lade.example.org/sign-in?token="))
      let answer = try await tcp(
        "GET", String(link.url.dropFirst("https://lade.example.org".count)), port: site.port)
      #expect(answer.headers["set-cookie"]?.hasSuffix("; Secure") == true)
    }
  }

  @Test("signing out ends the session and removes the cookie")
  func signOut() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.get("/").status == 200)
      #expect(try await browser.post("/sign-out", [:]).status == 403, "not by another site")
      let answer = try await browser.post("/sign-out")
      #expect(answer.status == 200 && answer.headers["set-cookie"]?.contains("Max-Age=0") == true)
      #expect(try await browser.get("/").status == 403)
    }
  }

  @Test("a request under another name is refused: its name may have been made this machine's")
  func hosts() {
    let check = RequestCheck(settings: WebSettings(url: WebURL("http://lade.example.org:81")))
    for host in [
      "127.0.0.1", "127.0.0.1:9465", "localhost:1", "LOCALHOST", "[::1]:9465", "127.9.8.7", "lade.example.org:5",
    ] {
      #expect(throws: Never.self, "\(host)") { try check.checkHost(request(host: host)) }
    }
    for host in [
      "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.256", "127.1", "[::2]", "",
      "0.0.0.0",
      "localhost:99999", "localhost:9:9", "user@localhost", "10.0.0.1", "xlade.example.org", "127.0.0.1 evil",
    ] {
      #expect(throws: Problem.self, "\(host)") { try check.checkHost(request(host: host)) }
    }
    #expect(throws: Problem.self) { try check.checkHost(request(host: nil)) }
  }

  @Test("a forged host is answered with a page that says nothing")
  func forgedHost() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let text = "GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: \(browser.cookie)\r\nConnection: close\r\n\r\n"
      let answer = try await Connection(to: site.port, sending: text).receive()
      #expect(answer.hasPrefix("HTTP/1.1 403"))
      #expect(answer.contains("Content-Security-Policy") && !answer.contains("user 4711"))
    }
  }

  @Test("what changes something has to come from these pages")
  func origins() {
    let check = RequestCheck(settings: WebSettings())
    let good: [[String: String]] = [
      ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], ["Origin": "http://127.0.0.1:9465"],
      ["Origin": "https://127.0.0.1:9465"],
    ]
    let bad: [[String: String]] = [
      [:], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": ""],
      ["Origin": "null"], ["Origin": "http://evil.example"], ["Origin": "http://127.0.0.1:9466"],
      ["Origin": "http://127.0.0.1:9465.evil.example"], ["Origin": "ftp://127.0.0.1:9465"],
      ["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:9465"],
    ]
    for headers in good {
      #expect(throws: Never.self, "\(headers)") { try check.checkOrigin(request("POST", headers: headers)) }
    }
    for headers in bad {
      #expect(throws: Problem.self, "\(headers)") { try check.checkOrigin(request("POST", headers: headers)) }
      #expect(throws: Never.self) { try check.checkOrigin(request("GET", headers: headers)) }
    }
  }

  @Test("a forged form changes nothing")
  func forgedForm() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running)])) { site async throws in
      let browser = try await site.signedIn()
      for headers in [[:], ["Origin": "http://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
        #expect(try await browser.post("/jobs/1/cancel", headers).status == 403)
        #expect(try await browser.post("/lanes/import/pause", headers).status == 403)
      }
      #expect(try await site.backend.job(1).state == .running && site.backend.peers.isEmpty)
    }
  }

  @Test("what is done is done as the user who asked for the link")
  func peers() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running), .example(2, .running)])) { site async throws in
      let (ada, eve) = (Peer(pid: 7, uid: 1000, gid: 100), Peer(pid: 8, uid: 1001, gid: 100))
      let first = try await site.signedIn(as: ada)
      let second = try await site.signedIn(as: eve)
      let answer = try await first.post("/jobs/1/cancel")
      #expect(answer.status == 303 && answer.headers["location"] == "/jobs/1")
      #expect(try await second.post("/jobs/2/cancel").status == 303)
      #expect(site.backend.peers == [ada, eve])
    }
  }

  @Test("what the backend refuses is refused as a page")
  func refused() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .completed)])) { site async throws in
      let browser = try await site.signedIn()
      let answer = try await browser.post("/jobs/1/cancel")
      #expect(answer.status == 409 && answer.text.contains("Job 1 has ended already."))
      #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
      #expect(try await browser.post("/jobs/99/cancel").status == 404)
      #expect(try await browser.post("/lanes/nowhere/pause").status == 404)
    }
  }

  @Test("read-only pages change nothing and offer nothing to change")
  func readOnly() async throws {
    let backend = MemoryBackend(jobs: [.example(1, .running)])
    try await Site.with(backend, settings: WebSettings(isReadOnly: true)) { site async throws in
      let browser = try await site.signedIn()
      for uri in JobChange.Action.onPages.map({ "/jobs/1/\($0.rawValue)" }) + [
        "/lanes/import/pause", "/lanes/import/resume",
      ] {
        let answer = try await browser.post(uri)
        #expect(answer.status == 403 && answer.text.contains("read-only"), "\(uri)")
      }
      #expect(backend.peers.isEmpty)
      for uri in ["/", "/jobs/1"] {
        let page = try await browser.get(uri)
        #expect(page.status == 200 && page.text.contains("read-only"))
        #expect(!page.text.contains("/cancel") && !page.text.contains("/pause"))
      }
      #expect(try await browser.post("/sign-out").status == 200)
    }
  }

  @Test("every answer forbids foreign code, frames and caches")
  func headers() async throws {
    try await Site.with(MemoryBackend(jobs: [.example(1, .running)])) { site async throws in
      let browser = try await site.signedIn()
      let files = Asset.all.map { PageLink.asset($0).text }
      for uri in Self.pages.filter({ $0 != "/events" }) + ["/sign-in"] + files {
        for answer in [try await browser.get(uri), try await site.ask("GET", uri)] {
          #expect(answer.headers["content-security-policy"] == PageHeaders.policy, "\(uri)")
          #expect(answer.headers["x-content-type-options"] == "nosniff")
          #expect(answer.headers["referrer-policy"] == "no-referrer")
          #expect(
            answer.headers["cache-control"]
              == (files.contains(uri) ? "public, max-age=31536000, immutable" : "no-store"))
          #expect(!answer.text.contains("style=") && !answer.text.contains("<style"))
          #expect(!answer.text.contains(/<script[^>]*>[^<]/) && !answer.text.contains(#/ on[a-z]+=/#))
        }
      }
    }
  }

  @Test("files of the pages keep their address while they are the same")
  func files() async throws {
    try await Site.with { site async throws in
      for asset in Asset.all {
        let answer = try await site.ask("GET", PageLink.asset(asset).text)
        #expect(answer.status == 200 && Array(answer.body) == asset.bytes && !asset.bytes.isEmpty)
        #expect(answer.headers["etag"] == asset.tag && answer.headers["content-type"] == asset.contentType)
        let known = try await site.ask("GET", PageLink.asset(asset).text, ["If-None-Match": asset.tag])
        #expect(known.status == 304 && known.body.isEmpty)
        #expect(try await site.ask("GET", "/assets/0/\(asset.name)").status == 404)
      }
      let weight = Asset.all.map(\.bytes.count).reduce(0, +)
      #expect(weight < 40_000)
    }
  }
}
