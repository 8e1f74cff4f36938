import StrictYAML

/// A variable of the environment that says something of the configuration: `LADE_KEEP__JOBS=5` is `keep: {jobs: 5}`. One
/// that is empty is as one that isn't there.
struct ConfigurationVariable {
  /// With the prefix.
  let name: String
  let text: String

  static let prefix = "LADE_"
  /// Those of ladectl, which a person may have set for good. `LADE_SOCKET` means the same to both.
  private static let others: Set<String> = ["LADE_COMPLETION_PATIENCE"]

  /// Those of an environment, in the order of their names: what is deeper comes after what is above it.
  static func all(in environment: [String: String]) -> [ConfigurationVariable] {
    environment.filter { $0.key.hasPrefix(prefix) && !others.contains($0.key) && !$0.value.isEmpty }
      .map { ConfigurationVariable(name: $0.key, text: $0.value) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// What it says, under the keys that its name leads through; nil with a problem reported.
  /// - Parameter layers: those before it. Names of stores, recipes and the like may have other letters than a variable's
  ///   name can, so it is looked there which are meant.
  func tree(by reader: YAMLReader, over layers: [YAMLValue.Layer]) -> YAMLNode? {
    guard let value = reader.compose(Array(text.utf8)) else { return nil }
    return nested(value, by: reader, over: layers)
  }

  private func nested(_ value: YAMLNode, by reader: YAMLReader, over layers: [YAMLValue.Layer]) -> YAMLNode? {
    var keys: [String] = []
    var nodes = layers.map(\.node)
    for part in name.dropFirst(Self.prefix.count).split(separator: "__", omittingEmptySubsequences: false) {
      let entries = nodes.flatMap(\.pairs).map { (name: $0.key.string, $0.value) }
      let known = entries.compactMap(\.name)
      guard let key = Self.key(String(part).lowercased(), among: known) else {
        let path = (keys + [String(part).lowercased()]).joined(separator: ".")
        let problem = "there are several keys that this may mean by `\(path)`: say it in a file"
        reader.report(.unfit(key: path, problem: problem))
        return nil
      }
      nodes = entries.filter { $0.name == key }.map(\.1)
      keys.append(key)
    }
    return keys.reversed().reduce(value) { node, key in YAMLNode(mapping: [(key, node)]) }
  }

  /// The key that a part of a variable's name stands for: one that is there, or what is written; nil for one of several.
  private static func key(_ written: String, among known: [String]) -> String? {
    if known.contains(written) { return written }
    let like = Set(known.filter { $0.lowercased().replacing("-", with: "_") == written })
    return like.count > 1 ? nil : like.first ?? written
  }
}
