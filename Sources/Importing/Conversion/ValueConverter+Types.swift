import Foundation
import ManagedObjects

// One function for each type. Their texts aren't empty and have no space around them.
extension ValueConverter {
  /// A sign and digits; or another notation of a whole number, such as `1.0` and `1e3`, as in JSON.
  func integer(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Int64 {
    var index = 0
    let isNegative = text[0] == UInt8(ascii: "-")
    if isNegative || text[0] == UInt8(ascii: "+") { index = 1 }
    guard index < text.count else { throw .notAnInteger }
    var magnitude: UInt64 = 0
    var overflows = false
    while index < text.count {
      let digit = text[index] &- 0x30
      guard digit < 10 else { return try otherNotation(text) }
      // 19 digits can't overflow an unsigned 64-bit integer.
      if index < 19 {
        magnitude = magnitude &* 10 &+ UInt64(digit)
      } else {
        let (product, first) = magnitude.multipliedReportingOverflow(by: 10)
        let (sum, second) = product.addingReportingOverflow(UInt64(digit))
        overflows = overflows || first || second
        magnitude = sum
      }
      index &+= 1
    }
    if overflows { throw .outOfRange }
    return try fitting(magnitude, isNegative: isNegative)
  }

  @inline(never)
  private func otherNotation(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Int64 {
    do {
      return try wholeNumber(text)
    } catch {
      throw error == .notANumber ? .notAnInteger : error
    }
  }

  /// A number whose value is an integer, in any notation.
  func wholeNumber(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Int64 {
    var number = try DecimalNotation(text)
    if number.mantissa == 0 { return 0 }
    if number.isTruncated { throw .outOfRange }
    while number.exponent < 0 {
      guard number.mantissa.isMultiple(of: 10) else { throw .notAnInteger }
      number.mantissa /= 10
      number.exponent += 1
    }
    while number.exponent > 0 {
      let (product, overflows) = number.mantissa.multipliedReportingOverflow(by: 10)
      if overflows { throw .outOfRange }
      number.mantissa = product
      number.exponent -= 1
    }
    return try fitting(number.mantissa, isNegative: number.isNegative)
  }

  @inline(__always)
  private func fitting(_ magnitude: UInt64, isNegative: Bool) throws(ConversionCode) -> Int64 {
    let limit = isNegative ? least.magnitude : UInt64(greatest)
    guard magnitude <= limit else { throw .outOfRange }
    return isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude)
  }

  /// Rounded to what a Float holds, so that the value in the store is the one that the object's accessor gives.
  func float(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Double {
    let value = Float(try DecimalNotation(text).double(text))
    guard value.isFinite else { throw .outOfRange }
    return Double(value)
  }

  func boolean(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Bool {
    // Setting bit 5 lowercases an ASCII letter and leaves a digit unchanged.
    func word(_ count: Int) -> UInt64 {
      var word: UInt64 = 0
      for index in 0..<count { word = word << 8 | UInt64(text[index] | 0x20) }
      return word
    }
    switch text.count {
    case 1:
      switch text[0] {
      case UInt8(ascii: "1"), UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "y"), UInt8(ascii: "Y"): return true
      case UInt8(ascii: "0"), UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "n"), UInt8(ascii: "N"): return false
      default: throw .notABoolean
      }
    case 2 where word(2) == 0x6e6f: return false  // no
    case 3 where word(3) == 0x79_6573: return true  // yes
    case 4 where word(4) == 0x7472_7565: return true  // true
    case 5 where word(5) == 0x66_616c_7365: return false  // false
    default: throw .notABoolean
    }
  }

  func date(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Date {
    switch base {
    case .unixTime: return try unixTime(text, perSecond: 1)
    case .unixMillis: return try unixTime(text, perSecond: 1_000)
    case .unixMicros: return try unixTime(text, perSecond: 1_000_000)
    case .datePattern:
      guard let microseconds = pattern?.microsecondsSince1970(text, in: rules?.zone) else { throw .notADate }
      return try storable(microseconds)
    default: return try isoDate(text)
    }
  }

  /// A date in ISO 8601, in the recipe's zone if it gives none.
  func isoDate(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Date {
    if let zone = rules?.zone { return try isoDate(text, in: zone) }
    return ISODate.date(microseconds: try isoMicroseconds(text))
  }

  /// The instant of an ISO 8601 date, in the range that a store can keep.
  @inline(__always)
  func isoMicroseconds(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Int64 {
    guard let microseconds = ISODate.microseconds(parsing: text.assumingMemoryBound(to: UInt8.self)) else {
      throw .notADate
    }
    guard Self.storableTimes.contains(microseconds) else { throw .outOfRange }
    return microseconds
  }

  /// The microseconds since 1970 of the years 0 to 9999.
  private static let storableTimes: Range<Int64> = -62_167_219_200_000_000..<253_402_300_800_000_000

  /// A date in the range that a store can keep; its zone may have moved it out.
  @inline(__always)
  private func storable(_ microseconds: Int64) throws(ConversionCode) -> Date {
    guard Self.storableTimes.contains(microseconds) else { throw .outOfRange }
    return ISODate.date(microseconds: microseconds)
  }

  /// A date in the given zone, unless it gives another.
  private func isoDate(_ text: UnsafeRawBufferPointer, in zone: LocalTime) throws(ConversionCode) -> Date {
    guard let microseconds = ISODate.microseconds(parsing: text.assumingMemoryBound(to: UInt8.self)) else {
      throw .notADate
    }
    // What it says of a zone stands behind hours and minutes: a sign, or letters.
    let saysZone = text.dropFirst(16).contains {
      $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") || ($0 | 0x20) &- 0x61 < 26
    }
    if saysZone { return try storable(microseconds) }
    let fraction = ((microseconds % 1_000_000) + 1_000_000) % 1_000_000
    let offset = zone.offset(at: (microseconds - fraction) / 1_000_000)
    return try storable(microseconds - offset * 1_000_000)
  }

  /// A time since 1970, in a unit that the format says: a number's size doesn't tell.
  private func unixTime(_ text: UnsafeRawBufferPointer, perSecond: Double) throws(ConversionCode) -> Date {
    let number: Double
    do {
      number = try DecimalNotation(text).double(text)
    } catch {
      throw error == .notANumber ? .notADate : error
    }
    return try instant(number / perSecond)
  }

  /// A date of the years 0 to 9999, rounded to the microsecond as stores keep it, so that a date read back equals the one
  /// imported.
  func instant(_ secondsSince1970: Double) throws(ConversionCode) -> Date {
    guard secondsSince1970 >= -62_167_219_200, secondsSince1970 < 253_402_300_799.999_9,
      let microseconds = ISODate.microseconds(of: Date(timeIntervalSince1970: secondsSince1970))
    else { throw .outOfRange }
    return ISODate.date(microseconds: microseconds)
  }

  /// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, with hyphens between.
  func uuid(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> UUID {
    guard text.count == 36 else { throw .notAUUID }
    var wrong = (text[8] ^ 0x2D) | (text[13] ^ 0x2D) | (text[18] ^ 0x2D) | (text[23] ^ 0x2D)
    // Without a branch for each digit: which digits are letters can't be predicted.
    func digits(_ range: Range<Int>, after start: UInt64 = 0) -> UInt64 {
      var number = start
      for index in range {
        let byte = text[index]
        let isDigit: UInt8 = byte &- 0x30 < 10 ? 1 : 0
        let isLetter: UInt8 = (byte | 0x20) &- 0x61 < 6 ? 1 : 0
        wrong |= (isDigit | isLetter) ^ 1
        number = number << 4 | UInt64((byte & 0x0F) &+ 9 &* isLetter)
      }
      return number
    }
    let high = digits(14..<18, after: digits(9..<13, after: digits(0..<8)))
    let low = digits(24..<36, after: digits(19..<23))
    if wrong != 0 { throw .notAUUID }
    let bytes = (high.bigEndian, low.bigEndian)
    return withUnsafeBytes(of: bytes) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  func uri(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> URL {
    guard let url = URL(string: String(decoding: text, as: UTF8.self), encodingInvalidCharacters: false) else {
      throw .notAURI
    }
    return url
  }

  /// Base64, or PostgreSQL's `\x` and hexadecimal digits.
  ///
  /// Base64 isn't guessed where the text may well be hexadecimal, as an MD5 is: its bytes would be others.
  func data(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Data {
    if text.count >= 2, text[0] == UInt8(ascii: "\\"), text[1] == UInt8(ascii: "x") { return try hexadecimal(text) }
    if rules?.isBase64 != true, Base64.looksHexadecimal(text) { throw .ambiguousBinary }
    guard let data = Data(base64Encoded: Data(text)) else { throw .notBase64 }
    return data
  }

  /// Pairs of hexadecimal digits, also after `0x` or `\x`.
  func hexadecimal(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Data {
    var digits = text[...]
    if text.count >= 2, text[1] == UInt8(ascii: "x") || text[1] == UInt8(ascii: "X"),
      text[0] == UInt8(ascii: "0") || text[0] == UInt8(ascii: "\\")
    {
      digits = digits.dropFirst(2)
    }
    guard digits.count.isMultiple(of: 2) else { throw .notHexadecimal }
    var data = Data(capacity: digits.count / 2)
    var high: UInt8?
    for byte in digits {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): digit = (byte | 0x20) - 0x57
      default: throw .notHexadecimal
      }
      if let upper = high {
        data.append(upper << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return data
  }
}
