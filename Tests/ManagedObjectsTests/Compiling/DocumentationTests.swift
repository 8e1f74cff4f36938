import Foundation
import Testing

/// Every piece of Swift in the documentation's pages compiles, without a warning, as a reader would put it together:
/// declarations in a file, the rest in a function.
@Suite("The documentation", .enabled(if: SwiftCompiler.isThere, "swiftc isn't in PATH"))
struct DocumentationTests {
  private static let sources: URL = {
    var url = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    for _ in 0..<4 { url.deleteLastPathComponent() }
    return url.appendingPathComponent("Sources")
  }()

  private static let catalogues = [
    "ManagedObjects/ManagedObjects.docc": ["ManagedObjects", "GettingStarted", "Stacks", "ComingFromCoreData"],
    "MagicalRecord/MagicalRecord.docc": ["MagicalRecord"],
    "Importing/Importing.docc": ["Importing"],
  ]
  private static let documents = catalogues.flatMap { catalogue, pages in pages.map { "\(catalogue)/\($0).md" } }
    .sorted()

  @Test("has snippets that compile", arguments: documents)
  func compiles(_ page: String) async throws {
    let text = try String(contentsOf: Self.sources.appendingPathComponent(page), encoding: .utf8)
    let snippets = Self.snippets(text)
    #expect(!snippets.isEmpty)
    let outcome = try await SwiftCompiler.check(Self.file(snippets))
    #expect(outcome.status == 0 && !outcome.text.contains("warning:"), "\(outcome.text)")
  }

  @Test("has no page that isn't compiled")
  func pages() throws {
    for (catalogue, pages) in Self.catalogues {
      let folder = Self.sources.appendingPathComponent(catalogue)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(Set(files) == Set(pages.map { $0 + ".md" }))
    }
  }

  private static func snippets(_ text: String) -> [String] {
    text.components(separatedBy: "```swift\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
  }

  private static func file(_ snippets: [String]) -> String {
    let beginnings = ["import ", "final class ", "class ", "struct ", "extension ", "enum ", "func "]
    let isDeclaration = { (snippet: String) in beginnings.contains { snippet.hasPrefix($0) } }
    let statements = snippets.filter { !isDeclaration($0) }
    // What a page names and doesn't use is for the reader.
    let names = statements.flatMap { snippet in
      snippet.split(separator: "\n").compactMap { line -> String? in
        guard line.hasPrefix("let ") || line.hasPrefix("var ") else { return nil }
        return line.dropFirst(4).split(whereSeparator: { !$0.isLetter && !$0.isNumber }).first.map(String.init)
      }
    }
    return """
      import Foundation
      \(snippets.filter(isDeclaration).joined(separator: "\n\n"))

      func page() async throws {
      \(statements.joined(separator: "\n\n"))
      \(names.map { "_ = \($0)" }.joined(separator: "\n"))
      }
      """
  }
}
