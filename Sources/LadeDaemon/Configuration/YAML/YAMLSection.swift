import StrictYAML

/// A mapping of which all keys are known. Those that aren't have been reported.
struct YAMLSection<Key: RawRepresentable<String> & CaseIterable & Hashable> {
  private let value: YAMLValue
  private let problemsBefore: Int
  private var values: [Key: YAMLValue] = [:]

  /// Nil if the value is no mapping.
  /// - Parameter others: keys of the same mapping that another section reads.
  init?(_ value: YAMLValue, alongside others: [String] = []) {
    let known = Key.allCases.map(\.rawValue)
    let example = known.first.map { ", such as `\($0): …`" } ?? ""
    problemsBefore = value.reader.reading.problems.count
    guard let entries = value.entries(of: "a mapping of keys to values" + example) else { return nil }
    self.value = value
    for entry in entries {
      if let key = Key(rawValue: entry.name) {
        values[key] = entry.value
      } else if !others.contains(entry.name) {
        entry.report(.unknownKey(entry.name, under: value.path(""), among: known + others))
      }
    }
  }

  /// A part of a mapping whose keys another section has checked.
  init<Other>(_ section: YAMLSection<Other>, partOf mapping: YAMLValue) {
    value = mapping
    problemsBefore = mapping.reader.reading.problems.count
    for entry in mapping.knownEntries() {
      if let key = Key(rawValue: entry.name) { values[key] = entry.value }
    }
  }

  subscript(key: Key) -> YAMLValue? { values[key] }

  /// Whether nothing has been reported since the section was begun.
  var isWithoutProblems: Bool { value.reader.reading.problems.count == problemsBefore }

  /// Reports what concerns the section as a whole.
  func report(_ problem: String) { value.report(.conflict(key: value.key, problem: problem)) }

  /// The value of a key that must be there.
  func required(_ key: Key, _ meaning: String) -> YAMLValue? {
    if let found = values[key] { return found }
    value.report(.missingKey(value.path(key.rawValue), meaning: meaning))
    return nil
  }
}
