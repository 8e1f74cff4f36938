import Testing

@testable import LadeDaemon

@Suite("Web pages in a configuration")
struct WebConfigurationTests {
  private static let stores = "stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}\n"

  private func file(_ web: String) throws -> ConfigurationFile { try ConfigurationFile(Self.stores + web) }

  @Test("nothing listens and nothing is read-only unless it is said")
  func loads() throws {
    #expect(try file("").load().web == WebConfiguration())
    #expect(try file("web: {}").load().web == WebConfiguration())
    let all = try file("web: { address: 127.0.0.1:9465, url: \"https://Lade.example.org/\", read_only: true }").load()
      .web
    #expect(all.address?.description == "127.0.0.1:9465")
    #expect(all.settings.url?.description == "https://lade.example.org" && all.settings.isReadOnly)
    #expect(try file("").load(["LADE_WEB__ADDRESS": "localhost:2"]).web.address?.description == "127.0.0.1:2")
  }

  @Test("mistakes are said, with what to write")
  func mistakes() throws {
    #expect(try file("web: { adress: 127.0.0.1:1 }").problems().first?.contains("did you mean `address`?") == true)
    #expect(try file("web: { address: 0.0.0.0:1 }").problems().first?.contains("proxy") == true)
    #expect(try file("web: { address: localhost }").problems().first?.contains("9465") == true)
    #expect(try file("web: { read_only: perhaps }").problems().count == 1)
    for url in ["lade.example.org", "ftp://x", "https://", "https://x/path", "https://user@x", "https://x:y"] {
      let problems = try file("web: { url: \"\(url)\" }").problems()
      #expect(problems.count == 1 && problems[0].contains("https://lade.example.org"), "\(url): \(problems)")
    }
  }

  @Test("a Unix socket and a proxy that names users have a user, a header and a URL")
  func proxy() throws {
    let text = "web: { socket: web.sock, url: \"https://x\", proxy: { user: root } }"
    let web = try file(text).load().web
    #expect(web.socket?.hasSuffix("/web.sock") == true && web.address == nil)
    #expect(web.settings.proxy?.user == 0 && web.settings.proxy?.header == "X-Remote-User")
    let other = try file("web: { url: \"https://x\", proxy: { user: 4711, header: X-Forwarded-User } }").load().web
    #expect(other.settings.proxy?.user == 4711 && other.settings.proxy?.header == "X-Forwarded-User")
    for (web, words) in [
      ("{ proxy: { user: root } }", "url"), ("{ socket: s }", "url"),
      ("{ url: \"https://x\", proxy: { header: X-A } }", "user"),
      ("{ url: \"https://x\", proxy: { user: nobody-has-this-name } }", "no user of that name"),
      ("{ url: \"https://x\", proxy: { user: root, header: Cookie } }", "X-Remote-User"),
      ("{ url: \"https://x\", proxy: { user: root, header: \"a b\" } }", "X-Remote-User"),
      ("{ url: \"https://x\", proxy: { user: root, name: x } }", "name"),
      ("{ url: \"https://x\", socket: /\(String(repeating: "x", count: 120)) }", "bytes"),
    ] {
      let problems = try file("web: " + web).problems()
      #expect(problems.count == 1 && problems[0].contains(words), "\(web): \(problems)")
    }
    #expect(try file("socket: /s\nweb: { socket: /s, url: \"https://x\" }").problems().count == 1)
  }

  @Test("a change needs a restart")
  func changes() throws {
    let (old, new) = (try file("").load(), try file("web: { read_only: true }").load())
    #expect(old.changes(to: new).atStart == ["web"] && old.changes(to: new).now.isEmpty)
    #expect(new.inForce(since: old).web == old.web)
  }
}
