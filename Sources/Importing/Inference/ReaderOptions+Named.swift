extension ReaderOptions {
  /// Options from texts by the names that recipes give them: `delimiter`, `skip_lines`, `columns`.
  ///
  /// - Parameter values: of each name one text, or several where it takes a list.
  /// - Throws: ``ReaderError/invalidOption(name:reason:)``.
  package init(named values: [String: [String]]) throws {
    self.init()
    for (name, texts) in values.sorted(by: { $0.key < $1.key }) { try set(name, texts) }
    try validate()
  }

  private mutating func set(_ name: String, _ texts: [String]) throws(ReaderError) {
    let value = NamedValue(name: name, texts: texts)
    switch name {
    case "format": format = try value.word(SourceFormat.allCases)
    case "member": member = try value.text()
    case "encoding": encoding = try value.encoding()
    case "fallback_encoding": fallbackEncoding = try value.encoding()
    case "delimiter": delimiter = try value.text() == "tab" ? "\t" : try value.text()
    case "quote": quote = try value.text() == "none" ? nil : try value.text()
    case "escape": escape = try value.text() == "none" ? nil : try value.text()
    case "tsv_escapes": tsvEscapes = try value.flag()
    case "comment": comment = try value.text()
    case "skip_lines": skipLines = try value.number()
    case "header": header = try value.flag()
    case "columns": columns = value.list
    case "fields":
      let columns = try value.fields()
      if fixedWidth == nil { fixedWidth = FixedWidthLayout(columns: columns) } else { fixedWidth?.columns = columns }
    case "field_unit":
      try layout { (layout) throws(ReaderError) in
        layout.unit = try value.word(FixedWidthLayout.Unit.allCases)
      }
    case "field_trim": try layout { (layout) throws(ReaderError) in layout.trims = try value.flag() }
    case "short_lines": try layout { (layout) throws(ReaderError) in layout.allowsShortLines = try value.flag() }
    case "maximum_expansion": maximumExpansion = try value.number()
    case "maximum_unpacked_bytes": maximumUnpackedBytes = Int64(try value.number())
    case "root": root = try value.text()
    case "record": record = try value.text()
    default: throw .invalidOption(name: name, reason: "there is none of this name; there are \(Self.names)")
    }
  }

  private static let names =
    "format, member, encoding, fallback_encoding, delimiter, quote, escape, tsv_escapes, comment, skip_lines, header, "
    + "columns, fields, field_unit, field_trim, short_lines, maximum_expansion, maximum_unpacked_bytes, root, record"

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
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      let places =
        parts.count == 2 ? parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) } : []
      if places.count == 1, let width = places[0] {
        columns.append(.init(String(parts[0]), width: width))
      } else if places.count == 2, let start = places[0], let end = places[1] {
        columns.append(.init(String(parts[0]), start: start, end: end))
      } else {
        throw wrong("a column is its name and width, such as id:5, or its first and last place, such as id:1-5")
      }
    }
    return columns
  }

  private func wrong(_ reason: String) -> ReaderError { .invalidOption(name: name, reason: reason) }
}
