/// A column's notation of numbers other than `1234.56`: the decimal separator, and the separator of groups of digits.
///
/// Groups may have any number of digits, since groups of two, three and four are in use. A group separator stands between
/// two digits of the whole part and nowhere else: not at its ends, not twice, not in the fraction.
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
    return group.isEmpty ? point : point + " and “\(String(decoding: group, as: UTF8.self))” between groups of digits"
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
    func isDigit(_ index: Int) -> Bool { index >= 0 && index < text.count && text[index] &- 0x30 < 10 }
    while index < text.count {
      if isWhole, Self.stands(group, at: index, in: text) {
        guard isDigit(index - 1), isDigit(index + group.count) else { throw .notANumber }
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
        index += 1
      }
      plain[count] = byte
      count += 1
    }
    return count
  }

  @inline(__always)
  private static func stands(_ separator: [UInt8], at index: Int, in text: UnsafeRawBufferPointer) -> Bool {
    guard let first = separator.first, text[index] == first, index + separator.count <= text.count else { return false }
    for next in separator.indices.dropFirst() where text[index + next] != separator[next] { return false }
    return true
  }
}
