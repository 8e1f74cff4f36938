/// What stands beside a column's numbers: a unit, such as `€` or `%`, and a negative number's mark if that isn't a minus
/// before it.
///
/// `$1,234.50`, `-12.5 %`, `(1,234.00)` and `1.234,50- kg` are a sign, digits and a unit, in any order that a person would
/// write. The unit stands once, before or after each number; one without it is refused, since it may be of another unit. The
/// number itself is read as it would be without these.
struct NumberMarks: Sendable {
  private let unit: [UInt8]?
  private let negatives: PropertyRule.Negatives

  /// - Throws: `ConverterError.badOption` if the unit could be mistaken for a part of a number.
  init(unit: String?, negatives: PropertyRule.Negatives?, attribute: String) throws(ConverterError) {
    if let unit {
      func refuse(_ reason: String) -> ConverterError {
        .badOption(attribute: attribute, option: "unit", value: unit, reason: reason)
      }
      guard !unit.isEmpty, unit.utf8.count <= 100 else { throw refuse("must have 1 to 100 bytes") }
      guard
        unit.unicodeScalars.allSatisfy({
          $0.properties.generalCategory != .decimalNumber && !"+-()".unicodeScalars.contains($0)
        })
      else { throw refuse("must not have digits, signs or parentheses, which belong to the number") }
      let bytes = Array(unit.utf8)
      let inner = bytes.withUnsafeBytes { Self.trimmed($0).count }
      guard inner == bytes.count else {
        throw refuse("must not begin or end with a space: spaces between it and the number are ignored")
      }
      self.unit = bytes
    } else {
      self.unit = nil
    }
    self.negatives = negatives ?? .minus
  }

  /// Whether every number must have a unit, which a number of JSON can't have.
  var requiresUnit: Bool { unit != nil }

  /// Whether a text that is no number has a sign for a currency or percentages, and digits.
  static func hasUsualUnit(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    return scalars.contains { $0.properties.generalCategory == .currencySymbol || $0 == "%" }
      && scalars.contains { $0.properties.generalCategory == .decimalNumber }
  }

  /// The expected notation, for error messages.
  var words: String {
    var parts: [String] = []
    if let unit { parts.append("with “\(String(decoding: unit, as: UTF8.self))” before or after it") }
    switch negatives {
    case .minus: break
    case .parentheses: parts.append("in parentheses if it is negative")
    case .trailingMinus: parts.append("with “-” before or after it if it is negative")
    }
    return parts.joined(separator: ", ")
  }

  /// Calls `body` with the number alone, with a minus before it if it is negative.
  /// - Throws: `ConversionCode.notANumber` if the unit is missing or a mark stands twice, and what `body` throws.
  func withNumber<T>(
    _ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(ConversionCode) -> T
  ) throws(ConversionCode) -> T {
    let (number, isNegative) = try self.number(in: text)
    let result = withUnsafeTemporaryAllocation(byteCount: number.count + 1, alignment: 1) {
      buffer -> Result<T, ConversionCode> in
      var count = 0
      if isNegative {
        buffer[0] = UInt8(ascii: "-")
        count = 1
      }
      UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: number)
      do throws(ConversionCode) {
        return .success(try body(UnsafeRawBufferPointer(rebasing: buffer[..<(count + number.count)])))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// The digits of a number, and whether it is negative.
  private func number(
    in text: UnsafeRawBufferPointer
  ) throws(ConversionCode) -> (number: UnsafeRawBufferPointer, isNegative: Bool) {
    let parts = Parts(
      text, units: unit.map { [$0] } ?? [], parentheses: negatives == .parentheses,
      trailingMinus: negatives == .trailingMinus)
    guard let parts, unit == nil || parts.unit != nil else { throw .notANumber }
    return (parts.number, parts.isNegative)
  }

  /// A text, taken apart.
  struct Parts {
    private(set) var number: UnsafeRawBufferPointer
    private(set) var isNegative = false
    /// Which of the units stands beside the number.
    private(set) var unit: Int?
    private(set) var isInParentheses = false
    private(set) var hasTrailingMinus = false

    /// nil if nothing is left for a number, or a sign stands twice.
    init?(_ text: UnsafeRawBufferPointer, units: [[UInt8]], parentheses: Bool, trailingMinus: Bool) {
      number = NumberMarks.trimmed(text)
      var hasSign = false
      // Each turn takes a mark from outside, and each mark can be taken once.
      while let first = number.first, let last = number.last {
        if !hasSign, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
          (hasSign, isNegative) = (true, first == UInt8(ascii: "-"))
          cut(1, 0)
        } else if trailingMinus, !hasSign, last == UInt8(ascii: "-") {
          (hasSign, isNegative, hasTrailingMinus) = (true, true, true)
          cut(0, 1)
        } else if parentheses, !hasSign, number.count > 1, first == UInt8(ascii: "("), last == UInt8(ascii: ")") {
          (hasSign, isNegative, isInParentheses) = (true, true, true)
          cut(1, 1)
        } else if unit == nil, first &- 0x30 >= 10, let found = Self.unit(of: units, beginning: number) {
          unit = found
          cut(units[found].count, 0)
        } else if unit == nil, last &- 0x30 >= 10, let found = Self.unit(of: units, ending: number) {
          unit = found
          cut(0, units[found].count)
        } else {
          break
        }
      }
      guard let first = number.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return nil }
    }

    private static func unit(of units: [[UInt8]], beginning text: UnsafeRawBufferPointer) -> Int? {
      units.firstIndex { text.starts(with: $0) }
    }

    private static func unit(of units: [[UInt8]], ending text: UnsafeRawBufferPointer) -> Int? {
      units.firstIndex { text.suffix($0.count).elementsEqual($0) }
    }

    /// Removes bytes at the ends, and the spaces that are at the ends then.
    private mutating func cut(_ before: Int, _ after: Int) {
      number = NumberMarks.trimmed(UnsafeRawBufferPointer(rebasing: number[before..<(number.count - after)]))
    }
  }

  /// Spaces that don't break a line stand between number and unit in many languages.
  private static let spaces: [[UInt8]] = [" ", "\t", "\u{A0}", "\u{202F}", "\u{2009}"].map { Array($0.utf8) }

  private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var rest = ValueConverter.trimmed(text)
    while let first = rest.first, first &- 0x30 >= 10, let space = spaces.first(where: { rest.starts(with: $0) }) {
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(space.count))
    }
    while let last = rest.last, last &- 0x30 >= 10,
      let space = spaces.first(where: { rest.suffix($0.count).elementsEqual($0) })
    {
      rest = UnsafeRawBufferPointer(rebasing: rest.dropLast(space.count))
    }
    return rest
  }
}
