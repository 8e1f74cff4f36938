import ManagedObjects

extension ReaderOptions {
  /// Options from texts under the names that recipes give them: `delimiter`, `skip_lines`, `columns`.
  ///
  /// - Parameter values: for each name one text, or several where it takes a list.
  /// - Throws: ``ReaderError/invalidOption(name:reason:)``.
  package init(named values: [String: [String]]) throws {
    self.init()
    let formats = FileFormats.standard
    let known = formats.options
    let names = known.map(\.key)
    if let name = values.keys.filter({ !names.contains($0) }).min() {
      let reason =
        ImportOptionKey(rawValue: name) == nil
        ? "there is no option of this name; "
          + (NearestName.of(name, among: names).map { "did you mean \($0)?" }
            ?? "there are \(names.joined(separator: ", "))")
        : "it says nothing about how a file is read; these do: \(names.joined(separator: ", "))"
      throw ReaderError.invalidOption(name: name, reason: reason)
    }
    let given = Set(values.keys)
    for option in known {
      guard let texts = values[option.key] else { continue }
      try option.take(NamedValue(name: option.key, texts: texts), given: given, into: &self)
    }
    if let conflict = formats.conflicts(in: self, given: given).first {
      throw ReaderError.invalidOption(name: conflict.key, reason: conflict.problem)
    }
    try validate()
  }
}

/// The texts that a command line gives for an option.
private struct NamedValue: OptionInput {
  let name: String
  let texts: [String]

  private var single: String {
    get throws(ReaderError) {
      guard texts.count == 1 else { throw wrong("it is given several times") }
      return texts[0]
    }
  }

  func text(orEmpty: Bool) throws(ReaderError) -> String? { try single }

  func keyPath() throws(ReaderError) -> String? { try single }

  /// Any text; which of them is a character is for the format to check.
  func character(orWord word: String, meaning: String?) throws(ReaderError) -> String?? {
    let text = try single
    return .some(text == word ? meaning : text)
  }

  func flag() throws(ReaderError) -> Bool? {
    switch try single {
    case "true": return true
    case "false": return false
    default: throw wrong("it is true or false")
    }
  }

  func number(_ allowed: ClosedRange<Int>) throws(ReaderError) -> Int? {
    guard let number = Int(try single), allowed.contains(number) else {
      throw wrong("it is a whole number from \(allowed.lowerBound) to \(allowed.upperBound)")
    }
    return number
  }

  func word(among words: [String]) throws(ReaderError) -> String? {
    let text = try single
    guard words.contains(text) else { throw wrong("it is one of \(words.joined(separator: ", "))") }
    return text
  }

  /// The texts, or the parts between the commas of the only one.
  private var list: [String] {
    texts.count == 1 ? texts[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init) : texts
  }

  func names() throws(ReaderError) -> [String]? { list }

  /// Whether it has one byte per character is for ``ReaderOptions/validate()`` to check.
  func encoding(isSingleByte: Bool) throws(ReaderError) -> TextEncoding? {
    if let known = TextEncoding(name: try single) { return known }
    return try word(among: TextEncoding.allCases.map(\.rawValue)).flatMap { TextEncoding(rawValue: $0) }
  }

  /// `id:5` for a width, `id:1-5` for places.
  func fields() throws(ReaderError) -> [FixedWidthLayout.Column]? {
    var columns: [FixedWidthLayout.Column] = []
    for text in list {
      guard let column = FixedWidthLayout.Column(short: text) else {
        throw wrong("“\(text)” isn't a column: " + FixedWidthLayout.Column.shortForm)
      }
      columns.append(column)
    }
    return columns
  }

  private func wrong(_ reason: String) -> ReaderError { .invalidOption(name: name, reason: reason) }
}
