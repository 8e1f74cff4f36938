/// Names that are taken. As in SQLite, the case of ASCII letters doesn't matter.
struct SchemaNames {
  private var taken: Set<String>

  init(_ taken: some Sequence<String> = []) { self.taken = Set(taken.map(Self.key)) }

  private static func key(_ name: String) -> String {
    String(decoding: name.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  func contains(_ name: String) -> Bool { taken.contains(Self.key(name)) }

  /// Takes `name`, with as many leading underscores as it needs to be unique.
  mutating func take(_ name: String) -> String {
    var name = name
    // SQLite reserves the prefix `sqlite_` for tables and indexes; this store's own tables begin with `lade_`.
    while contains(name) || Self.key(name).hasPrefix("sqlite_") || Self.key(name).hasPrefix("lade_") {
      name = "_" + name
    }
    taken.insert(Self.key(name))
    return name
  }
}

/// How SQL writes names and strings.
package enum SQLText {
  /// `name` in double quotes.
  package static func name(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// `text` as a literal in single quotes. For names of the model; values are bound.
  package static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}
