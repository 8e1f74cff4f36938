/// Numbers of dates and times in digits.
enum ClockText {
  /// Appends a time or a duration, `12:30:00` or `36:15:00.250`.
  static func append(milliseconds: Int64, to output: inout [UInt8]) {
    append(milliseconds / 3_600_000, digits: 2, to: &output)
    output.append(UInt8(ascii: ":"))
    append(milliseconds / 60_000 % 60, digits: 2, to: &output)
    output.append(UInt8(ascii: ":"))
    append(milliseconds / 1_000 % 60, digits: 2, to: &output)
    guard milliseconds % 1_000 > 0 else { return }
    output.append(UInt8(ascii: "."))
    append(milliseconds % 1_000, digits: 3, to: &output)
  }

  /// Appends a number that isn't negative, with as many digits at least.
  static func append(_ number: Int64, digits: Int, to output: inout [UInt8]) {
    var divisor: Int64 = 1
    for _ in 1..<digits { divisor *= 10 }
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
  }
}
