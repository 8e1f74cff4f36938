/// Names that are taken. As in SQLite, the case of ASCII letters doesn't matter.
struct SchemaNames {
  private var taken: Set<String>
  private let prefixes: [String]
  private let maximumLength: Int?

  /// - Parameters:
  ///   - prefixes: the beginnings of names that are reserved, in lower case.
  ///   - maximumLength: the bytes that a name can have; nil for any number.
  init(_ taken: some Sequence<String> = [], prefixes: [String] = [], maximumLength: Int? = nil) {
    self.taken = Set(taken.map(Self.key))
    self.prefixes = prefixes + ["lade_"]
    self.maximumLength = maximumLength
  }

  private static func key(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  private func shortened(_ name: String) -> String {
    guard let maximumLength, name.utf8.count > maximumLength else { return name }
    // FNV-1a, the same in every process.
    let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let ending = "_" + String(hash, radix: 36)
    var start = name
    while start.utf8.count + ending.utf8.count > maximumLength { start.removeLast() }
    return start + ending
  }

  func contains(_ name: String) -> Bool { taken.contains(Self.key(name)) }

  /// Takes `name`, with as many leading underscores as it needs to be unique. One that is too long is shortened, and ends with
  /// a number that depends on all of it.
  mutating func take(_ name: String) -> String {
    var name = shortened(name)
    // This library's own tables begin with `lade_`.
    while contains(name) || prefixes.contains(where: Self.key(name).hasPrefix) { name = shortened("_" + name) }
    taken.insert(Self.key(name))
    return name
  }
}

/// How SQL writes names and strings.
package enum SQLText {
  /// `name` in double quotes.
  package static func name(_ name: String) -> String {
    // Most have nothing to double.
    guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"" + name + "\"" }
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// `text` as a literal in single quotes. For names of the model; values are bound.
  package static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}
