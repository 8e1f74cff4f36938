/// Ways of writing numbers that no type is inferred from: an import reads them by options, or not at all.
struct NumberNotation: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  /// `1.234,5`
  static let decimalComma = NumberNotation(rawValue: 1)
  /// `1,234.5`
  static let grouped = NumberNotation(rawValue: 2)
  /// `12.5 %`
  static let percent = NumberNotation(rawValue: 4)
  /// `$12.50`, `12,50 €`, `EUR 12`
  static let currency = NumberNotation(rawValue: 8)
  /// `1e3`, which may also be a code
  static let exponent = NumberNotation(rawValue: 16)
  /// `y` and `n`, `t` and `f`, which may also be codes
  static let letters = NumberNotation(rawValue: 32)

  static let all: NumberNotation = [.decimalComma, .grouped, .percent, .currency, .exponent, .letters]

  /// Those of `candidates` by which a text may be written.
  static func fitting(_ text: UnsafeRawBufferPointer, _ candidates: NumberNotation) -> NumberNotation {
    guard text.count <= 40 else { return [] }
    var found: NumberNotation = []
    if candidates.contains(.decimalComma), isNumber(text, fraction: comma, group: point) { found.insert(.decimalComma) }
    if candidates.contains(.grouped), isNumber(text, fraction: point, group: comma) { found.insert(.grouped) }
    if candidates.contains(.percent), isAnyNumber(withoutPercent(text)) { found.insert(.percent) }
    if candidates.contains(.currency), isAnyNumber(withoutCurrency(text)) { found.insert(.currency) }
    if candidates.contains(.exponent), NumberShape(text, isJSON: true) != nil { found.insert(.exponent) }
    if candidates.contains(.letters), text.count == 1, letterBytes.contains(text[0] | 0x20) { found.insert(.letters) }
    return found
  }

  /// What is said of a column whose texts are all written so; nil where nothing tells it from plain text.
  ///
  /// - Parameter attribute: the name of the column's attribute, for options.
  func note(_ attribute: String) -> String? {
    let make = "make it Decimal or Double, and import it with properties.\(attribute)"
    if contains([.decimalComma, .grouped]) {
      return "its commas may be decimal commas or group digits, and no value decides which; taken as text. As numbers: "
        + "\(make).decimal_separator=, or .grouping_separator=,"
    }
    if contains(.decimalComma) {
      return
        "its values are numbers with a decimal comma; taken as text. As numbers: \(make).decimal_separator=, and, if "
        + "points group digits, .grouping_separator=."
    }
    if contains(.grouped) {
      return "its values are numbers with grouped digits; taken as text. As numbers: \(make).grouping_separator=,"
    }
    if contains(.percent) { return "its values are percentages; taken as text" }
    if contains(.currency) { return "its values are amounts of money with a currency; taken as text" }
    if contains(.exponent) {
      return "its values may be numbers with exponents, or codes; taken as text. As numbers: make it Double"
    }
    if contains(.letters) {
      return "its values may stand for true and false; taken as text. If they do: make it Boolean"
    }
    return nil
  }

  private static let comma = UInt8(ascii: ",")
  private static let point = UInt8(ascii: ".")
  private static let letterBytes: Set<UInt8> = [
    UInt8(ascii: "y"), UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"),
  ]
  private static let signs = ["$", "€", "£", "¥", "EUR", "USD", "GBP", "CHF", "JPY"].map { Array($0.utf8) }

  private static func isAnyNumber(_ text: UnsafeRawBufferPointer) -> Bool {
    isNumber(text, fraction: point, group: comma) || isNumber(text, fraction: comma, group: point)
  }

  /// Digits, in groups of three or none, and a fraction.
  private static func isNumber(_ text: UnsafeRawBufferPointer, fraction: UInt8, group: UInt8) -> Bool {
    var index = 0
    func digits() -> Int {
      let start = index
      while index < text.count, text[index] &- 0x30 < 10 { index += 1 }
      return index - start
    }
    if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") { index += 1 }
    let first = index
    let whole = digits()
    // 007 is a code.
    if whole == 0 || (whole > 1 && text[first] == 0x30) { return false }
    while index < text.count, text[index] == group {
      index += 1
      guard whole <= 3, digits() == 3 else { return false }
    }
    if index < text.count, text[index] == fraction {
      index += 1
      guard digits() > 0 else { return false }
    }
    return index == text.count
  }

  private static func withoutPercent(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard text.last == UInt8(ascii: "%") else { return text }
    return ValueConverter.trimmed(UnsafeRawBufferPointer(rebasing: text.dropLast()))
  }

  private static func withoutCurrency(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    for sign in signs where text.count > sign.count {
      if text.starts(with: sign) {
        return ValueConverter.trimmed(UnsafeRawBufferPointer(rebasing: text.dropFirst(sign.count)))
      }
      if text.suffix(sign.count).elementsEqual(sign) {
        return ValueConverter.trimmed(UnsafeRawBufferPointer(rebasing: text.dropLast(sign.count)))
      }
    }
    return text
  }

  /// Whether the text is in one of the notations rather than a plain number, which fits most of them.
  static func isTelling(_ text: UnsafeRawBufferPointer) -> Bool {
    text.contains { $0 &- 0x30 >= 10 && $0 != point && $0 != UInt8(ascii: "-") }
  }
}

/// Words for no value.
struct NullWords: Sendable, Hashable {
  private let words: [[UInt8]]

  init(_ words: [String]) { self.words = words.map { Array($0.utf8) } }

  func contains(_ text: UnsafeRawBufferPointer) -> Bool {
    words.contains { $0.count == text.count && text.elementsEqual($0) }
  }

  /// Words that usually say that there is no value.
  static let usual = NullWords([
    "NA", "N/A", "n/a", "na", "#N/A", "NULL", "null", "Null", "\\N", "None", "none", "nil", "NaN", "nan", "-", "--",
    "?",
    ".", "missing", "unknown",
  ])
}
