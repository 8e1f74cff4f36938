import LadeTypes
import Yams

extension YAMLValue {
  /// Text: quoted, or plain and neither a number nor true or false.
  func text() -> String? {
    guard let scalar = scalar("text") else { return nil }
    if isStrict, scalar.style == .plain, Int(scalar.string) != nil || YAMLValue.truth[scalar.string] != nil {
      report(.wrongType(key: key, expected: "text", found: "\(found); put it in quotes"))
      return nil
    }
    return checked(scalar.string)
  }

  /// Text that may look like something else: the names of columns are taken as written.
  /// - Parameter orEmpty: whether it may be empty, or hold control characters such as a tab.
  func anyText(orEmpty: Bool = false) -> String? {
    scalar("text").flatMap { orEmpty ? $0.string : checked($0.string) }
  }

  /// A list of texts as written, or one of them.
  func texts() -> [String]? {
    if node.scalar != nil { return anyText(orEmpty: true).map { [$0] } }
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
    if !isStrict, let text = node.scalar?.string {
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

  private var isStrict: Bool { !reader.takesTextsForNumbers }

  func integer(_ allowed: ClosedRange<Int>) -> Int? {
    guard let scalar = scalar("a whole number") else { return nil }
    guard scalar.style == .plain || !isStrict, let number = Int(scalar.string) else {
      wrongType("a whole number")
      return nil
    }
    guard allowed.contains(number) else {
      wrong("it must be from \(allowed.lowerBound) to \(allowed.upperBound)")
      return nil
    }
    return number
  }

  func flag() -> Bool? {
    guard let scalar = scalar("true or false") else { return nil }
    if scalar.style == .plain || !isStrict, let flag = YAMLValue.truth[scalar.string] { return flag }
    let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"][scalar.string.lowercased()]
    let words = ["false", "true"]
    let nearest = meant ?? NearestName.of(scalar.string, among: words)
    report(.unknownWord(key: key, value: shown, nearest: nearest, known: words))
    return nil
  }

  /// One of an enumeration's words.
  func word<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) -> Word? {
    let words = Word.allCases.map(\.rawValue)
    return name(among: words).flatMap { Word(rawValue: $0) }
  }

  /// One of these names.
  func name(among names: [String]) -> String? {
    guard let text = anyText() else { return nil }
    if names.contains(text) { return text }
    report(.unknownWord(key: key, value: shown, nearest: NearestName.of(text, among: names), known: names))
    return nil
  }

  /// A number with its unit: `500ms`, `30s`, `5m`, `2h`, `1d`.
  func duration(_ allowed: ClosedRange<Duration>) -> Duration? {
    guard let text = scalar("a duration such as 30s or 5m")?.string else { return nil }
    guard let duration = Duration(parsing: text) else {
      wrong("write a number and its unit (ms, s, m, h, d), such as 30s or 5m")
      return nil
    }
    guard allowed.contains(duration) else {
      wrong("it must be from \(allowed.lowerBound.text) to \(allowed.upperBound.text)")
      return nil
    }
    return duration
  }

  private func checked(_ text: String) -> String? {
    if text.isEmpty {
      wrong("it is empty; name something, or remove the key")
      return nil
    }
    if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }) {
      wrong("it holds a control character")
      return nil
    }
    return text
  }
}
