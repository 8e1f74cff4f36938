import Importing

extension ReaderOptions {
  /// Takes what a section says of reading.
  mutating func read(_ section: YAMLSection<ImportOptionKey>) {
    if let word = section[.format]?.word(of: SourceFormat.self) { format = word }
    if let name = section[.member]?.anyText() { member = name }
    if let found = section[.encoding]?.encoding() { encoding = found }
    if let found = section[.fallbackEncoding]?.encoding() {
      if found.isSingleByte {
        fallbackEncoding = found
      } else {
        section[.fallbackEncoding]?.wrong("it must have one byte a character, such as windows-1252")
      }
    }
    if let factor = section[.maximumExpansion]?.integer(1...1_000_000) { maximumExpansion = factor }
    if let bytes = section[.maximumUnpackedBytes]?.integer(1...Int.max) { maximumUnpackedBytes = Int64(bytes) }
    if let character = section[.delimiter]?.delimiter() { delimiter = character }
    section[.quote]?.readCharacter(into: &quote)
    section[.escape]?.readCharacter(into: &escape)
    if let flag = section[.tsvEscapes]?.flag() { tsvEscapes = flag }
    if let text = section[.comment]?.anyText() { comment = text }
    if let lines = section[.skipLines]?.integer(0...1_000_000) { skipLines = lines }
    if let flag = section[.header]?.flag() { header = flag }
    if let names = section[.columns]?.columnNames() { columns = names }
    section[.fields]?.readFields(into: &fixedWidth)
    if let unit = section[.fieldUnit]?.word(of: FixedWidthLayout.Unit.self) { fixedWidth?.unit = unit }
    if let flag = section[.fieldTrim]?.flag() { fixedWidth?.trims = flag }
    if let flag = section[.shortLines]?.flag() { fixedWidth?.allowsShortLines = flag }
    if let path = section[.root]?.keyPath() { root = path }
    if let path = section[.record]?.anyText() { record = path }
    // One goes in place of the other that was said before.
    if let name = section[.table]?.anyText() { (table, query) = (name, section[.query] == nil ? nil : query) }
    if let statement = section[.query]?.anyText(orEmpty: true) {
      (table, query) = (section[.table] == nil ? nil : table, statement)
    }
  }

  /// Reports options that contradict each other, or that the format has no use for.
  func reportConflicts(in section: YAMLSection<ImportOptionKey>) {
    func refuse(_ keys: [ImportOptionKey], _ whose: String) {
      guard let format else { return }
      for key in keys { section[key]?.conflict("only \(whose), and the format is \(format.rawValue)") }
    }
    let table: [ImportOptionKey] = [.delimiter, .quote, .escape, .tsvEscapes, .header]
    let lines: [ImportOptionKey] = [.comment, .skipLines]
    let fields: [ImportOptionKey] = [.fields, .fieldUnit, .fieldTrim, .shortLines]
    switch format {
    case .csv: refuse(fields, "fixed width has it")
    case .tsv:
      refuse(fields, "fixed width has it")
      if let delimiter, delimiter != "\t" {
        section[.delimiter]?.conflict("the delimiter of TSV is a tab; write `format: csv`, or remove this key")
      }
    case .fixedWidth: refuse(table + [.columns], "CSV and TSV have it")
    case nil: break
    default:
      refuse(table, "CSV and TSV have it")
      refuse(lines, "formats of lines have it")
      refuse(fields, "fixed width has it")
    }
    if format != .json, format != .plist { refuse([.root], "JSON documents and property lists have it") }
    if format != .sqlite { refuse([.table, .query], "SQLite has it") }
    if format == .sqlite {
      refuse([.encoding, .fallbackEncoding, .columns, .member], "texts have it")
    }
    if format != .xml { refuse([.record], "XML has it") }
    if !header, columns == nil, format == nil || format == .csv || format == .tsv {
      section[.header]?.conflict("without a header line the file can't name its columns; add `columns: [a, b]`")
    }
    if let quote, quote == delimiter {
      (section[.quote] ?? section[.delimiter])?.conflict("it is the delimiter, too")
    }
    if fixedWidth == nil {
      for key in [ImportOptionKey.fieldUnit, .fieldTrim, .shortLines] {
        section[key]?.conflict("there are no `fields` that it could be said of")
      }
      if format == .fixedWidth {
        section[.format]?.conflict("it needs the columns: add `fields: [id:5, name:20]`")
      }
    }
    guard section.isWithoutProblems else { return }
    do {
      try validate()
    } catch {
      section.report(String(describing: error))
    }
  }
}

extension YAMLValue {
  /// One character, or the word `tab`.
  fileprivate func delimiter() -> String? {
    guard let scalar = scalar("one character, or tab") else { return nil }
    return scalar.string == "tab" ? "\t" : character(scalar.string, orWord: "tab")
  }

  /// One character, or the word `none` for no such thing.
  fileprivate func readCharacter(into character: inout String?) {
    guard let scalar = scalar("one character, or none") else { return }
    if scalar.string == "none" {
      character = nil
    } else if let found = self.character(scalar.string, orWord: "none") {
      character = found
    }
  }

  private func character(_ text: String, orWord word: String) -> String? {
    guard text.utf8.count == 1, let byte = text.utf8.first, byte == 9 || (0x20..<0x7F).contains(byte) else {
      wrong("it must be one character of ASCII, or the word `\(word)`")
      return nil
    }
    return text
  }

  fileprivate func encoding() -> TextEncoding? {
    guard let name = anyText() else { return nil }
    if let encoding = TextEncoding(name: name) { return encoding }
    return word(of: TextEncoding.self)
  }

  /// Keys with dots between them.
  fileprivate func keyPath() -> String? {
    guard let text = text() else { return nil }
    if text.split(separator: ".", omittingEmptySubsequences: false).contains("") {
      wrong("between its dots there must be keys, such as `data.items`")
    }
    return text
  }
}
