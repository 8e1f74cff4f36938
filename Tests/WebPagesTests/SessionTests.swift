import ControlAPI
import Testing

@testable import ControlServer
@testable import WebPages

@Suite("Sessions of browsers")
struct SessionTests {
  private let clock = TestClock()
  private let peer = Peer(pid: 1, uid: 1000, gid: 1000)

  private func sessions(_ change: (inout WebSessionLimits) -> Void = { _ in }) -> WebSessions {
    var limits = WebSessionLimits()
    change(&limits)
    let sessions = WebSessions(limits: limits) { [clock] in clock.now }
    sessions.serve(at: "http://127.0.0.1:9465")
    return sessions
  }

  private func secret(_ link: WebLink) throws -> SessionSecret {
    #expect(link.url.hasPrefix("http://127.0.0.1:9465/sign-in?token="))
    return try #require(link.url.split(separator: "=").last.flatMap { SessionSecret($0) })
  }

  @Test("a link works once")
  func once() throws {
    let sessions = sessions()
    let link = try secret(try sessions.link(for: peer, user: "ada"))
    let (cookie, session) = try #require(try sessions.trade(link))
    #expect(session == WebSession(peer: peer, user: "ada"))
    #expect(sessions.session(cookie) == session)
    #expect(try sessions.trade(link) == nil)
    #expect(sessions.session(link) == nil, "a link's secret isn't a cookie's")
    #expect(try sessions.trade(cookie) == nil)
    #expect(try sessions.trade(SessionSecret()) == nil)
  }

  @Test("a link works for a minute")
  func linkExpires() throws {
    let sessions = sessions()
    let link = try sessions.link(for: peer, user: "ada")
    #expect(link.seconds == 60)
    clock.advance(by: .seconds(60))
    #expect(try sessions.trade(secret(link)) == nil)
  }

  @Test("a session ends when it is idle, and at the latest after a week")
  func expiry() throws {
    let sessions = sessions()
    let (cookie, _) = try #require(try sessions.trade(secret(try sessions.link(for: peer, user: "ada"))))
    clock.advance(by: .seconds(7 * 3600))
    #expect(sessions.session(cookie) != nil)
    clock.advance(by: .seconds(7 * 3600))
    #expect(sessions.session(cookie) != nil, "its last use counts")
    clock.advance(by: .seconds(7 * 3600))
    #expect(sessions.session(cookie, isUse: false) != nil)
    clock.advance(by: .seconds(3600))
    #expect(sessions.session(cookie) == nil, "what an open page fetches by itself doesn't keep it")
    let (other, _) = try #require(try sessions.trade(secret(try sessions.link(for: peer, user: "ada"))))
    for _ in 0..<23 {
      clock.advance(by: .seconds(7 * 3600))
      #expect(sessions.session(other) != nil)
    }
    clock.advance(by: .seconds(7 * 3600))
    #expect(sessions.session(other) == nil)
  }

  @Test("signing out ends one session")
  func end() throws {
    let sessions = sessions()
    let (first, _) = try #require(try sessions.trade(secret(try sessions.link(for: peer, user: "ada"))))
    let (second, _) = try #require(try sessions.trade(secret(try sessions.link(for: peer, user: "ada"))))
    sessions.end(first)
    #expect(sessions.session(first) == nil && sessions.session(second) != nil)
  }

  @Test("one user's sessions don't take the place of others'")
  func limits() throws {
    let sessions = sessions { ($0.ofOne, $0.ofAll) = (2, 3) }
    var cookies: [SessionSecret] = []
    for _ in 0..<3 {
      cookies.append(try #require(try sessions.trade(secret(try sessions.link(for: peer, user: "ada")))).0)
    }
    #expect(sessions.session(cookies[0]) == nil, "the oldest has ended")
    #expect(sessions.session(cookies[1]) != nil && sessions.session(cookies[2]) != nil)
    let other = Peer(pid: 2, uid: 1001, gid: 1001)
    #expect(try sessions.trade(secret(try sessions.link(for: other, user: "eve"))) != nil)
    let third = Peer(pid: 3, uid: 1002, gid: 1002)
    let link = try sessions.link(for: third, user: "joe")
    #expect(throws: ControlError.self) { try sessions.trade(secret(link)) }
  }

  @Test("without pages there is no link")
  func noPages() {
    #expect(throws: ControlError.self) { try WebSessions().link(for: peer, user: "ada") }
  }

  @Test("a secret is kept as its SHA-256, and no way of describing values shows it")
  func secrets() throws {
    let text = String(repeating: "00", count: 32)
    let secret = try #require(SessionSecret(text))
    // printf '%064d' 0 | xxd -r -p | sha256sum
    #expect(
      secret.digest.words
        == [0x6668_7aad, 0xf862_bd77, 0x6c8f_c18b, 0x8e9f_8e20, 0x0897_1485, 0x6ee2_33b3, 0x902a_591d, 0x0d5f_2925])
    #expect(secret.text == text)
    var shown = "\(secret)"
    dump(secret, to: &shown)
    #expect(!shown.contains("00"))
    #expect(SessionSecret().text != SessionSecret().text)
    for wrong in ["", "00", text + "0", text + "00", String(text.dropLast()) + "G", String(text.dropLast()) + "A"] {
      #expect(SessionSecret(wrong) == nil, "\(wrong)")
    }
  }
}
