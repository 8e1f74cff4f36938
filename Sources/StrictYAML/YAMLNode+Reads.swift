package import Foundation
package import LadeTypes

/// The typed reads. Each throws what is wrong with the node, and where.
extension YAMLNode {
  /// A single value, as it was written.
  package func scalar(_ expected: String) throws(YAMLError) -> String {
    if hasTag { throw error(.tags) }
    guard let string, !isNull else { throw wrongType(expected) }
    return string
  }

  /// Text: quoted, or plain and neither a number nor true or false.
  package func text() throws(YAMLError) -> String {
    let text = try scalar("text")
    if !takesTextsForNumbers, isPlain, Int(text) != nil || Self.truth[text] != nil {
      throw error(.wrongType(key: key, expected: "text", found: "\(found); put it in quotes"))
    }
    return try checked(text)
  }

  /// Text that may look like something else: the names of columns are taken as written.
  /// - Parameter orEmpty: whether it may be empty, or hold control characters such as a tab.
  package func anyText(orEmpty: Bool = false) throws(YAMLError) -> String {
    let text = try scalar("text")
    return orEmpty ? text : try checked(text)
  }

  private func checked(_ text: String) throws(YAMLError) -> String {
    if text.isEmpty { throw wrong("it is empty; name something, or remove the key") }
    if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }) {
      throw wrong("it holds a control character")
    }
    return text
  }

  package func integer(_ allowed: ClosedRange<Int>) throws(YAMLError) -> Int {
    let text = try scalar("a whole number")
    guard isPlain || takesTextsForNumbers, let number = Int(text) else { throw wrongType("a whole number") }
    guard allowed.contains(number) else {
      throw wrong("it must be from \(allowed.lowerBound) to \(allowed.upperBound)")
    }
    return number
  }

  package func flag() throws(YAMLError) -> Bool {
    let text = try scalar("true or false")
    if isPlain || takesTextsForNumbers, let flag = Self.truth[text] { return flag }
    let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"][text.lowercased()]
    let words = ["false", "true"]
    let nearest = meant ?? NearestName.of(text, among: words)
    throw error(.unknownWord(key: key, value: shown, nearest: nearest, known: words))
  }

  /// One of an enumeration's words.
  package func word<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) throws(YAMLError) -> Word {
    let words = Word.allCases.map(\.rawValue)
    if let word = Word(rawValue: try name(among: words)) { return word }
    throw error(.unknownWord(key: key, value: shown, nearest: nil, known: words))
  }

  /// One of these names.
  package func name(among names: [String]) throws(YAMLError) -> String {
    let text = try anyText()
    if names.contains(text) { return text }
    throw error(.unknownWord(key: key, value: shown, nearest: NearestName.of(text, among: names), known: names))
  }

  /// A number with its unit: `500ms`, `30s`, `5m`, `2h`, `1d`.
  /// - Parameter allowed: nil for every length above zero.
  /// - Parameter allowsBareSeconds: whether a number without a unit is a number of seconds.
  package func duration(
    _ allowed: ClosedRange<Duration>? = nil, allowsBareSeconds: Bool = false
  ) throws(YAMLError) -> Duration {
    let text = try scalar("a duration such as 30s or 5m")
    guard let duration = Duration(parsing: text, allowsBareSeconds: allowsBareSeconds),
      allowed != nil || duration > .zero
    else { throw wrong("write a number and its unit (ms, s, m, h, d), such as 30s or 5m") }
    if let allowed, !allowed.contains(duration) {
      throw wrong("it must be from \(allowed.lowerBound.text) to \(allowed.upperBound.text)")
    }
    return duration
  }

  /// A point in time of ISO 8601, with the offset from UTC: without one it would depend on where the daemon runs.
  package func date() throws(YAMLError) -> Date {
    let text = try self.text()
    for style in [Date.ISO8601FormatStyle.iso8601, .iso8601.time(includingFractionalSeconds: true)] {
      do { return try style.parse(text) } catch { continue }
    }
    throw wrong("write it as 2026-03-01T04:00:00Z or 2026-03-01T04:00:00+01:00")
  }

  /// An option's value: a single value, a list, or a mapping. In a list, numbers and truth values are taken as written.
  package func option() throws(YAMLError) -> OptionValue {
    if hasTag { throw error(.tags) }
    if isMapping { return .map(try options()) }
    if let elements {
      var values: [OptionValue] = []
      for element in elements {
        if let text = element.string, !element.hasTag {
          values.append(.string(text))
        } else {
          values.append(try element.option())
        }
      }
      return .list(values)
    }
    let text = try scalar("a value (for an empty text write \"\")")
    guard isPlain else { return .string(text) }
    if let flag = Self.truth[text] { return .bool(flag) }
    if let number = Int(text) { return .int(number) }
    // A number that isn't written as we would write it stays a text, so that nothing of it is lost.
    if let number = Double(text), number.isFinite, String(number) == text { return .double(number) }
    return .string(text)
  }

  /// A mapping of any names to the values of options.
  package func options() throws(YAMLError) -> [String: OptionValue] {
    var options: [String: OptionValue] = [:]
    for entry in try entries(of: "a mapping of names to values") { options[entry.name] = try entry.value.option() }
    return options
  }

  /// The values of a list.
  package func elements(of meaning: String) throws(YAMLError) -> [YAMLNode] {
    if hasTag { throw error(.tags) }
    guard let elements else { throw wrongType("a list of \(meaning), such as [a, b]") }
    return elements
  }

  /// The entries of a mapping, with the place of each name.
  package func entries(
    of meaning: String
  ) throws(YAMLError) -> [(name: String, place: YAMLPlace?, value: YAMLNode)] {
    if hasTag { throw error(.tags) }
    guard isMapping else { throw wrongType(meaning) }
    var entries: [(name: String, place: YAMLPlace?, value: YAMLNode)] = []
    for (key, value) in pairs { entries.append((try key.asName(), key.place, value)) }
    return entries
  }

  /// The name that a key of a mapping is.
  package func asName() throws(YAMLError) -> String {
    guard let string else { throw error(.wrongType(key: key, expected: "a word", found: "a list or a mapping")) }
    return string
  }
}
