import LadeTypes

/// A key of a recipe as a field of the mapping editor. What isn't among these the editor neither offers nor keeps.
struct MappingField: Sendable {
  /// How a value is typed.
  enum Kind: Sendable, Hashable {
    case text, number, flag
    /// Texts with commas between.
    case words
    /// `text=value`, with commas between.
    case replacements
    case choice([String])
  }

  /// The recipe's key.
  let key: String
  let title: String
  let kind: Kind
  /// An example.
  var example = ""

  init(_ key: String, _ title: String, _ kind: Kind = .text, _ example: String = "") {
    self.key = key
    self.title = title
    self.kind = kind
    self.example = example
  }

  /// What a field's text says in a recipe; nil for a field that is left empty.
  func value(of text: String) -> OptionValue? {
    guard !text.isEmpty else { return nil }
    switch kind {
    case .text, .choice: return .string(text)
    // What isn't a number the daemon refuses, with the reason.
    case .number: return Int(text).map { .int($0) } ?? .string(text)
    case .flag: return text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
    case .words: return .list(FieldList.items(of: text).map { .string($0) })
    case .replacements:
      let pairs = FieldList.items(of: text, splitAt: "=").map { ($0.first ?? "", OptionValue.string($0.last ?? "")) }
      return .map(Dictionary(pairs) { $1 })
    }
  }

  /// The text that says a recipe's value; nil for one that the field can't say.
  func text(of value: OptionValue) -> String? {
    switch (kind, value) {
    case (.words, .list(let values)):
      let texts = values.compactMap(Self.scalar)
      return texts.count == values.count ? FieldList.text(of: texts.map { [$0] }) : nil
    case (.words, _): return Self.scalar(value).map { FieldList.text(of: [[$0]]) }
    case (.replacements, .map(let map)):
      let pairs = map.sorted { $0.key < $1.key }.map { [$0.key, Self.scalar($0.value) ?? ""] }
      return FieldList.text(of: pairs)
    case (.choice(let words), _):
      guard let text = Self.scalar(value), words.contains(text) else { return nil }
      return text
    default: return Self.scalar(value)
    }
  }

  static func scalar(_ value: OptionValue) -> String? {
    switch value {
    case .string(let text): text
    case .int(let number): String(number)
    case .double(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    case .list, .map: nil
    }
  }
}

extension MappingField {
  /// How objects are found and made.
  static let records = [
    MappingField("mode", "Mode", .choice(ImportMode.allCases.map(\.rawValue))),
    MappingField("key", "Key: attributes that identify an object", .words, "origin, time_hour"),
    MappingField("filter", "Only records for which", .text, "height > 30"),
    MappingField("nulls", "Words that mean nothing", .words, "NA, -"),
    MappingField("trim", "Remove spaces around texts", .flag),
    MappingField(
      "schema", "Values that don't fit, other columns", .choice(["discard_value", "discard_row", "freeze"])),
    MappingField("ignored_columns", "Columns to ignore", .words),
    MappingField("reject_limit", "Most rejected records", .number, "1000"),
    MappingField("reject_share", "Largest share of rejected records", .text, "5%"),
    MappingField("atomic", "Committed together", .choice(["batch", "file"])),
    MappingField("batch_size", "Records in a batch", .number, "10000"),
    MappingField("allow_empty", "A file without objects may delete all", .flag),
    MappingField("skip_known_files", "Skip files that were imported before", .flag),
    MappingField("lineage", "Record where rows come from", .flag),
  ]

  /// How the file is read.
  static let reading = [
    MappingField("format", "Format", .choice(StandardFormats.names)),
    MappingField("member", "File of an archive, sheet of a workbook", .text, "Sheet1"),
    MappingField("encoding", "Encoding", .text, "latin1"),
    MappingField("fallback_encoding", "Encoding of what isn't UTF-8", .text, "windows-1252"),
    MappingField("delimiter", "Delimiter", .text, ";"),
    MappingField("quote", "Quote", .text, "none"),
    MappingField("escape", "Escape character", .text, "\\"),
    MappingField("tsv_escapes", "\\t and \\N mean a tab and nothing", .flag),
    MappingField("header", "The first line names the columns", .flag),
    MappingField("columns", "Names of the columns", .words, "id, name"),
    MappingField("comment", "Comments begin with", .text, "#"),
    MappingField("skip_lines", "Lines before the header", .number, "0"),
    MappingField("fields", "Columns of fixed width", .words, "id:5, name:8-27"),
    MappingField("field_unit", "Positions count", .choice(["characters", "bytes"])),
    MappingField("field_trim", "Remove spaces around fields", .flag),
    MappingField("short_lines", "Lines may be short", .flag),
    MappingField("root", "Keys that lead to the records", .text, "data.items"),
    MappingField("key_column", "Column of the members' keys", .text, "key"),
    MappingField("record", "Element that is a record", .text, "item"),
    MappingField("table", "Table", .text),
    MappingField("query", "Query instead of a table", .text),
    MappingField("binary_as_text", "Bytes are texts", .flag),
  ]

