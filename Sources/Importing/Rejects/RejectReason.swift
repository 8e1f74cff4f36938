import Foundation

// What a reject file adds to a record, and how a reader recognises it in a corrected file: readers and mapping
// skip it, so that the file can be imported with the options of its source.

/// The names under which a reject file gives the reasons.
enum RejectReason {
  /// CSV: the columns before the record's own.
  static let columns = ["lade_line", "lade_column", "lade_code", "lade_message"]
  /// JSON and property lists: the first member of the record.
  static let member = "lade"
  /// The code of a record that is only a reason, with the source's text inside: it hasn't been corrected.
  static let notCorrected = "not_corrected"
  /// Fixed width: the first line, after those that are skipped.
  static let fixedWidthTitle = "#lade rejects: lines that begin with #lade are no records"
  /// Fixed width: the mark before a reason, and before bytes that can't be a record of their own.
  static let fixedWidthMark = "#lade"
  /// XML: the mark before a reason.
  static let instruction = "<?lade "

  private static let beginnings = ["{\"lade\":{\"line\":", "<?lade line=", "<key>lade</key><dict><key>line</key>"]

  /// Whether a column was added by a reject file.
  static func isAdded(_ column: String) -> Bool { column == member || columns.contains(column) }

  /// Whether a file with this beginning is a reject file.
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
      JSONString.quote(text.utf8, to: &json)
    }
    return json + [UInt8(ascii: "}")]
  }

  /// `line="7" column="age" code="not_an_integer" message="…"`, on one line.
  static func attributes(_ rejection: Rejection) -> String {
    let members = [
      ("line", String(rejection.line)), ("column", rejection.column), ("code", rejection.code),
      ("message", rejection.message),
    ]
    return members.map { "\($0)=\"\(XMLText.escaped($1, inLine: true))\"" }.joined(separator: " ")
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

extension String {
  /// For messages and notes: the text, or the beginning of a long one. A cell may have megabytes.
  var shown: String {
    if utf8.count <= 200 { return self }
    // By scalars: a character may be of any length, too.
    return String(String.UnicodeScalarView(unicodeScalars.prefix(60))) + "…"
  }
}
