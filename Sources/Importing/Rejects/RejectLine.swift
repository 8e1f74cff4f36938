import Foundation

/// How a rejected record is written down: as CSV with four columns before the record's own, so that the file can be
/// mended and imported again, or as a JSON object a line with the record as a string.
struct RejectLine {
  /// What the fields of a CSV file are written with.
  struct Dialect {
    let delimiter: UInt8
    /// nil: fields are never quoted.
    let quote: UInt8?
    /// What goes before a byte that would otherwise end the field.
    let escape: UInt8?
    let hasLetterEscapes: Bool
    /// Lines that the options say are before the header: so many empty ones are written, lest the header be skipped
    /// when the mended file is read with the same options.
    let skippedLines: Int

    init(_ source: CSVDialect, skippedLines: Int = 0) {
      self.skippedLines = skippedLines
      escape = source.escape
      hasLetterEscapes = source.hasLetterEscapes
      delimiter = source.delimiter
      quote = UInt8(exactly: source.quote)
    }
  }

  /// nil: JSON.
  let dialect: Dialect?

  /// The first line of a CSV file.
  func header(_ columns: [String]) -> [UInt8] {
    guard let dialect else { return [] }
    return [UInt8](repeating: Self.newline, count: dialect.skippedLines)
      + fields(["lade_line", "lade_column", "lade_code", "lade_message"] + columns, dialect) + [Self.newline]
  }

  /// The line of a rejection.
  func line(_ rejection: Rejection) -> [UInt8] {
    guard let dialect else { return json(rejection) }
    var line = fields([String(rejection.line), rejection.column, rejection.code, rejection.message], dialect)
    line.append(dialect.delimiter)
    // A zero byte would make the whole file look like no text. Bytes with an open quote become one field, lest they
    // swallow the records after them.
    let raw = rejection.raw.contains(0) ? Self.withoutZeroes(rejection.raw) : rejection.raw
    line += rejection.isSelfContained ? raw : field(raw, dialect)
    line.append(Self.newline)
    return line
  }

  private func fields(_ texts: [String], _ dialect: Dialect) -> [UInt8] {
    Array(texts.map { field(Array($0.utf8), dialect) }.joined(separator: [dialect.delimiter]))
  }

  // By bytes: a quote with a combining mark after it is another character, but still a quote to who reads the file.
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

  private func json(_ rejection: Rejection) -> [UInt8] {
    let reason = [
      "\"line\":\(rejection.line)", "\"column\":\(Self.json(rejection.column))",
      "\"code\":\(Self.json(rejection.code))",
      "\"message\":\(Self.json(rejection.message))",
    ]
    let record = Self.json(String(decoding: rejection.raw, as: UTF8.self))
    return Array("{\"lade\":{\(reason.joined(separator: ","))},\"record\":\(record)}\n".utf8)
  }

  private static func json(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20: result += String(format: "\\u%04x", scalar.value)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func withoutZeroes(_ bytes: [UInt8]) -> [UInt8] {
    bytes.flatMap { $0 == 0 ? Array("\u{FFFD}".utf8) : [$0] }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
