import Foundation
import Testing

@Suite("Documents")
struct LinkTests {
  @Test("link to files and headings that exist", arguments: try Document.all())
  func links(of document: Document) throws {
    for (line, target) in document.links where !target.hasPrefix("http") && !target.hasPrefix("<doc:") {
      let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let base = Document.repository.appending(path: document.folder).standardizedFileURL
      let file =
        parts[0].isEmpty
        ? Document.repository.appending(path: document.path)
        : base.appending(path: String(parts[0])).standardizedFileURL
      #expect(FileManager.default.fileExists(atPath: file.path), "\(document.path):\(line): \(target)")
      if parts.count == 2, file.pathExtension == "md" {
        let path = file.path.dropFirst(Document.repository.standardizedFileURL.path.count + 1)
        #expect(try Document(String(path)).anchors.contains(String(parts[1])), "\(document.path):\(line): \(target)")
      }
    }
  }

  /// What stands in a code span and begins like a path of the repository is one.
  @Test("name files that exist", arguments: try Document.all())
  func paths(in document: Document) {
    for line in document.lines where line.block == nil {
      for span in line.text.matches(of: /`((?:Sources|Tests|docs|etc|systemd|Benchmarks|\.ci)\/[\w.+\/-]+)`/) {
        let path = String(span.output.1)
        // Of what a benchmark writes nothing is there before.
        if path.hasPrefix("Benchmarks/results") || path.hasPrefix("Benchmarks/.peers") { continue }
        #expect(
          FileManager.default.fileExists(atPath: Document.repository.appending(path: path).path),
          "\(document.path):\(line.number): \(path)")
      }
    }
  }

  @Test("comments in sources name documents and files that exist")
  func comments() throws {
    for folder in ["Sources", "Tests"] {
      let root = Document.repository.appending(path: folder)
      let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
      for case let file as URL in files where file.pathExtension == "swift" {
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
          guard let comment = line.firstMatch(of: /\/\/.*/) else { continue }
          for found in comment.output.matches(of: /\b(?:docs|Sources|Tests)\/[\w.+\/-]+\.(?:md|swift)\b/) {
            let path = String(found.output)
            let exists = FileManager.default.fileExists(atPath: Document.repository.appending(path: path).path)
            #expect(exists, "\(file.lastPathComponent): \(path)")
          }
        }
      }
    }
  }

  @Test("break their lines", arguments: try Document.all())
  func lengths(of document: Document) {
    for line in document.lines where line.block == nil && line.text.count > 130 {
      // Neither rows of tables nor links can be broken.
      #expect(line.text.hasPrefix("|"), "\(document.path):\(line.number): \(line.text.count) characters")
    }
  }

  @Test("README is a front page")
  func readme() throws {
    #expect(try Document("README.md").lines.count <= 250)
  }

  @Test("the index of decisions lists every record, with its title")
  func decisions() throws {
    let folder = Document.repository.appending(path: "docs/decisions")
    let index = try Document("docs/decisions/README.md").text.replacing("\n  ", with: " ")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "README.md" }
    #expect(names.count > 50)
    var numbers = Set<Substring>()
    for name in names {
      #expect(name.wholeMatch(of: /\d{4}-[a-z0-9-]+\.md/) != nil, "\(name)")
      #expect(numbers.insert(name.prefix(4)).inserted, "two records have the number \(name.prefix(4))")
      let title = try Document("docs/decisions/" + name).text.prefix { $0 != "\n" }.drop { $0 == "#" || $0 == " " }
      let words = title.replacing(#/^\d{4}[.:]? /#, with: "")
      let isListed = index.contains("- [\(name.prefix(4))](\(name)): \(words)\n")
      #expect(isListed, "\(name) isn't in the index")
    }
  }

  @Test("the index of documents in README lists every document")
  func index() throws {
    let readme = try Document("README.md").text
    for document in try Document.all() where document.folder == "docs" || document.folder.isEmpty {
      let isListed = document.path == "README.md" || readme.contains("(\(document.path))")
      #expect(isListed, "\(document.path)")
    }
  }

  @Test("the table of targets has every target of the package")
  func targets() throws {
    let table = try #require(try Document("ARCHITECTURE.md").section("## Targets"))
    let sources = try FileManager.default.contentsOfDirectory(
      atPath: Document.repository.appending(path: "Sources").path)
    for name in sources {
      let isListed = table.contains("(Sources/\(name))")
      #expect(isListed, "\(name)")
    }
  }

  @Test("every rule has a number, a file and a test")
  func rules() throws {
    let section = try #require(try Document("ARCHITECTURE.md").section("## Rules that are never broken"))
    for rule in 1...11 {
      let text = try #require(
        section.split(separator: "\n\(rule). ").dropFirst().first?.split(separator: "\n\(rule + 1). ")[0])
      #expect(text.replacing("\n   ", with: "").contains("Enforced by"), "\(rule)")
      #expect(text.contains("](Sources/") && text.contains("](Tests/"), "\(rule)")
    }
    let sources = Document.repository.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    for case let file as URL in files where file.pathExtension == "swift" {
      let source = try String(contentsOf: file, encoding: .utf8)
      for citation in source.matches(of: /[Rr]ule (\d+)\b/) {
        let number = Int(citation.output.1) ?? 0
        #expect((1...11).contains(number), "\(file.lastPathComponent): \(citation.output.0)")
      }
    }
  }
}
