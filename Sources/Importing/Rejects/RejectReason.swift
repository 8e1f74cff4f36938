import Foundation

// What is added to a rejected record, and by what it is known again when the mended file is read: readers and mapping
// pass over it, so that the file can be imported with the options that its source was imported with.

/// The names under which a reject file says why a record was rejected.
enum RejectReason {
  /// CSV: the columns before the record's own.
  static let columns = ["lade_line", "lade_column", "lade_code", "lade_message"]
  /// JSON and property lists: the first member of the record.
  static let member = "lade"
  /// A record that only says why it was rejected: the source's text is in there, and nobody has mended it.
  static let notMended = "not_mended"
  /// Fixed width: the first line, after those that are skipped.
  static let fixedWidthTitle = "#lade rejects: lines that begin with #lade are no records"
  /// Fixed width: what stands before a reason, or a line of a record that can't be one.
  static let fixedWidthMark = "#lade"
  /// XML: what stands before a reason.
  static let instruction = "<?lade "

  private static let beginnings = ["{\"lade\":{\"line\":", "<?lade line=", "<key>lade</key><dict><key>line</key>"]

  /// Whether a column of a source is none of its own.
  static func isAdded(_ column: String) -> Bool { column == member || columns.contains(column) }

  /// Whether a file that begins so was written as a reject file.
  static func isRejectFile(_ beginning: some Collection<UInt8>) -> Bool {
    let text = Array(beginning.prefix(4_096))
    let start = text.drop { JSONToken.isSpace($0) || [0xEF, 0xBB, 0xBF].contains($0) }
    if start.starts(with: Array(columns[0].utf8)) || start.starts(with: Array(fixedWidthMark.utf8)) { return true }
    return beginnings.contains { text.firstRange(of: Array($0.utf8)) != nil }
  }

  /// `{"line":7,"column":"age","code":"not_an_integer","message":"…"}`, with the record's text if it can't be there
  /// itself.
  static func json(_ rejection: Rejection, record: [UInt8]? = nil) -> [UInt8] {
    var json = Array("{\"line\":\(rejection.line)".utf8)
    var members = [("column", rejection.column), ("code", rejection.code), ("message", rejection.message)]
    if let record { members.append(("record", String(decoding: record, as: UTF8.self))) }
    for (name, text) in members {
      json += Array(",\"\(name)\":".utf8)
      XMLTree.quote(Array(text.utf8), to: &json)
    }
    return json + [UInt8(ascii: "}")]
  }

  /// `line="7" column="age" code="not_an_integer" message="…"`, on one line.
  static func attributes(_ rejection: Rejection) -> String {
    let members = [
      ("line", String(rejection.line)), ("column", rejection.column), ("code", rejection.code),
      ("message", rejection.message),
    ]
    return members.map { "\($0)=\"\(xml($1, inLine: true))\"" }.joined(separator: " ")
  }

  /// The values of such attributes, by name.
  static func attributes(of text: String) -> [String: String] {
    var found: [String: String] = [:]
    var rest = Substring(text)
    while let equals = rest.firstRange(of: "=\"") {
      let name = rest[..<equals.lowerBound].drop { $0 == " " }
      rest = rest[equals.upperBound...]
      guard let end = rest.firstIndex(of: "\"") else { break }
      found[String(name)] = plain(rest[..<end])
      rest = rest[rest.index(after: end)...]
    }
    return found
  }

  /// A text as XML has it, without the characters that XML can't have. In one line, nothing of it ends that, an
  /// instruction or an attribute.
  static func xml(_ text: String, inLine: Bool = false) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"" where inLine: result += "&quot;"
      case "\n" where inLine, "\r" where inLine, "\t" where inLine: result += "&#\(scalar.value);"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\r": result += "&#13;"
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func plain(_ text: Substring) -> String {
    let bytes = Array(text.utf8)
    var plain: [UInt8] = []
    bytes.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      XMLText.decode(from: base, to: base + buffer.count, isLiteral: false, isAttribute: false, into: &plain)
    }
    return String(decoding: plain, as: UTF8.self)
  }
}
