import Foundation

/// Rejects as CSV with four columns before the record's own.
struct TabularRejects: RejectForm {
  /// The special bytes of a CSV file.
  struct Dialect {
    let delimiter: UInt8
    /// nil: fields are never quoted.
    let quote: UInt8?
    /// The byte before one that would otherwise end the field.
    let escape: UInt8?
    let hasLetterEscapes: Bool
    /// The lines before the header that the options skip. As many empty lines are written, or the header would be skipped
    /// when the corrected file is read with the same options.
    let skippedLines: Int

    init(_ source: CSVDialect, skippedLines: Int = 0) {
      self.skippedLines = skippedLines
      escape = source.escape
      hasLetterEscapes = source.hasLetterEscapes
      delimiter = source.delimiter
      quote = UInt8(exactly: source.quote)
    }
  }

  private let dialect: Dialect
  private let columns: [String]
  /// Whether the source was a reject file itself, whose records begin with their earlier reasons.
  private var hasReasons: Bool

  init(dialect: Dialect, columns: [String]) {
    self.dialect = dialect
    hasReasons = columns.starts(with: RejectReason.columns)
    self.columns = hasReasons ? columns : RejectReason.columns + columns
  }

  /// The same form, for records that have lost their earlier reasons.
  var ofOwnRecords: TabularRejects {
    var form = self
    form.hasReasons = false
    return form
  }

  /// The header line.
  var opening: [UInt8] {
    [UInt8](repeating: Self.newline, count: dialect.skippedLines) + fields(columns, dialect) + [Self.newline]
  }

  func record(_ rejection: Rejection) -> [UInt8] {
    var line = fields([String(rejection.line), rejection.column, rejection.code, rejection.message], dialect)
    line.append(dialect.delimiter)
    // A zero byte would make the whole file look binary. Bytes with an open quote become one field, or they would
    // swallow the records after them.
    let raw = rejection.raw.contains(0) ? Self.withoutZeroes(rejection.raw) : rejection.raw
    line += rejection.isSelfContained ? ownFields(of: raw) : field(raw, dialect)[...]
    line.append(Self.newline)
    return line
  }

  /// A record of these cells.
  func line(of cells: [(kind: Cell.Kind, text: [UInt8])]) -> [UInt8] {
    let fields = cells.map { kind, text -> [UInt8] in
      switch kind {
      case .null: dialect.escape.map { dialect.hasLetterEscapes ? [$0, UInt8(ascii: "N")] : [] } ?? []
      case .empty, .missing: []
      default: text.isEmpty ? dialect.quote.map { [$0, $0] } ?? [] : field(text, dialect)
      }
    }
    return Array(fields.joined(separator: [dialect.delimiter]))
  }

  private func fields(_ texts: [String], _ dialect: Dialect) -> [UInt8] {
    Array(texts.map { field(Array($0.utf8), dialect) }.joined(separator: [dialect.delimiter]))
  }

  // By bytes: a quote with a combining mark after it is another character in Swift, but still a quote to a reader.
  private func field(_ text: [UInt8], _ dialect: Dialect) -> [UInt8] {
    let text = text.contains(0) ? Self.withoutZeroes(text) : text
    let isSpecial = { (byte: UInt8) in
      byte == dialect.delimiter || byte == dialect.quote || byte == Self.newline || byte == Self.carriageReturn
        || byte == dialect.escape
    }
    guard text.contains(where: isSpecial) else { return text }
    if let escape = dialect.escape {
      return text.flatMap { byte -> [UInt8] in
        switch byte {
        case Self.newline where dialect.hasLetterEscapes: [escape, UInt8(ascii: "n")]
        case Self.carriageReturn where dialect.hasLetterEscapes: [escape, UInt8(ascii: "r")]
        case UInt8(ascii: "\t") where dialect.hasLetterEscapes: [escape, UInt8(ascii: "t")]
        default: isSpecial(byte) ? [escape, byte] : [byte]
        }
      }
    }
    guard let quote = dialect.quote else { return text.map { isSpecial($0) ? UInt8(ascii: " ") : $0 } }
    return [quote] + text.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
  }

  /// A record without its earlier reasons.
  func ownFields(of raw: [UInt8]) -> ArraySlice<UInt8> {
    guard hasReasons, let field = fieldRange(RejectReason.columns.count, of: raw) else { return raw[...] }
    return raw[field.lowerBound...]
  }

  /// Where a field is in a record, with its quotes; nil if the record has fewer.
  func fieldRange(_ place: Int, of raw: [UInt8]) -> Range<Int>? {
    var field = 0
    var start = 0
    var isQuoted = false
    var isEscaped = false
    for (index, byte) in raw.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if byte == dialect.escape {
        isEscaped = true
      } else if byte == dialect.quote {
        isQuoted.toggle()
      } else if byte == dialect.delimiter, !isQuoted {
        if field == place { return start..<index }
        field += 1
        start = index + 1
      }
    }
    return field == place ? start..<raw.count : nil
  }

  private static func withoutZeroes(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { $0 == 0 ? Array("\u{FFFD}".utf8) : [$0] }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
