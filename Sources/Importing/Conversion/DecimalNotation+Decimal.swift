import Foundation

extension DecimalNotation {
  /// The number itself, exact, of up to 38 significant digits.
  ///
  /// - Parameter text: what the notation was read from.
  func decimal(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Decimal {
    if isTruncated { return try longDecimal(text) }
    var mantissa = mantissa
    var exponent = exponent
    if mantissa == 0 { return 0 }
    while mantissa.isMultiple(of: 10), exponent < 0 {
      mantissa /= 10
      exponent += 1
    }
    return try Self.decimal(Decimal(mantissa), exponent: exponent, isNegative: isNegative)
  }

  /// Of 20 to 38 digits: read again, in two halves of up to 19 digits each.
  private func longDecimal(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Decimal {
    var significant = 0
    var zeros = 0
    var high: UInt64 = 0
    var low: UInt64 = 0
    var lowDigits = 0
    // Zeros at the end are held back, and so don't count as digits.
    func take(_ digit: UInt8) throws(ConversionCode) {
      guard significant < 38 else { throw .tooPrecise }
      if significant < 19 {
        high = high * 10 + UInt64(digit)
      } else {
        low = low * 10 + UInt64(digit)
        lowDigits += 1
      }
      significant += 1
    }
    for byte in text {
      if byte | 0x20 == UInt8(ascii: "e") { break }
      let digit = byte &- 0x30
      guard digit < 10, significant > 0 || digit != 0 else { continue }
      if digit == 0 {
        zeros += 1
      } else {
        while zeros > 0 {
          try take(0)
          zeros -= 1
        }
        try take(digit)
      }
    }
    // The exponent that was read counts from the end of the first 19 digits.
    var value = Decimal(high)
    if lowDigits > 0 {
      guard let scale = Self.powerOfTen(lowDigits) else { throw .tooPrecise }
      value = value * scale + Decimal(low)
    }
    return try Self.decimal(value, exponent: exponent - lowDigits, isNegative: isNegative)
  }

  private static func powerOfTen(_ power: Int) -> Decimal? {
    var value: UInt64 = 1
    for _ in 0..<power {
      let (product, overflows) = value.multipliedReportingOverflow(by: 10)
      if overflows { return nil }
      value = product
    }
    return Decimal(value)
  }

  private static func decimal(
    _ mantissa: Decimal, exponent: Int, isNegative: Bool
  ) throws(ConversionCode) -> Decimal {
    // A Decimal's exponent is one byte.
    guard exponent <= 127, exponent >= -128 else { throw .outOfRange }
    var value = exponent == 0 ? mantissa : Decimal(sign: .plus, exponent: exponent, significand: mantissa)
    guard value.isFinite else { throw .outOfRange }
    if isNegative { value.negate() }
    return value
  }
}
