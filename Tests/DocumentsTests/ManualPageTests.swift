import Foundation
import TestSupport
import Testing

@Suite("Manual pages of the documents")
struct ManualPageTests {
  @Test("are made of them, without a complaint of groff, and have every key", .timeLimit(.minutes(60)))
  func pages() async throws {
    let scratch = try ScratchDirectory()
    let environment = ProcessInfo.processInfo.environment
    let made = try await ProgramOutput.of(
      Document.repository.appending(path: ".ci/manual"), [scratch.url.path], environment: environment)
    #expect(made.status == 0, "\(made.error)")
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).filter { !$0.hasPrefix("run.") }
    #expect(Set(names) == ["lade.yaml.5", "lade-model.5", "lade-ticket.5", "laded.8"])
    let groff = URL(fileURLWithPath: "/usr/bin/groff")
    guard FileManager.default.isExecutableFile(atPath: groff.path) else {
      return print("groff isn't installed: the pages aren't formatted")
    }
    for name in names {
      let text = try await ProgramOutput.of(
        groff, ["-t", "-man", "-rcR=1", "-ww", "-k", "-Tutf8", "-P-cbou", scratch.file(name).path],
        environment: environment)
      #expect(text.status == 0)
      #expect(text.error == "", "\(name)")
      #expect(text.text.contains("SEE ALSO"), "\(name)")
      let source = try String(contentsOf: scratch.file(name), encoding: .utf8)
      #expect(!source.contains("]("), "\(name) has a link that wasn't understood")
    }
    let configuration = try String(contentsOf: scratch.file("lade.yaml.5"), encoding: .utf8)
    for key in try ["docs/configuration.md", "docs/recipes.md"].flatMap({ Document.keys(in: try Document($0).text) }) {
      #expect(configuration.contains("\\fB\(key.replacing("-", with: "\\-"))\\fR"), "\(key)")
    }
  }
}
