import Foundation

/// A decimal number as it is written: `mantissa` times ten to the power of `exponent`.
///
/// A sign, digits with at most one point among them, an exponent. No `inf`, no `nan`, no hexadecimal digits, no thousands
/// separators; a point in every locale.
struct DecimalNotation {
  /// The first 19 significant digits.
  var mantissa: UInt64 = 0
  var exponent = 0
  var isNegative = false
  /// Whether there were more digits than the mantissa holds, and one of them wasn't zero.
  var isTruncated = false

  /// Reads a text. All of it has to belong to the number.
  @inline(__always)
  init(_ text: UnsafeRawBufferPointer) throws(ConversionCode) {
    guard text.count > 0 else { throw .notANumber }
    var index = 0
    isNegative = text[0] == UInt8(ascii: "-")
    if isNegative || text[0] == UInt8(ascii: "+") { index = 1 }
    var digits = 0
    var hasPoint = false
    var hasDigit = false
    scan: while index < text.count {
      let byte = text[index]
      let digit = byte &- 0x30
      if digit < 10 {
        hasDigit = true
        if digits < 19 {
          mantissa = mantissa &* 10 &+ UInt64(digit)
          if mantissa != 0 { digits &+= 1 }
          if hasPoint { exponent &-= 1 }
        } else {
          if digit != 0 { isTruncated = true }
          if !hasPoint { exponent &+= 1 }
        }
      } else if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else if byte | 0x20 == UInt8(ascii: "e"), hasDigit {
        exponent += try Self.power(UnsafeRawBufferPointer(rebasing: text[(index + 1)...]))
        break scan
      } else {
        throw .notANumber
      }
      index &+= 1
    }
    guard hasDigit else { throw .notANumber }
  }

  /// The number after the `e`. Above a million the value makes no difference to any type.
  private static func power(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Int {
    guard let first = text.first else { throw .notANumber }
    let hasSign = first == UInt8(ascii: "-") || first == UInt8(ascii: "+")
    guard text.count > (hasSign ? 1 : 0) else { throw .notANumber }
    var value = 0
    for byte in text.dropFirst(hasSign ? 1 : 0) {
      let digit = byte &- 0x30
      guard digit < 10 else { throw .notANumber }
      value = min(value * 10 + Int(digit), 1_000_000)
    }
    return first == UInt8(ascii: "-") ? -value : value
  }
}

extension DecimalNotation {
  /// The nearest Double.
  ///
  /// Three ways, each exact. If mantissa and power of ten are both exact Doubles, one multiplication or division rounds
  /// once. If up to 19 digits have up to 19 after the point, the quotient of two integers is taken to 64 bits, and the
  /// remainder only breaks ties. The standard library does the rest.
  ///
  /// - Parameter text: the text that the notation was read from.
  @inline(__always)
  func double(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Double {
    if mantissa <= 1 << 53, exponent >= -22, exponent <= 22, !isTruncated {
      let value =
        exponent < 0
        ? Double(mantissa) / Self.powersOfTen[-exponent] : Double(mantissa) * Self.powersOfTen[exponent]
      return isNegative ? -value : value
    }
    return try slowDouble(text)
  }

  @inline(never)
  private func slowDouble(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Double {
    if !isTruncated, mantissa != 0, exponent < 0, exponent >= -19 {
      let value = quotient(tenToThe: -exponent)
      return isNegative ? -value : value
    }
    guard let value = Double(String(decoding: text, as: UTF8.self)) else { throw .notANumber }
    guard value.isFinite else { throw .outOfRange }
    return value
  }

  /// The mantissa divided by a power of ten that fits 64 bits, rounded once, to nearest, ties to even.
  private func quotient(tenToThe power: Int) -> Double {
    var divisor: UInt64 = 1
    for _ in 0..<power { divisor &*= 10 }
    // Shifted up to its 127th bit, the dividend gives a quotient of 64 to 127 bits.
    let shift = mantissa.leadingZeroBitCount + 63
    let (whole, rest) = (UInt128(mantissa) << UInt128(shift)).quotientAndRemainder(dividingBy: UInt128(divisor))
    let excess = max(0, 64 - whole.leadingZeroBitCount)
    var bits = UInt64(truncatingIfNeeded: whole >> UInt128(excess))
    let lost = rest != 0 || whole & ((UInt128(1) << UInt128(excess)) - 1) != 0
    if lost { bits |= 1 }
    // The conversion rounds. The scaling is by a power of two and exact, far from the limits of a Double.
    return Double(bits) * Double(sign: .plus, exponent: excess - shift, significand: 1)
  }

  /// The powers of ten that are exact as Doubles.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}

extension DecimalNotation {
  /// The exact number, of up to 38 significant digits.
  ///
  /// - Parameter text: the text that the notation was read from.
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

  /// A number of 20 to 38 digits: read again, in two halves of up to 19 digits each.
  private func longDecimal(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Decimal {
    var significant = 0
    var zeros = 0
    var high: UInt64 = 0
    var low: UInt64 = 0
    var lowDigits = 0
    // Zeros at the end are held back, so they don't count as digits.
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
    // The exponent counts from the end of the first 19 digits.
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
