import Foundation
import TestSupport
import Testing

@Suite("Commands in documents")
struct CommandTests {
  @Test(
    "run, and say what stands there", .timeLimit(.minutes(60)),
    arguments: try Document.withCommands().filter { $0.path != PortingTests.guide })
  func run(of document: Document) async throws {
    let result = try await document.runBlocks()
    #expect(result.status == 0, "\(result.text)\n\(result.error)")
  }

  @Test("name targets and variables of the Makefile")
  func make() throws {
    let makefile = try Document("Makefile").text
    let targets = Set(makefile.matches(of: /(?m)^([a-z-]+):/).map { String($0.output.1) })
    let variables = Set(makefile.matches(of: /(?m)^([A-Za-z_]+) \??=/).map { String($0.output.1) }).union([
      "ARGS", "TARGETS",
    ])
    for document in try Document.all() {
      for line in document.lines where line.block?.hasPrefix("sh") == true {
        for command in line.text.replacing(#/"[^"]*"/#, with: "")
          .matches(of: /(?:^|&& |sudo )make ([^#&]*)/)
        {
          for word in command.output.1.split(separator: " ") {
            let parts = word.split(separator: "=")
            let isThere = word.contains("=") ? variables.contains(String(parts[0])) : targets.contains(String(word))
            #expect(isThere, "\(document.path):\(line.number): \(word)")
          }
        }
      }
    }
  }
}
