import ControlServer
import Foundation
import Testing

@testable import LadeDaemon

@Suite("Metrics in a configuration")
struct MetricsConfigurationTests {
  private static let stores = "stores: {main: {path: /s/m.sqlite, model: /s/M.xcdatamodeld}}\n"

  private func file(_ metrics: String) throws -> ConfigurationFile { try ConfigurationFile(Self.stores + metrics) }

  @Test("nothing listens unless it is said; address and token are each for themselves")
  func loads() throws {
    #expect(try file("").load().metrics == MetricsConfiguration())
    #expect(try file("metrics: {}").load().metrics == MetricsConfiguration())
    let both = try file("metrics: { address: 127.0.0.1:9464, token: abc }").load().metrics
    #expect(both.address?.description == "127.0.0.1:9464")
    #expect(both.token == AccessToken("abc"))
    #expect(try file("metrics: { address: \"[::1]:1\" }").load().metrics.address?.description == "[::1]:1")
    #expect(try file("metrics: { token: 12345 }").load().metrics.token == AccessToken("12345"))
    let variable = try file("").load(["LADE_METRICS__ADDRESS": "localhost:2", "LADE_METRICS__TOKEN": "xyz"]).metrics
    #expect(variable.address?.description == "127.0.0.1:2" && variable.token == AccessToken("xyz"))
  }

  @Test(
    "an address that others can reach is refused, with what to do",
    arguments: ["0.0.0.0:9464", "10.0.0.1:1", "example.org:80"])
  func notLoopback(_ address: String) throws {
    let problems = try file("metrics: { address: \(address) }").problems()
    #expect(problems.count == 1)
    #expect(problems.first?.contains("`metrics.address` can't be “\(address)”: other machines could connect") == true)
    #expect(problems.first?.contains("proxy") == true, "\(problems)")
  }

  @Test("so are keys and values that there aren't")
  func mistakes() throws {
    #expect(try file("metrics: { adress: 127.0.0.1:1 }").problems().first?.contains("did you mean `address`?") == true)
    #expect(try file("metrics: { address: 9464 }").problems().count == 1)
    #expect(try file("metrics: { address: localhost }").problems().first?.contains("host:port") == true)
    #expect(try file("metrics: { token: [a] }").problems().count == 1)
  }

  @Test("a token may be a credential, and is in nothing that is shown of the configuration")
  func credential() throws {
    let file = try file("metrics: { token: { credential: metrics-token } }")
    try Data("s3cret-token\n".utf8).write(to: URL(fileURLWithPath: file.folder + "/metrics-token"))
    let configuration = try file.load(["CREDENTIALS_DIRECTORY": file.folder])
    #expect(configuration.metrics.token == AccessToken("s3cret-token"))
    var dumped = ""
    dump(configuration, to: &dumped)
    for text in ["\(configuration)", String(reflecting: configuration), dumped] {
      #expect(!text.contains("s3cret"))
    }
    let changes = configuration.changes(to: try self.file("").load())
    #expect(changes.atStart == ["metrics"] && !"\(changes)".contains("s3cret"))
    let spaced = try self.file("metrics: { token: \"s3cret token\" }").problems()
    #expect(spaced.count == 1 && !spaced[0].contains("s3cret"), "\(spaced)")
  }

  @Test("who only checks a configuration needs no credentials; a daemon does")
  func onlyChecked() throws {
    let file = try file("metrics: { token: { credential: metrics-token } }")
    #expect(file.problems().count == 1)
    let checked = try LoadedConfiguration(path: file.path, environment: [:], isOnlyChecked: true)
    #expect(checked.configuration.metrics.token == nil)
    // A credential that the service hasn't got is a mistake all the same.
    #expect(throws: ConfigurationProblems.self) {
      try LoadedConfiguration(
        path: file.path, environment: ["CREDENTIALS_DIRECTORY": file.folder], isOnlyChecked: true)
    }
  }
}
