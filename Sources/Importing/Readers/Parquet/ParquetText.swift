/// Writes values as the texts that cells have: numbers as JSON has them, dates in ISO 8601, bytes in Base64.
struct ParquetText {
  private static let nanosecondsOfDay: Int64 = 86_400_000_000_000

  private let meaning: ParquetLeaf.Meaning
  /// Whether values are numbers of 32 bits, or of 64.
  private let isNarrow: Bool
  private let isWide: Bool

  init(_ leaf: ParquetLeaf) {
    meaning = leaf.meaning
    isNarrow = leaf.physical == .int32
    isWide = leaf.physical == .int64
  }

  /// Appends a value, whose bytes are as `PLAIN` has them. The kind is `fault` for text that isn't UTF-8. Bytes that can't be
  /// such a value become a text that no attribute of the type takes, so that only their record is rejected.
  @inline(__always)
  func append(_ bytes: UnsafeBufferPointer<UInt8>, to text: TextBuffer) -> Cell.Kind {
    switch meaning {
    case .text:
      text.append(bytes)
      return Self.isText(bytes) ? .text : .fault
    case .signed:
      text.append(integer(bytes))
      return .number
    case .double:
      return append(Double(bitPattern: UInt64(bitPattern: Self.load64(bytes))), to: text)
    default: return appendOther(bytes, to: text)
    }
  }

