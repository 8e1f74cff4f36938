/// The form of a number that can be read as one without losing anything of its text.
///
/// Not numbers: `007` and `+49…`, which are codes and telephone numbers, `1.` and `12e4`, and other text.
struct NumberShape {
  /// Digits from the first that isn't zero to the last, those after the point included.
  var significant = 0
  var fraction = 0
  var hasExponent = false
  /// The value of a whole number that fits 64 bits, also if it is written as `1.0` or `1e3`.
  var whole: Int64?
  /// The value of such a number without point and exponent.
  var integer: Int64?

  /// - Parameter isJSON: a number of a JSON document, where `1e5` is one.
  init?(_ text: UnsafeRawBufferPointer, isJSON: Bool) {
    // No type holds a number of this length.
    guard text.count <= 80, let first = text.first,
      first == UInt8(ascii: "-") || first == UInt8(ascii: ".") || first &- 0x30 < 10
    else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    var index = isNegative ? 1 : 0
    let start = index
    var magnitude: UInt64 = 0
    var overflows = false
    while index < text.count, text[index] &- 0x30 < 10 {
      let digit = text[index] &- 0x30
      let (product, first) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, second) = product.addingReportingOverflow(UInt64(digit))
      overflows = overflows || first || second
      magnitude = sum
      if significant > 0 || digit != 0 { significant += 1 }
      index += 1
    }
    let digits = index - start
    if digits > 1, text[start] == UInt8(ascii: "0") { return nil }
    var isWhole = true
    let hasPoint = index < text.count && text[index] == UInt8(ascii: ".")
    if hasPoint {
      index += 1
      while index < text.count, text[index] &- 0x30 < 10 {
        if significant > 0 || text[index] != UInt8(ascii: "0") { significant += 1 }
        if text[index] != UInt8(ascii: "0") { isWhole = false }
        fraction += 1
        index += 1
      }
      if fraction == 0 { return nil }
    }
    if digits == 0, fraction == 0 { return nil }
    var exponent = 0
    if index < text.count {
      guard text[index] | 0x20 == UInt8(ascii: "e"), hasPoint || isJSON else { return nil }
      index += 1
      if index < text.count, text[index] == UInt8(ascii: "-") { isWhole = false }
      if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") { index += 1 }
      let power = index
      while index < text.count, text[index] &- 0x30 < 10 { index += 1 }
      // With three digits, the exponent may be out of a Double's range.
      guard (1...2).contains(index - power), index == text.count else { return nil }
      hasExponent = true
      for digit in text[power...] { exponent = exponent * 10 + Int(digit &- 0x30) }
    }
    guard isWhole, !overflows else { return }
    while exponent > 0, magnitude > 0 {
      let (product, overflows) = magnitude.multipliedReportingOverflow(by: 10)
      if overflows { return }
      magnitude = product
      exponent -= 1
    }
    if isNegative {
      whole = magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    } else {
      whole = Int64(exactly: magnitude)
    }
    // As a whole number, -0 would lose its sign.
    if !hasPoint, !hasExponent, !(isNegative && magnitude == 0) { integer = whole }
  }
}