  static let ofFile = records + reading

  /// All that a property can have, beside its column.
  static let ofProperty = [
    MappingField("constant", "Constant instead of a column"),
    MappingField("default", "Value where there is none"),
    MappingField("nulls", "Words that mean nothing", .words, "NA, -"),
    MappingField("trim", "Remove spaces", .flag),
    MappingField("values", "Replacements", .replacements, "m=male, f=female"),
    MappingField("other_values", "Other values", .choice(["keep", "reject"])),
  ]
  static let ofDate = [
    MappingField("date_format", "Date format", .text, "dd.MM.yyyy"),
    MappingField("time_zone", "Time zone", .text, "Europe/Berlin"),
  ]
  static let ofNumber = [
    MappingField("decimal_separator", "Decimal separator", .text, ","),
    MappingField("grouping_separator", "Grouping separator", .text, "."),
    MappingField("unit", "Unit", .text, "kg"),
    MappingField("negatives", "Negative numbers", .choice(["minus", "parentheses", "trailing_minus"])),
  ]
  static let ofTruth = [
    MappingField("true_words", "Words for true", .words, "ja"),
    MappingField("false_words", "Words for false", .words, "nein"),
  ]
  static let ofBytes = [MappingField("binary_encoding", "Written as", .choice(["base64", "hex"]))]
  static let separator = MappingField("separator", "Text between several", .text, ";")
  static let ofRelationship = [
    MappingField("key", "Found by", .words, "code"),
    MappingField("create", "Create what doesn't exist", .flag),
    MappingField("unresolved", "If it isn't found", .choice(["leave", "reject"])),
  ]

  static let ofProperties =
    ofProperty + ofDate + ofNumber + ofTruth + ofBytes + ofRelationship + [separator]
}

/// Lists in one line: items with commas between, in quotes where an item has a comma, a quote or spaces at its ends.
enum FieldList {
  static func items(of text: String) -> [String] { items(of: text, splitAt: nil).map { $0.first ?? "" } }

  /// - Parameter separator: divides an item into two parts; nil: each is one.
  static func items(of text: String, splitAt separator: Character?) -> [[String]] {
    var items: [[String]] = []
    var parts: [String] = []
    var part = ""
    var isQuoted = false
    var wasQuoted = false
    func ended() -> String { wasQuoted ? part : trimmed(part) }
    var rest = Substring(text)
    while let next = rest.popFirst() {
      if isQuoted {
        if next != "\"" {
          part.append(next)
        } else if rest.first == "\"" {
          part.append(rest.removeFirst())
        } else {
          isQuoted = false
        }
      } else if next == "\"", trimmed(part).isEmpty, !wasQuoted {
        (part, isQuoted, wasQuoted) = ("", true, true)
      } else if next == "," {
        items.append(parts + [ended()])
        (parts, part, wasQuoted) = ([], "", false)
      } else if let separator, next == separator, parts.isEmpty {
        parts.append(ended())
        (part, wasQuoted) = ("", false)
      } else if !(wasQuoted && next == " ") {
        part.append(next)
      }
    }
    items.append(parts + [ended()])
    // An item of nothing is one in quotes.
    if items.count > 1 || !items[0].joined().isEmpty || text.contains("\"") { return items }
    return []
  }

  /// What is read as these items.
  static func text(of items: [[String]]) -> String {
    items.map { $0.map(quoted).joined(separator: "=") }.joined(separator: ", ")
  }

  private static func quoted(_ text: String) -> String {
    let isPlain = !text.isEmpty && trimmed(text) == text && !text.contains { [",", "\"", "="].contains($0) }
    return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  private static func trimmed(_ text: String) -> String {
    var text = Substring(text)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