  @inline(__always)
  static func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    return TextValidator.validate(from: start, to: start + bytes.count) == nil
  }

  @inline(never)
  private func appendOther(_ bytes: UnsafeBufferPointer<UInt8>, to text: TextBuffer) -> Cell.Kind {
    switch meaning {
    case .boolean: return bytes[0] == 0 ? .no : .yes
    case .unsigned:
      let value = isNarrow ? UInt64(Self.load32(bytes)) : UInt64(bitPattern: Self.load64(bytes))
      if let small = Int64(exactly: value) { text.append(small) } else { text.append(value.description) }
      return .number
    case .float: return append(Float(bitPattern: Self.load32(bytes)), to: text)
    case .float16: return append(Self.half(UInt16(bytes[0]) | UInt16(bytes[1]) << 8), to: text)
    case .decimal(let scale): return appendDecimal(bytes, scale: scale, to: text)
    case .date:
      appendDate(days: Int64(Int32(bitPattern: Self.load32(bytes))), to: text)
      return .date
    case .time(let perSecond):
      // A day ends at 24:00. What is beyond can be had as a string.
      let value = integer(bytes)
      if value < 0 { text.append(UInt8(ascii: "-")) }
      appendTime(value, perSecond: perSecond, to: text)
      return .text
    case .timestamp(let perSecond, let isUTC):
      appendInstant(integer(bytes), perSecond: perSecond, to: text)
      if isUTC { text.append(UInt8(ascii: "Z")) }
      return .date
    case .int96:
      let nanoseconds = Self.load64(bytes)
      let day =
        Int64(bytes[8]) | Int64(bytes[9]) << 8 | Int64(bytes[10]) << 16 | Int64(Int8(bitPattern: bytes[11])) << 24
      // More than a day of nanoseconds, or less than none, counts as it is: other readers add them, too.
      let (days, rest) = nanoseconds.quotientAndRemainder(dividingBy: Self.nanosecondsOfDay)
      // The day before the first of 1970 began, counted from noon.
      appendDate(days: day - 2_440_588 + days - (rest < 0 ? 1 : 0), to: text)
      text.append(UInt8(ascii: "T"))
      appendTime(rest < 0 ? rest + Self.nanosecondsOfDay : rest, perSecond: 1_000_000_000, to: text)
      return .date
    case .binary:
      var encoded: [UInt8] = []
      Base64.appendPlainly(UnsafeRawBufferPointer(bytes), to: &encoded)
      encoded.withUnsafeBufferPointer { text.append($0) }
      return .text
    case .uuid:
      for (index, byte) in bytes.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
        text.append(TextBuffer.hexadecimal(byte >> 4))
        text.append(TextBuffer.hexadecimal(byte & 15))
      }
      return .text
    case .interval:
      appendInterval(bytes, to: text)
      return .text
    case .text, .signed, .double: return appendUnreadable(bytes, to: text)
    }
  }

  /// Appends bytes that are no value of their type, as digits.
  private func appendUnreadable(_ bytes: UnsafeBufferPointer<UInt8>, to text: TextBuffer) -> Cell.Kind {
    text.append("unreadable bytes 0x")
    for byte in bytes {
      text.append(TextBuffer.hexadecimal(byte >> 4))
      text.append(TextBuffer.hexadecimal(byte & 15))
    }
    return .text
  }

  // MARK: Numbers

  @inline(__always)
  static func load32(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
    UInt32(littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(as: UInt32.self))
  }

  @inline(__always)
  static func load64(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64 {
    Int64(littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(as: Int64.self))
  }

  @inline(__always)
  private func integer(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64 {
    isNarrow ? Int64(Int32(bitPattern: Self.load32(bytes))) : Self.load64(bytes)
  }

  private func append(_ number: some BinaryFloatingPoint & CustomStringConvertible, to text: TextBuffer) -> Cell.Kind {
    if number.isFinite {
      text.append(number.description)
      return .number
    }
    text.append(number.isNaN ? "NaN" as StaticString : number < 0 ? "-Infinity" : "Infinity")
    return .text
  }

  /// The value of a number of 16 bits, IEEE 754's binary16.
  static func half(_ bits: UInt16) -> Float {
    let sign: Float = bits & 0x8000 == 0 ? 1 : -1
    let (exponent, fraction) = (Int(bits >> 10 & 31), Float(bits & 1023))
    switch exponent {
    case 0: return sign * fraction * 0x1p-24
    case 31: return fraction == 0 ? sign * .infinity : .nan
    default: return sign * (1024 + fraction) * Float(sign: .plus, exponent: exponent - 25, significand: 1)
    }
  }

  private func appendDecimal(_ bytes: UnsafeBufferPointer<UInt8>, scale: Int, to text: TextBuffer) -> Cell.Kind {
    guard !bytes.isEmpty, bytes.count <= 64 else { return appendUnreadable(bytes, to: text) }
    var digits: [UInt8] = []
    var isNegative = false
    if isNarrow || isWide {
      let value = integer(bytes)
      isNegative = value < 0
      Self.appendDigits(of: value.magnitude, to: &digits)
    } else if bytes.count <= 16 {
      // Big-endian, in two's complement.
      var value = UInt128(truncatingIfNeeded: Int8(bitPattern: bytes[0]))
      for byte in bytes.dropFirst() { value = value << 8 | UInt128(byte) }
      isNegative = bytes[0] >= 0x80
      if isNegative { value = ~value &+ 1 }
      Self.appendDigits(of: value, to: &digits)
    } else {
      (digits, isNegative) = Self.longDigits(bytes)
    }
    // The digits so far begin with the last.
    while digits.count <= scale { digits.append(0x30) }
    if isNegative { text.append(UInt8(ascii: "-")) }
    for index in digits.indices.reversed() {
      text.append(digits[index])
      if index == scale, scale > 0 { text.append(UInt8(ascii: ".")) }
    }
    return .number
  }

  private static func appendDigits(of number: some UnsignedInteger & FixedWidthInteger, to digits: inout [UInt8]) {
    var rest = number
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      digits.append(UInt8(truncatingIfNeeded: digit) | 0x30)
      rest = quotient
    } while rest > 0
  }

  /// The digits of a number of more than 16 bytes, the last one first.
  private static func longDigits(_ bytes: UnsafeBufferPointer<UInt8>) -> ([UInt8], isNegative: Bool) {
    let isNegative = bytes[0] >= 0x80
    var magnitude = isNegative ? bytes.map { ~$0 } : Array(bytes)
    if isNegative {
      for index in magnitude.indices.reversed() {
        magnitude[index] &+= 1
        if magnitude[index] != 0 { break }
      }
    }
    var digits: [UInt8] = []
    repeat {
      var rest = 0
      for index in magnitude.indices {
        let value = rest << 8 | Int(magnitude[index])
        magnitude[index] = UInt8(value / 10)
        rest = value % 10
      }
      digits.append(UInt8(rest) | 0x30)
    } while magnitude.contains { $0 != 0 }
    return (digits, isNegative)
  }

  // MARK: Dates

  /// A date of the proleptic Gregorian calendar. One beyond the years 0 to 9999 has a sign, and no store takes it.
  private func appendDate(days: Int64, to text: TextBuffer) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    if year < 0 || year > 9_999 {
      text.append(year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
    }
    append(Int64(year.magnitude), digits: 4, to: text)
    text.append(UInt8(ascii: "-"))
    append(month, digits: 2, to: text)
    text.append(UInt8(ascii: "-"))
    append(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, digits: 2, to: text)
  }

  private func appendInstant(_ value: Int64, perSecond: Int64, to text: TextBuffer) {
    var (seconds, fraction) = value.quotientAndRemainder(dividingBy: perSecond)
    if fraction < 0 {
      seconds -= 1
      fraction += perSecond
    }
    var (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
    if second < 0 {
      days -= 1
      second += 86_400
    }
    appendDate(days: days, to: text)
    text.append(UInt8(ascii: "T"))
    appendTime(seconds: second, fraction: fraction, perSecond: perSecond, to: text)
  }

  private func appendTime(_ value: Int64, perSecond: Int64, to text: TextBuffer) {
    let (seconds, fraction) = value.quotientAndRemainder(dividingBy: perSecond)
    appendTime(
      seconds: Int64(clamping: seconds.magnitude), fraction: Int64(clamping: fraction.magnitude), perSecond: perSecond,
      to: text)
  }

  private func appendTime(seconds: Int64, fraction: Int64, perSecond: Int64, to text: TextBuffer) {
    append(seconds / 3_600, digits: 2, to: text)
    text.append(UInt8(ascii: ":"))
    append(seconds / 60 % 60, digits: 2, to: text)
    text.append(UInt8(ascii: ":"))
    append(seconds % 60, digits: 2, to: text)
    guard fraction > 0 else { return }
    text.append(UInt8(ascii: "."))
    var (rest, unit) = (fraction, perSecond / 10)
    while rest > 0, unit > 0 {
      text.append(UInt8(truncatingIfNeeded: rest / unit) | 0x30)
      rest %= unit
      unit /= 10
    }
  }

  @inline(__always)
  private func append(_ number: Int64, digits: Int, to text: TextBuffer) {
    var least: Int64 = 10
    var count = 1
    while count < digits {
      if number < least { text.append(UInt8(ascii: "0")) }
      least *= 10
      count += 1
    }
    text.append(number)
  }

  /// A span of time in ISO 8601.
  private func appendInterval(_ bytes: UnsafeBufferPointer<UInt8>, to text: TextBuffer) {
    func part(_ start: Int) -> Int64 { Int64(Self.load32(UnsafeBufferPointer(rebasing: bytes[start..<start + 4]))) }
    let (months, days, milliseconds) = (part(0), part(4), part(8))
    text.append(UInt8(ascii: "P"))
    if months > 0 {
      text.append(months)
      text.append(UInt8(ascii: "M"))
    }
    if days > 0 {
      text.append(days)
      text.append(UInt8(ascii: "D"))
    }
    guard milliseconds > 0 || (months == 0 && days == 0) else { return }
    text.append(UInt8(ascii: "T"))
    text.append(milliseconds / 1_000)
    if milliseconds % 1_000 > 0 {
      text.append(UInt8(ascii: "."))
      append(milliseconds % 1_000, digits: 3, to: text)
    }
    text.append(UInt8(ascii: "S"))
  }
}
