import Foundation
import Testing

@testable import Importing

@Suite("Documents about file formats")
struct FormatDocumentTests {
  private static let project = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.project.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("docs/formats.md has a row for each format with its endings, and no other")
  func formats() throws {
    let parts = try text("docs/formats.md").split(separator: "\n\n")
    let table = try #require(parts.first { $0.contains("| format | endings |") })
    let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `") }
    #expect(rows.count == FileFormats.standard.all.count)
    for format in FileFormats.standard.all {
      let row = try #require(rows.first { $0.hasPrefix("| `\(format.name.rawValue)` |") }, "\(format.title)")
      let endings = row.split(separator: "|")[1].matches(of: /`\.([a-z0-9]+)`/).map { String($0.1) }
      #expect(endings == format.endings)
    }
  }

  @Test("docs/recipes.md and docs/examples/lade.yaml explain every option of reading")
  func options() throws {
    let (recipes, configuration) = try (text("docs/recipes.md"), text("docs/examples/lade.yaml"))
    for option in FileFormats.standard.options {
      #expect(recipes.contains("`\(option.key)`"), "\(option.key)")
      #expect(configuration.contains("\(option.key): "), "\(option.key)")
      #expect(!option.help.isEmpty && !option.help.hasSuffix("."))
    }
  }

  @Test("each format has seeds for the fuzzer")
  func seeds() throws {
    let corpus = Self.project.appendingPathComponent("Tests/Fuzz/Corpus")
    let folders = try FileManager.default.contentsOfDirectory(atPath: corpus.path)
    for format in FileFormats.standard.all {
      #expect(folders.contains { format.name.rawValue.hasPrefix($0) }, "\(format.title)")
    }
  }

  @Test("no two formats share a name, an ending, or an option that is stored differently")
  func distinct() {
    let formats = FileFormats.standard
    #expect(Set(formats.names).count == formats.names.count)
    let endings = formats.all.flatMap(\.endings)
    #expect(Set(endings).count == endings.count)
    for format in formats.all {
      for option in format.options { #expect(formats.option(option.key)?.field?.name == option.field?.name) }
    }
  }
}
