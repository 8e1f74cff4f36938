/// The name of a file with at most one `*`, which stands for any text: `stops-*.csv`.
///
/// Names are compared byte for byte.
package struct FilePattern: Codable, Sendable, Hashable, CustomStringConvertible {
  private static let longest = 200
  /// The longest ending of a name that says its format or its compression.
  private static let longestEnding = 8

  /// As it was written.
  package let description: String
  private let prefix: String
  /// Nil without a `*`.
  private let suffix: String?

  /// Nil if there are two `*`, or no name of a file could fit.
  package init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.longest, !text.hasPrefix("."), !text.contains("/"),
      !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { return nil }
    let parts = text.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2 else { return nil }
    description = text
    prefix = parts[0]
    suffix = parts.count == 2 ? parts[1] : nil
  }

  /// Reads the text.
  package init(from decoder: any Decoder) throws {
    let text = try String(from: decoder)
    guard let pattern = FilePattern(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "“\(text)” is no pattern of names"))
    }
    self = pattern
  }

  /// Writes the text.
  package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }

  /// How many bytes of a name the pattern says: of two patterns that fit, the one that says more is meant.
  package var weight: Int { prefix.utf8.count + (suffix?.utf8.count ?? 0) }

  /// The name without what distinguishes sets: `stops.csv` of `stops-*.csv`.
  package var plainName: String {
    let marks: (Character) -> Bool = { "-_. ".contains($0) }
    guard let suffix else { return prefix }
    var (before, after) = (prefix[...], suffix[...])
    while let last = before.last, marks(last) { before.removeLast() }
    while let first = after.first, first != ".", marks(first) { after.removeFirst() }
    return before.isEmpty || after.isEmpty || after.hasPrefix(".") ? String(before + after) : "\(before)_\(after)"
  }

  /// What tells the set of a file from others: what `*` stands for, without the endings of a format or a compression, and
  /// without `-`, `_` and `.` at its ends. Empty if there is nothing else. Nil if the name doesn't fit.
  package func key(of name: String) -> String? {
    let bytes = Array(name.utf8)
    guard let suffix else { return bytes.elementsEqual(prefix.utf8) ? "" : nil }
    guard bytes.count >= weight, bytes.starts(with: prefix.utf8),
      bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    else { return nil }
    let matched = bytes[prefix.utf8.count..<bytes.count - suffix.utf8.count]
    return Self.key(in: String(decoding: matched, as: UTF8.self))
  }

  private static func key(in text: String) -> String {
    var rest = text[...]
    while let dot = rest.lastIndex(of: "."), isEnding(rest[rest.index(after: dot)...]) { rest = rest[..<dot] }
    let marks: (Character) -> Bool = { "-_. ".contains($0) }
    while let first = rest.first, marks(first) { rest.removeFirst() }
    while let last = rest.last, marks(last) { rest.removeLast() }
    return String(rest)
  }

  /// Dates and versions may contain dots, too: `2026.11.28`.
  private static func isEnding(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= longestEnding else { return false }
    return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
