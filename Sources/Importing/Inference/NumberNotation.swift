import ManagedObjects

/// The notation of a column's numbers, narrowed text by text: ways of writing that no type is inferred from, because an import
/// reads them by options, or because they may also be codes.
struct NumberNotation: Sendable {
  /// Ways in which every text so far may be written.
  private struct Ways: OptionSet {
    let rawValue: UInt8

    /// `1.234,5`
    static let decimalComma = Ways(rawValue: 1)
    /// `1,234.5`
    static let grouped = Ways(rawValue: 2)
    /// `1e3`, which may also be a code
    static let exponent = Ways(rawValue: 4)
    /// `y` and `n`, `t` and `f`, which may also be codes
    static let letters = Ways(rawValue: 8)
  }

  private var ways: Ways = [.decimalComma, .grouped, .exponent, .letters]
  /// Whether a text shows that it is in a notation: plain numbers fit most of them.
  private var isTelling = false
  private var isEmpty = true
  /// The unit beside every number; nil for none.
  private var unit: Int?
  private var hasSeveralUnits = false
  private var hasParentheses = false
  private var hasTrailingMinus = false
  private var hasComma = false
  private var hasPoint = false
  /// The range of numbers with exponents.
  private var wholes = WholeRange()

  private static let units = [
    "%", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kr", "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "CAD",
    "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "BRL",
  ]
  private static let unitBytes = units.map { Array($0.utf8) }
  private static let percent = 0
  private static let comma = UInt8(ascii: ",")
  private static let point = UInt8(ascii: ".")
  private static let letterBytes: Set<UInt8> = [
    UInt8(ascii: "y"), UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"),
  ]

  /// Whether no notation is left.
  var isRuledOut: Bool { ways.isEmpty }

  mutating func ruleOut() { ways = [] }

  /// Takes a text into account, without spaces at its ends.
  mutating func note(_ text: UnsafeRawBufferPointer) {
    var left: Ways = []
    if text.count <= 40 {
      if let parts = NumberMarks.Parts(text, units: Self.unitBytes, parentheses: true, trailingMinus: true) {
        if Self.isNumber(parts.number, fraction: Self.comma, group: Self.point) { left.insert(.decimalComma) }
        if Self.isNumber(parts.number, fraction: Self.point, group: Self.comma) { left.insert(.grouped) }
        note(parts)
      }
      if let shape = NumberShape(text, isJSON: true) {
        left.insert(.exponent)
        wholes.note(shape.whole)
      }
      if text.count == 1, Self.letterBytes.contains(text[0] | 0x20) { left.insert(.letters) }
    }
    ways.formIntersection(left)
    isEmpty = false
    isTelling =
      isTelling || hasTrailingMinus
      || text.contains { $0 &- 0x30 >= 10 && $0 != Self.point && $0 != UInt8(ascii: "-") }
  }

  private mutating func note(_ parts: NumberMarks.Parts) {
    if isEmpty { unit = parts.unit } else if unit != parts.unit { hasSeveralUnits = true }
    hasParentheses = hasParentheses || parts.isInParentheses
    hasTrailingMinus = hasTrailingMinus || parts.hasTrailingMinus
    hasComma = hasComma || parts.number.contains(Self.comma)
    hasPoint = hasPoint || parts.number.contains(Self.point)
  }

  /// The types other than text that imports read the column as without options.
  var otherTypes: [AttributeType] {
    guard isTelling else { return [] }
    if ways.contains(.exponent) { return (wholeRange == nil ? [] : [.integer64]) + [.double, .float, .decimal] }
    return ways.contains(.letters) ? [.boolean] : []
  }

  /// The range of numbers with exponents, if all are whole; nil otherwise.
  var wholeRange: ClosedRange<Int64>? { isTelling && ways.contains(.exponent) ? wholes.range : nil }

  /// What is said of a column whose texts are all written so; nil where nothing tells it from plain text.
  ///
  /// - Parameter attribute: the name of the column's attribute, for options.
  func advice(_ attribute: String) -> String? {
    guard isTelling else { return nil }
    if !ways.isDisjoint(with: [.decimalComma, .grouped]) { return adviceOnMarks(attribute) }
    if ways.contains(.exponent) {
      return "its values may be numbers with exponents, or codes; taken as text. As numbers: make it Double"
    }
    if ways.contains(.letters) {
      return "its values may stand for true and false; taken as text. If they do: make it Boolean"
    }
    return nil
  }

  private func adviceOnMarks(_ attribute: String) -> String? {
    if hasSeveralUnits { return "its values are numbers with different units, or some without one; taken as text" }
    if hasParentheses, hasTrailingMinus { return nil }
    guard hasComma || unit != nil || hasParentheses || hasTrailingMinus else { return nil }
    let isOpen = ways.isSuperset(of: [.decimalComma, .grouped])
    var options: [String] = []
    func add(_ key: String, _ value: String) {
      options.append("--option 'properties.\(attribute).\(key)=\(value)'")
    }
    if let unit { add("unit", Self.units[unit]) }
    if !isOpen, ways.contains(.decimalComma) {
      if hasComma || hasPoint { add("decimal_separator", ",") }
      if hasPoint { add("grouping_separator", ".") }
    } else if !isOpen, hasComma {
      add("grouping_separator", ",")
    }
    if hasParentheses { add("negatives", PropertyRule.Negatives.parentheses.rawValue) }
    if hasTrailingMinus { add("negatives", PropertyRule.Negatives.trailingMinus.rawValue) }
    var (kind, choice) = ("its values are \(self.kind)", "")
    if isOpen, hasComma {
      kind = "its commas may be decimal commas or group digits, and no value decides which"
      add("decimal_separator", ",")
      choice = " or, if they group digits, grouping_separator in place of decimal_separator"
    } else if isOpen, hasPoint {
      kind += ", whose points may be decimal points or group digits, and no value decides which"
      choice =
        " and, if they group digits, --option 'properties.\(attribute).decimal_separator=,' and "
        + "--option 'properties.\(attribute).grouping_separator=.'"
    }
    return "\(kind); taken as text. As numbers: make it Decimal or Double, and import it with "
      + options.joined(separator: " ") + choice
  }

  private var kind: String {
    if unit == Self.percent { return "percentages" }
    if let unit { return "amounts of money in “\(Self.units[unit])”" }
    if hasParentheses { return "numbers, negative ones in parentheses" }
    if hasTrailingMinus { return "numbers, negative ones with a minus behind them" }
    return ways.contains(.grouped) ? "numbers with grouped digits" : "numbers with a decimal comma"
  }

  /// Digits, in groups of three or none, and a fraction.
  private static func isNumber(_ text: UnsafeRawBufferPointer, fraction: UInt8, group: UInt8) -> Bool {
    var index = 0
    func digits() -> Int {
      let start = index
      while index < text.count, text[index] &- 0x30 < 10 { index += 1 }
      return index - start
    }
    let whole = digits()
    // 007 is a code.
    if whole == 0 || (whole > 1 && text[0] == 0x30) { return false }
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
