import LadeTypes
import StrictYAML

/// The typed reads, each nil with a problem reported.
extension YAMLValue {
  /// A single value, as it was written.
  func scalar(_ expected: String) -> String? { read { node throws(YAMLError) in try node.scalar(expected) } }

  func text() -> String? { read { node throws(YAMLError) in try node.text() } }

  func anyText(orEmpty: Bool = false) -> String? {
    read { node throws(YAMLError) in try node.anyText(orEmpty: orEmpty) }
  }

  func integer(_ allowed: ClosedRange<Int>) -> Int? { read { node throws(YAMLError) in try node.integer(allowed) } }

  func flag() -> Bool? { read { node throws(YAMLError) in try node.flag() } }

  func word<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) -> Word? {
    read { node throws(YAMLError) in try node.word(of: type) }
  }

  func name(among names: [String]) -> String? { read { node throws(YAMLError) in try node.name(among: names) } }

  func duration(_ allowed: ClosedRange<Duration>) -> Duration? {
    read { node throws(YAMLError) in try node.duration(allowed) }
  }

  func options() -> [String: OptionValue]? { read { node throws(YAMLError) in try node.options() } }

  /// A list of texts as written, or one of them.
  func texts() -> [String]? {
    if node.string != nil { return anyText(orEmpty: true).map { [$0] } }
    return elements(of: "texts")?.compactMap { $0.anyText(orEmpty: true) }
  }

  /// A mapping of texts to texts.
  func textMap() -> [String: String]? {
    guard let entries = entries(of: "a mapping of texts to texts") else { return nil }
    return entries.reduce(into: [:]) { map, entry in
      if let text = entry.value.anyText(orEmpty: true) { map[entry.name] = text }
    }
  }

  /// A list of names that are each there once; on a command line with commas between them.
  func columnNames() -> [String]? {
    if node.takesTextsForNumbers, let text = node.string {
      return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    guard let elements = elements(of: "names") else { return nil }
    if elements.isEmpty { wrongType("a list of at least one name") }
    var seen = Set<String>()
    return elements.compactMap { element in
      guard let name = element.anyText() else { return nil }
      if !seen.insert(name).inserted { element.wrong("the name is in the list twice") }
      return name
    }
  }
}
