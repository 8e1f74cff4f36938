/// How many records and objects an import has processed.
package struct ImportCounts: Sendable, Hashable {
  /// Records read, rejected ones included.
  package var records: Int64 = 0
  package var inserted: Int64 = 0
  package var updated: Int64 = 0
  package var unchanged: Int64 = 0
  package var rejected: Int64 = 0
  /// References that led nowhere at the end of the file and were left empty.
  package var unresolved: Int64 = 0
  /// Objects deleted because the source doesn't have them.
  package var deleted: Int64 = 0
  /// Records left out by a filter.
  package var skipped: Int64 = 0
  /// Objects created because records refer to them, by the relationship's name. They aren't counted in ``inserted``, which
  /// counts records.
  package var created: [String: Int64] = [:]
  /// Values that were left out because they don't fit their attribute's type, by the attribute's name.
  package var leftOut: [String: Int64] = [:]

  package init() {}

  /// Records that objects were made of or found for.
  package var taken: Int64 { inserted + updated + unchanged }

  /// The sum of two imports.
  static func + (a: ImportCounts, b: ImportCounts) -> ImportCounts {
    var sum = a
    sum.records += b.records
    sum.inserted += b.inserted
    sum.updated += b.updated
    sum.unchanged += b.unchanged
    sum.rejected += b.rejected
    sum.unresolved += b.unresolved
    sum.deleted += b.deleted
    sum.skipped += b.skipped
    sum.created.merge(b.created, uniquingKeysWith: +)
    sum.leftOut.merge(b.leftOut, uniquingKeysWith: +)
    return sum
  }
}

/// Counts by name, as a text: `boss 3 country 12`. Names of a model's properties have no spaces.
enum CountText {
  static func text(_ counts: [String: Int64]) -> String {
    if counts.isEmpty { return "" }
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " ")
  }

  static func counts(_ text: String) -> [String: Int64] {
    let words = text.split(separator: " ")
    var counts: [String: Int64] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { counts[String(words[index])] = Int64(words[index + 1]) }
    return counts
  }
}
