extension DecimalNotation {
  /// The nearest Double.
  ///
  /// Three ways, each exact: where mantissa and power of ten are both exact Doubles, one multiplication or division
  /// rounds once. Where up to 19 digits have up to 19 behind the point, the quotient of two integers is taken to 64 bits
  /// and what is left over only breaks ties. The rest goes to the standard library.
  ///
  /// - Parameter text: what the notation was read from.
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
    // Shifted up to its 127th bit, the dividend leaves a quotient of 64 to 127 bits.
    let shift = mantissa.leadingZeroBitCount + 63
    let (whole, rest) = (UInt128(mantissa) << UInt128(shift)).quotientAndRemainder(dividingBy: UInt128(divisor))
    let excess = max(0, 64 - whole.leadingZeroBitCount)
    var bits = UInt64(truncatingIfNeeded: whole >> UInt128(excess))
    let lost = rest != 0 || whole & ((UInt128(1) << UInt128(excess)) - 1) != 0
    if lost { bits |= 1 }
    // The conversion rounds; the scaling is by a power of two and exact, far from the ends of a Double's range.
    return Double(bits) * Double(sign: .plus, exponent: excess - shift, significand: 1)
  }

  /// The powers of ten that are exact as Doubles.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
