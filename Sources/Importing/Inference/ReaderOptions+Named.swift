import ManagedObjects

extension ReaderOptions {
  /// Options from texts by the names that recipes give them: `delimiter`, `skip_lines`, `columns`.
  ///
  /// - Parameter values: of each name one text, or several where it takes a list.
  /// - Throws: ``ReaderError/invalidOption(name:reason:)``.
  package init(named values: [String: [String]]) throws {
    self.init()
    for (name, texts) in values.sorted(by: { $0.key < $1.key }) {
      guard let key = ImportOptionKey(rawValue: name) else {
        let names = Self.names
        let nearest = NearestName.of(name, among: names).map { "did you mean \($0)?" }
        throw ReaderError.invalidOption(
          name: name,
          reason: "there is none of this name; " + (nearest ?? "there are \(names.joined(separator: ", "))"))
      }
      try set(key, texts)
    }
    try validate()
  }

  private mutating func set(_ key: ImportOptionKey, _ texts: [String]) throws(ReaderError) {
    let value = NamedValue(name: key.rawValue, texts: texts)
    switch key {
    case .format: format = try value.word(SourceFormat.allCases)
    case .member: member = try value.text()
    case .encoding: encoding = try value.encoding()
    case .fallbackEncoding: fallbackEncoding = try value.encoding()
    case .delimiter: delimiter = try value.text() == "tab" ? "\t" : try value.text()
    case .quote: quote = try value.text() == "none" ? nil : try value.text()
    case .escape: escape = try value.text() == "none" ? nil : try value.text()
    case .tsvEscapes: tsvEscapes = try value.flag()
    case .comment: comment = try value.text()
    case .skipLines: skipLines = try value.number()
    case .header: header = try value.flag()
    case .columns: columns = value.list
    case .fields:
      let columns = try value.fields()
      if fixedWidth == nil { fixedWidth = FixedWidthLayout(columns: columns) } else { fixedWidth?.columns = columns }
    case .fieldUnit:
      try layout { (layout) throws(ReaderError) in
        layout.unit = try value.word(FixedWidthLayout.Unit.allCases)
      }
    case .fieldTrim: try layout { (layout) throws(ReaderError) in layout.trims = try value.flag() }
    case .shortLines: try layout { (layout) throws(ReaderError) in layout.allowsShortLines = try value.flag() }
    case .maximumExpansion: maximumExpansion = try value.number()
    case .maximumUnpackedBytes: maximumUnpackedBytes = Int64(try value.number())
    case .root: root = try value.text()
    case .record: record = try value.text()
    case .table: table = try value.text()
    case .query: query = try value.text()
    case .atomic, .dryRun, .allowEmpty, .skipKnownFiles, .rejectLimit, .rejectShare, .batchSize,
      .properties, .nulls, .trim, .filter, .ignoredColumns, .unknownColumns:
      throw .invalidOption(
        name: key.rawValue,
        reason: "it says nothing of how a file is read; what does: \(Self.names.joined(separator: ", "))")
    }
  }

  /// Those that say how a file is read.
  private static let names = ImportOptionKey.allCases.filter { $0.isOfReading }.map(\.rawValue)

  /// Changes what is said of fixed columns, before or after they are named.
  private mutating func layout(_ change: (inout FixedWidthLayout) throws(ReaderError) -> Void) throws(ReaderError) {
    var layout = fixedWidth ?? FixedWidthLayout(columns: [])
    try change(&layout)
    fixedWidth = layout
  }
}

/// The texts of an option.
private struct NamedValue {
  let name: String
  let texts: [String]

  /// The texts, or the parts between the commas of the only one.
  var list: [String] {
    texts.count == 1 ? texts[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init) : texts
  }

  func text() throws(ReaderError) -> String {
    guard texts.count == 1 else { throw wrong("it is given several times") }
    return texts[0]
  }

  func flag() throws(ReaderError) -> Bool {
    switch try text() {
    case "true": return true
    case "false": return false
    default: throw wrong("it is true or false")
    }
  }

  func number() throws(ReaderError) -> Int {
    guard let number = Int(try text()), number >= 0 else { throw wrong("it is a whole number") }
    return number
  }

  func word<T: RawRepresentable<String>>(_ all: [T]) throws(ReaderError) -> T {
    guard let found = T(rawValue: try text()) else {
      throw wrong("it is one of \(all.map(\.rawValue).joined(separator: ", "))")
    }
    return found
  }

  func encoding() throws(ReaderError) -> TextEncoding {
    if let known = TextEncoding(name: try text()) { return known }
    return try word(TextEncoding.allCases)
  }

  /// `id:5` for a width, `id:1-5` for places.
  func fields() throws(ReaderError) -> [FixedWidthLayout.Column] {
    var columns: [FixedWidthLayout.Column] = []
    for text in list {
      guard let column = FixedWidthLayout.Column(short: text) else {
        throw wrong("“\(text)” is no column: " + FixedWidthLayout.Column.shortForm)
      }
      columns.append(column)
    }
    return columns
  }

  private func wrong(_ reason: String) -> ReaderError { .invalidOption(name: name, reason: reason) }
}
