import Importing

extension ReaderOptions {
  /// Takes the options of reading that a section has.
  mutating func read(_ section: YAMLSection<ImportOptionKey>) {
    let given = Self.given(in: section)
    for (option, value) in Self.options(in: section) {
      do {
        try option.take(value, given: given, into: &self)
      } catch {
        value.wrong(String(describing: error))
      }
    }
  }

  /// Reports options that contradict each other, or that the format has no use for.
  func reportConflicts(in section: YAMLSection<ImportOptionKey>) {
    for conflict in FileFormats.standard.conflicts(in: self, given: Self.given(in: section)) {
      ImportOptionKey(rawValue: conflict.key).flatMap { section[$0] }?.conflict(conflict.problem)
    }
    guard section.isWithoutProblems else { return }
    do {
      try validate()
    } catch {
      section.report(String(describing: error))
    }
  }

  private static func options(
    in section: YAMLSection<ImportOptionKey>
  ) -> [(option: FormatOption, value: YAMLValue)] {
    FileFormats.standard.options.compactMap { option in
      ImportOptionKey(rawValue: option.key).flatMap { section[$0] }.map { (option, $0) }
    }
  }

  private static func given(in section: YAMLSection<ImportOptionKey>) -> Set<String> {
    Set(options(in: section).map(\.option.key))
  }
}

/// Values of the configuration, a ticket or a submission. Problems are reported with their places.
extension YAMLValue: OptionInput {
  func text(orEmpty: Bool) -> String? { anyText(orEmpty: orEmpty) }

  /// Keys with dots between them.
  func keyPath() -> String? {
    guard let text = text() else { return nil }
    if text != ".", text.split(separator: ".", omittingEmptySubsequences: false).contains("") {
      wrong("between its dots there must be keys, such as `data.items`")
    }
    return text
  }

  /// One character, or a word with a meaning of its own.
  func character(orWord word: String, meaning: String?) -> String?? {
    guard let text = scalar("one character, or \(word)") else { return nil }
    if text == word { return .some(meaning) }
    guard text.utf8.count == 1, let byte = text.utf8.first, byte == 9 || (0x20..<0x7F).contains(byte) else {
      wrong("it must be one character of ASCII, or the word `\(word)`")
      return nil
    }
    return text
  }

  func number(_ allowed: ClosedRange<Int>) -> Int? { integer(allowed) }

  func word(among words: [String]) -> String? { name(among: words) }

  func names() -> [String]? { columnNames() }

  func encoding(isSingleByte: Bool) -> TextEncoding? {
    guard let name = anyText(), let found = TextEncoding(name: name) ?? word(of: TextEncoding.self) else { return nil }
    if isSingleByte, !found.isSingleByte {
      wrong("it must have one byte a character, such as windows-1252")
      return nil
    }
    return found
  }
}
