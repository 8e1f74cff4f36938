import Foundation
import TestSupport
import Testing

/// A document of the repository, as its lines.
struct Document: Sendable, CustomTestStringConvertible {
  /// The path under the repository.
  let path: String
  let text: String

  static let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  init(_ path: String) throws {
    self.path = path
    text = try String(contentsOf: Self.repository.appending(path: path), encoding: .utf8)
  }

  /// Every document that people read: those at the top, the reference, the decision records, the catalogue of the library.
  static func all() throws -> [Document] {
    let folders = [
      "", "docs", "docs/decisions", "Benchmarks", "Sources/ManagedObjects/ManagedObjects.docc",
      "Sources/MagicalRecord/MagicalRecord.docc", "Sources/Importing/Importing.docc",
    ]
    let paths = try folders.flatMap { folder in
      let names = try FileManager.default.contentsOfDirectory(atPath: repository.appending(path: folder).path)
      return names.filter { $0.hasSuffix(".md") }.sorted().map { folder.isEmpty ? $0 : folder + "/" + $0 }
    }
    return try paths.map { try Document($0) }
  }

  /// Those with blocks of commands.
  static func withCommands() throws -> [Document] {
    try all().filter { $0.text.contains("\n```sh") || $0.text.contains("\n```console") }
  }

  /// Runs its blocks of commands with the programs under test, in variables of the environment besides the usual ones.
  func runBlocks(_ variables: [String: String] = [:]) async throws -> ProgramOutput {
    let runner = Self.repository.appending(path: "Tests/DocumentsTests/run-blocks")
    let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LADE_") }
    return try await ProgramOutput.of(
      runner, [Self.repository.appending(path: path).path, ReferenceTests.products.path],
      environment: environment.merging(variables) { $1 })
  }

  var testDescription: String { path }
  var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

  struct Line {
    var number: Int
    var text: Substring
    /// The kind of the block of code that the line stands in.
    var block: Substring?
  }

  var lines: [Line] {
    var block: Substring?
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, line in
      defer { if line.hasPrefix("```") { block = block == nil ? line.dropFirst(3) : nil } }
      return Line(number: index + 1, text: line, block: block)
    }
  }

  /// What stands under a heading, up to the next of the same rank or a higher one.
  func section(_ heading: String) -> String? {
    let rank = heading.prefix { $0 == "#" }.count
    let all = lines
    guard let start = all.firstIndex(where: { $0.text == heading && $0.block == nil }) else { return nil }
    let rest = all[(start + 1)...]
    let end = rest.firstIndex { line in
      let hashes = line.text.prefix { $0 == "#" }.count
      return line.block == nil && hashes > 0 && hashes <= rank
    }
    return rest[..<(end ?? rest.endIndex)].map(\.text).joined(separator: "\n")
  }

  /// The names that a heading can be linked by, as GitHub makes them.
  var anchors: Set<String> {
    let headings = lines.filter { $0.block == nil && $0.text.hasPrefix("#") }
    return Set(
      headings.map { line in
        line.text.drop { $0 == "#" || $0 == " " }.lowercased().filter {
          $0.isLetter || $0.isNumber || "-_ ".contains($0)
        }
        .replacing(" ", with: "-")
      })
  }

  /// The targets of links outside of blocks of code, with the line of each.
  var links: [(line: Int, target: String)] {
    lines.filter { $0.block == nil }.flatMap { line in
      line.text.matches(of: /\]\(([^)\s]+)\)/).map { (line.number, String($0.output.1)) }
    }
  }

  /// The keys of a list, `- `a`, `b`: …`, in the whole text.
  static func keys(in text: String) -> Set<String> {
    var keys = Set<String>()
    for line in text.split(separator: "\n") {
      guard let item = line.firstMatch(of: /^ *- ((?:`[^`]+`(?:, )?)+):/) else { continue }
      for key in item.output.1.matches(of: /`([^`]+)`/) { keys.insert(String(key.output.1)) }
    }
    return keys
  }
}
