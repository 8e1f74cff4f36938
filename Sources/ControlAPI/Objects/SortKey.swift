/// A key path to sort by, and which way: `name`, or `-age` for the greatest first.
package struct SortKey: Sendable, Hashable {
  package var keyPath: String
  package var ascending: Bool

  /// A key path and its direction.
  package init(keyPath: String, ascending: Bool) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// Reads `name` or `-name`.
  /// - Throws: ``QueryError/invalid(name:value:expected:)`` when there is no name.
  package init(_ text: String) throws {
    let ascending = !text.hasPrefix("-")
    let keyPath = String(ascending ? text[...] : text.dropFirst())
    guard !keyPath.isEmpty else {
      throw QueryError.invalid(name: "sort", value: text, expected: "key paths with commas between, such as name,-age")
    }
    self.init(keyPath: keyPath, ascending: ascending)
  }

  /// The form that ``init(_:)`` reads.
  package var text: String { ascending ? keyPath : "-" + keyPath }
}
