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

  @Test("a change needs a restart")
  func changes() throws {
    let (old, new) = (try file("").load(), try file("web: { read_only: true }").load())
    #expect(old.changes(to: new).atStart == ["web"] && old.changes(to: new).now.isEmpty)
    #expect(new.inForce(since: old).web == old.web)
  }
}
