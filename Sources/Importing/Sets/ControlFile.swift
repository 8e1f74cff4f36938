// A control file comes from whoever sends the files (rule 8, ARCHITECTURE.md): its size, its lines and what they say are
// bounded, and what isn't understood is refused rather than passed over.

import Foundation
import LadeTypes

/// What a control file says of the files of a set.
///
/// It is text, in lines that may be mixed, or a JSON object:
///
///     # as sha256sum writes it
///     e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  stops.csv
///     stops.csv 120
///     2
///
///     {"files": 2, "of": {"stops.csv": {"count": 120, "sha256": "e3b0…"}}}
struct ControlFile: Equatable {
  /// A longer one is refused.
  static let longest = 1 << 20
  private static let mostLines = 10_000

  /// How many files with records there are.
  private(set) var files: Int64?
  /// How many records, by file.
  private(set) var counts: [String: Int64] = [:]
  /// Checksums in lower case, by file.
  private(set) var sums: [String: String] = [:]

  /// - Throws: ``SetFault/unreadable(file:reason:)``.
  init(_ bytes: [UInt8], name: String) throws(SetFault) {
    guard bytes.count <= Self.longest else {
      throw .unreadable(file: name, reason: "it has more than \(Self.longest) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .unreadable(file: name, reason: "it isn't UTF-8")
    }
    do throws(Wrong) {
      let plain = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
      if plain.first(where: { !$0.isWhitespace }) == "{" {
        try readObject(String(plain))
      } else {
        try readLines(plain)
      }
    } catch {
      throw .unreadable(file: name, reason: error.reason)
    }
  }

  private struct Wrong: Error {
    let reason: String
  }

  // MARK: Lines

  private mutating func readLines(_ text: Substring) throws(Wrong) {
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    guard lines.count <= Self.mostLines else { throw Wrong(reason: "it has more than \(Self.mostLines) lines") }
    for (index, line) in lines.enumerated() {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
      do throws(Wrong) {
        try read(line: trimmed)
      } catch {
        throw Wrong(reason: "line \(index + 1): \(error.reason)")
      }
    }
  }

  private mutating func read(line: String) throws(Wrong) {
    if let number = Self.number(line) { return try setFiles(number) }
    let first = line.prefix { !$0.isWhitespace }
    if let sum = Self.checksum(first) {
      var name = line.dropFirst(first.count).drop { $0.isWhitespace }
      // The mark of sha256sum --binary.
      if name.hasPrefix("*") { name = name.dropFirst() }
      return try set(sum, of: Self.name(name))
    }
    guard let gap = line.lastIndex(where: \.isWhitespace), let count = Self.number(line[line.index(after: gap)...])
    else {
      throw Wrong(
        reason: "“\(SourceError.shown(String(line.prefix(80))))” is neither a checksum and a name, a name and a count, "
          + "nor a number of files")
    }
    try set(count, of: Self.name(line[..<gap]))
  }

  /// Without folders: sha256sum writes names as they were given to it.
  private static func name(_ text: some StringProtocol) throws(Wrong) -> String {
    let name = FileNames.last(of: text.trimmingCharacters(in: .whitespaces))
    guard !name.isEmpty, name.utf8.count <= 255 else { throw Wrong(reason: "there is no name of a file") }
    return name
  }

  private static func number(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }

  private static func checksum(_ text: some StringProtocol) -> String? {
    guard text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
    return text.lowercased()
  }

  // MARK: JSON

  private struct Object: Decodable {
    struct File: Decodable {
      enum CodingKeys: String, CodingKey, CaseIterable { case count, sha256 }
      var count: Int64?
      var sha256: String?

      init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        count = try values.decodeIfPresent(Int64.self, forKey: .count)
        sha256 = try values.decodeIfPresent(String.self, forKey: .sha256)
      }
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case files, of }
    var files: Int64?
    var of: [String: File]

    init(from decoder: any Decoder) throws {
      try decoder.rejectUnknownKeys(CodingKeys.self)
      let values = try decoder.container(keyedBy: CodingKeys.self)
      files = try values.decodeIfPresent(Int64.self, forKey: .files)
      of = try values.decodeIfPresent([String: File].self, forKey: .of) ?? [:]
    }
  }

  private mutating func readObject(_ text: String) throws(Wrong) {
    let object: Object
    do {
      object = try JSONDecoder().decode(Object.self, from: Data(text.utf8))
    } catch DecodingError.dataCorrupted(let context) {
      throw Wrong(reason: "it is no such JSON object: \(context.debugDescription)")
    } catch {
      throw Wrong(reason: "it is no such JSON object: numbers and texts are to be as the documentation shows them")
    }
    guard object.of.count <= Self.mostLines else { throw Wrong(reason: "it names more than \(Self.mostLines) files") }
    if let files = object.files { try setFiles(files) }
    for (name, file) in object.of {
      let name = try Self.name(name)
      if let count = file.count {
        guard count >= 0 else { throw Wrong(reason: "\(name) can't have \(count) records") }
        try set(count, of: name)
      }
      if let text = file.sha256 {
        guard let sum = Self.checksum(text) else { throw Wrong(reason: "the sha256 of \(name) hasn't 64 digits") }
        try set(sum, of: name)
      }
    }
  }

  // MARK: What is said once

  private mutating func setFiles(_ number: Int64) throws(Wrong) {
    guard number >= 0, files == nil || files == number else {
      throw Wrong(reason: "it says two numbers of files, or a negative one")
    }
    files = number
  }

  private mutating func set(_ count: Int64, of name: String) throws(Wrong) {
    guard counts.updateValue(count, forKey: name) ?? count == count else {
      throw Wrong(reason: "it says two counts of \(SourceError.shown(name))")
    }
  }

  private mutating func set(_ sum: String, of name: String) throws(Wrong) {
    guard sums.updateValue(sum, forKey: name) ?? sum == sum else {
      throw Wrong(reason: "it says two checksums of \(SourceError.shown(name))")
    }
  }

  // MARK: A checksum of one file

  /// What a file beside `file` says is its checksum: a line of `sha256sum`, or the checksum alone.
  static func checksum(in bytes: [UInt8], name: String, of file: String) throws(SetFault) -> String {
    guard bytes.count <= 4096, let text = String(validating: bytes, as: UTF8.self) else {
      throw .unreadable(file: name, reason: "it isn't a line of text")
    }
    let words = text.split { $0.isWhitespace }
    guard let first = words.first, let sum = checksum(first) else {
      throw .unreadable(file: name, reason: "it doesn't begin with a SHA-256 of 64 digits")
    }
    if words.count == 1 { return sum }
    let control = try ControlFile(bytes, name: name)
    guard control.sums.count == 1, let known = control.sums[file] else {
      throw .unsaid(what: "checksum", file: file, control: name)
    }
    return known
  }
}
