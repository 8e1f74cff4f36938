/// A decimal number as it is written: `mantissa` times ten to the power of `exponent`.
///
/// Sign, digits with at most one point among them, exponent. No `inf`, no `nan`, no hexadecimal, no separators of
/// thousands, and a point whatever the locale.
struct DecimalNotation {
  /// The first 19 digits from the first that isn't zero.
  var mantissa: UInt64 = 0
  var exponent = 0
  var isNegative = false
  /// Whether there were more digits than the mantissa holds, and one of them not zero.
  var isTruncated = false

  /// Reads a text; all of it has to belong to the number.
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

  /// What stands after the `e`; past a million it is the same to every type.
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
