/// A column's notation of numbers other than `1234.56`: the decimal separator, and the separator of groups of digits.
///
/// Groups have three digits, the first one to three. So a number in the other notation, `12.34` where points separate groups,
/// is an error and not a number a hundred times as large. Indian numbers, `1,23,45,678`, have two digits in all groups but the
/// last. Groups of four aren't read: `1.2345` would be one of them.
struct NumberSeparators: Sendable {
  /// In UTF-8, one to four bytes.
  private let fraction: [UInt8]
  /// In UTF-8; empty if digits aren't grouped.
  private let group: [UInt8]

  /// - Throws: `ConverterError.badOption` if a separator isn't one character, or could be mistaken for another part of a
  ///   number.
  init(fraction: String?, group: String?, attribute: String) throws(ConverterError) {
    for (option, text) in [("decimal_separator", fraction), ("grouping_separator", group)] {
      guard let text else { continue }
      // A character of several code points isn't used in numbers.
      guard text.unicodeScalars.count == 1, let scalar = text.unicodeScalars.first else {
        throw .badOption(attribute: attribute, option: option, value: text, reason: "must be one character")
      }
      guard !scalar.properties.isAlphabetic, scalar.properties.numericType == nil, !"+-".unicodeScalars.contains(scalar)
      else {
        throw .badOption(
          attribute: attribute, option: option, value: text,
          reason: "must not be a character that numbers use themselves")
      }
    }
    let separator = fraction ?? "."
    guard separator != group else {
      throw .badOption(
        attribute: attribute, option: "grouping_separator", value: separator,
        reason: fraction == nil
          ? "is the decimal separator, unless decimal_separator names another"
          : "must differ from decimal_separator")
    }
    self.fraction = Array(separator.utf8)
    self.group = Array((group ?? "").utf8)
  }

  /// The expected notation, for error messages.
  var words: String {
    let point = "with “\(String(decoding: fraction, as: UTF8.self))” before the fraction"
    return group.isEmpty
      ? point : point + " and “\(String(decoding: group, as: UTF8.self))” between groups of three digits"
  }

  /// Calls `body` with the number rewritten with a point and without groups.
  /// - Throws: `ConversionCode.notANumber` if a separator stands where it can't, and what `body` throws.
  func withPlain<T>(
    _ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(ConversionCode) -> T
  ) throws(ConversionCode) -> T {
    // The rewritten number is never longer.
    let result = withUnsafeTemporaryAllocation(byteCount: max(1, text.count), alignment: 1) {
      buffer -> Result<T, ConversionCode> in
      do throws(ConversionCode) {
        let count = try rewrite(text, to: buffer)
        return .success(try body(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private func rewrite(
    _ text: UnsafeRawBufferPointer, to plain: UnsafeMutableRawBufferPointer
  ) throws(ConversionCode) -> Int {
    var count = 0
    var index = 0
    var isWhole = true
    var groups = Groups()
    func isDigit(_ index: Int) -> Bool { index >= 0 && index < text.count && text[index] &- 0x30 < 10 }
    while index < text.count {
      if isWhole, Self.stands(group, at: index, in: text) {
        guard isDigit(index - 1), isDigit(index + group.count), groups.end() else { throw .notANumber }
        index += group.count
        continue
      }
      var byte = text[index]
      if Self.stands(fraction, at: index, in: text) {
        // Reading the rewritten number refuses a second point.
        byte = UInt8(ascii: ".")
        isWhole = false
        index += fraction.count
      } else {
        // A point that isn't one of the column's separators is an error.
        guard byte != UInt8(ascii: ".") else { throw .notANumber }
        if byte | 0x20 == UInt8(ascii: "e") { isWhole = false }
        if isWhole, byte &- 0x30 < 10 { groups.digits += 1 }
        index += 1
      }
      plain[count] = byte
      count += 1
    }
    guard groups.areComplete else { throw .notANumber }
    return count
  }

  /// The groups of digits of a number, from its beginning.
  private struct Groups {
    /// The digits since the last separator.
    var digits = 0
    private var first = 0
    /// The digits of each group between the first and the last; 0 before there is one.
    private var width = 0

    /// Ends a group; false if it can't have so many digits.
    mutating func end() -> Bool {
      defer { digits = 0 }
      if first == 0 {
        first = digits
        return (1...3).contains(digits)
      }
      guard digits == 2 || digits == 3, width == 0 || width == digits else { return false }
      width = digits
      return true
    }

    /// Whether the digits since the last separator are a last group, or there was no separator.
    var areComplete: Bool { first == 0 || (digits == 3 && (width != 2 || first <= 2)) }
  }

  @inline(__always)
  private static func stands(_ separator: [UInt8], at index: Int, in text: UnsafeRawBufferPointer) -> Bool {
    guard let first = separator.first, text[index] == first, index + separator.count <= text.count else { return false }
    for next in separator.indices.dropFirst() where text[index + next] != separator[next] { return false }
    return true
  }
}
