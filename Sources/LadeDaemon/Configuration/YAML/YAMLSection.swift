import ManagedObjects

/// A mapping of which all keys are known. Those that aren't have been reported.
struct YAMLSection<Key: RawRepresentable<String> & CaseIterable & Hashable> {
  private let value: YAMLValue
  private var values: [Key: YAMLValue] = [:]

  /// Nil if the value is no mapping.
  init?(_ value: YAMLValue) {
    let known = Key.allCases.map(\.rawValue)
    let example = known.first.map { ", such as `\($0): …`" } ?? ""
    guard let entries = value.entries(of: "a mapping of keys to values" + example) else { return nil }
    self.value = value
    for entry in entries {
      if let key = Key(rawValue: entry.name) {
        values[key] = entry.value
      } else {
        let nearest = NearestName.of(entry.name, among: known)
        value.reader.report(
          .unknownKey(value.path(entry.name), nearest: nearest, known: known.sorted()), at: entry.place)
      }
    }
  }

  subscript(key: Key) -> YAMLValue? { values[key] }

  /// The value of a key that must be there.
  func required(_ key: Key, _ meaning: String) -> YAMLValue? {
    if let found = values[key] { return found }
    value.report(.missingKey(value.path(key.rawValue), meaning: meaning))
    return nil
  }
}
