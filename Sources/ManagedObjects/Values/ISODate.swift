public import Foundation
import Spelling

/// Dates as text, in the forms of ISO 8601 that data files and databases use, without locale, calendar or formatter.
///
/// It writes `YYYY-MM-DD HH:MM:SS[.ffffff]` in UTC, with a fraction only if it isn't zero and without trailing zeros. SQL date
/// functions use this form, and its text order is its order in time.
///
/// It reads `YYYY-MM-DD`, optionally followed by `T` or a space and `HH:MM[:SS[.f…]]`, and then by `Z`, `±HH`, `±HHMM` or
/// `±HH:MM`, also after a space, or by ` UTC` or ` GMT`. Without a zone the time is UTC. Digits beyond the microsecond round. Dates that don't exist in the proleptic
/// Gregorian calendar are refused, and so are leap seconds, which neither SQL nor `Date` has.
public enum ISODate {
  /// The maximum number of bytes that ``write(microseconds:to:)`` writes.
  public static let longest = 26
  /// How many bytes of a text say the instant in whole seconds. Texts of one second begin alike.
  package static let wholeSeconds = 19

  /// Whole microseconds from the start of 1970 to `date`, rounded; nil beyond some 285,000 years.
  @inlinable public static func microseconds(of date: Date) -> Int64? {
    let seconds = date.timeIntervalSince1970
    guard abs(seconds) < 9_000_000_000_000 else { return nil }
    // In two parts, since the product with a million would lose precision before rounding.
    let whole = seconds.rounded(.down)
    return Int64(whole) &* 1_000_000 &+ Int64(((seconds - whole) * 1_000_000).rounded())
  }

  /// The date at a number of microseconds after the start of 1970.
  @inlinable public static func date(microseconds: Int64) -> Date {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return Date(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000_000)
  }

  /// The date in `text`, nil if it isn't one.
  public static func date(parsing text: String) -> Date? {
    var text = text
    return text.withUTF8 { date(parsing: $0) }
  }

  /// The date in UTF-8 `bytes`, nil if they aren't one.
  @inlinable public static func date(parsing bytes: UnsafeBufferPointer<UInt8>) -> Date? {
    microseconds(parsing: bytes).map(date(microseconds:))
  }
}

// MARK: - Reading

extension ISODate {
  /// The digit at `offset`, or more than 9 if there is none.
  @inline(__always) private static func digit(_ bytes: UnsafePointer<UInt8>, _ offset: Int) -> Int {
    Int(bytes[offset] &- 0x30)
  }

  /// Two digits at `offset`, or more than 99 if there aren't two.
  @inline(__always) private static func pair(_ bytes: UnsafePointer<UInt8>, _ offset: Int) -> Int {
    let high = digit(bytes, offset)
    let low = digit(bytes, offset + 1)
    return high <= 9 && low <= 9 ? high &* 10 &+ low : 1_000
  }

  /// The numbers in eight bytes that must match `template`, which has `0` for a digit and the exact byte elsewhere. Byte i of
  /// the result is the number of the digits i and i + 1. Nil if the bytes don't match.
  ///
  /// It checks and combines all eight at once; `limits` is 0x76 for a digit and 0x7F otherwise, so that adding it carries any
  /// byte out of range into that byte's highest bit.
  @inline(__always) private static func pairs(_ bytes: UInt64, template: UInt64, limits: UInt64) -> UInt64? {
    let digits = bytes ^ template
    guard (digits &+ limits | digits) & 0x8080_8080_8080_8080 == 0 else { return nil }
    return digits &* 10 &+ digits >> 8
  }

  @inline(__always) private static func byte(_ pairs: UInt64, _ index: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: pairs &>> (index &* 8)) & 0xFF
  }

  @inline(__always) private static func load(_ bytes: UnsafePointer<UInt8>, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Microseconds from the start of 1970 to the date in UTF-8 `bytes`, nil if they aren't one.
  public static func microseconds(parsing bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    // YYYY-MM- and then DD
    guard let start = bytes.baseAddress, bytes.count >= 10,
      let date = pairs(load(start, 0), template: 0x2D30_302D_3030_3030, limits: 0x7F76_767F_7676_7676)
    else { return nil }
    let year = byte(date, 0) &* 100 &+ byte(date, 2)
    let month = byte(date, 5)
    let day = UInt32(truncatingIfNeeded: pair(start, 8))
    guard month >= 1, month <= 12, day >= 1, day <= 28 || day <= CivilDate.daysInMonth(month, of: year) else {
      return nil
    }
    let midnight = CivilDate.days(year: year, month: month, day: day) &* 86_400
    if bytes.count == 10 { return Int64(midnight) &* 1_000_000 }

    // DD, T or a space, HH:MM
    let separator = bytes.count >= 16 ? start[10] | 0x20 : 0
    guard separator == UInt8(ascii: "t") || separator == UInt8(ascii: " "), start[10] != 0,
      let time = pairs(
        load(start, 8) & 0xFFFF_FFFF_FF00_FFFF, template: 0x3030_3A30_3000_3030, limits: 0x7676_7F76_767F_7676)
    else { return nil }
    let hour = byte(time, 3)
    let minute = byte(time, 6)
    guard hour <= 23, minute <= 59 else { return nil }
    var seconds = midnight &+ Int(hour &* 3_600 &+ minute &* 60)
    var fraction = 0
    var next = 16
    if next < bytes.count, start[next] == UInt8(ascii: ":") {
      guard bytes.count >= 19 else { return nil }
      let second = pair(start, 17)
      guard second <= 59 else { return nil }
      seconds &+= second
      next = 19
      if next < bytes.count, start[next] == UInt8(ascii: ".") {
        guard let (value, end) = self.fraction(bytes, from: next + 1) else { return nil }
        fraction = value
        next = end
      }
    }
    guard let offset = zone(bytes, from: next) else { return nil }
    return Int64(seconds &- offset) &* 1_000_000 &+ Int64(fraction)
  }

  /// The microseconds in the digits at `start`, and where they end.
  @inline(__always) private static func fraction(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> (Int, end: Int)? {
    var value = 0
    var next = start
    var scale = 1_000_000
    while next < bytes.count {
      let digit = Int(bytes[next] &- 0x30)
      guard digit <= 9 else { break }
      if scale > 1 {
        value = value &* 10 &+ digit
        scale /= 10
      } else if next == start + 6, digit >= 5 {
        value &+= 1
      }
      next += 1
    }
    return next > start ? (value &* scale, next) : nil
  }

  /// Whether the three letters at `start` are UTC or GMT.
  private static func isUTC(_ bytes: UnsafePointer<UInt8>, _ start: Int) -> Bool {
    let word = (bytes[start] & 0xDF, bytes[start + 1] & 0xDF, bytes[start + 2] & 0xDF)
    return word == (0x55, 0x54, 0x43) || word == (0x47, 0x4D, 0x54)
  }

  /// The zone's seconds east of UTC from the rest of the text at `start`, nil if it isn't a zone.
  @inline(__always) private static func zone(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var start = start
    var length = bytes.count - start
    guard length > 0, let base = bytes.baseAddress else { return length == 0 ? 0 : nil }
    if base[start] == UInt8(ascii: " ") {
      start += 1
      length -= 1
      if length == 3, isUTC(base, start) { return 0 }
      guard length > 1 else { return nil }
    }
    let sign = base[start]
    if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return length == 1 ? 0 : nil }
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), length >= 3 else { return nil }
    let hours = pair(base, start + 1)
    var minutes = 0
    switch length {
    case 3: break
    case 5: minutes = pair(base, start + 3)
    case 6 where base[start + 3] == UInt8(ascii: ":"): minutes = pair(base, start + 4)
    default: return nil
    }
    guard hours <= 23, minutes <= 59 else { return nil }
    let offset = hours &* 3_600 &+ minutes &* 60
    return sign == UInt8(ascii: "-") ? -offset : offset
  }
}

// MARK: - Writing

extension ISODate {
  /// The text of `date`, nil if its year isn't one of 0 to 9999.
  public static func text(of date: Date) -> String? {
    guard let microseconds = microseconds(of: date) else { return nil }
    var length: Int?
    let text = String(unsafeUninitializedCapacity: longest) { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      length = write(microseconds: microseconds, to: start)
      return length ?? 0
    }
    return length == nil ? nil : text
  }

  /// Writes two digits.
  @inline(__always) private static func put(_ value: UInt32, _ buffer: UnsafeMutablePointer<UInt8>, _ offset: Int) {
    // 103/1024 approximates a tenth, exactly enough below 179.
    let tens = (value &* 103) &>> 10
    let digits = UInt16(truncatingIfNeeded: tens | (value &- tens &* 10) &<< 8) | 0x3030
    UnsafeMutableRawPointer(buffer).storeBytes(of: digits.littleEndian, toByteOffset: offset, as: UInt16.self)
  }

  /// Writes the date at `microseconds` after the start of 1970 to `buffer`, which has room for ``longest`` bytes.
  ///
  /// - Returns: the bytes written, nil if the year isn't one of 0 to 9999.
  public static func write(microseconds: Int64, to buffer: UnsafeMutablePointer<UInt8>) -> Int? {
    // 0000-01-01 to the last microsecond of 9999.
    guard microseconds >= -62_167_219_200_000_000, microseconds < 253_402_300_800_000_000 else { return nil }
    let total = Int(microseconds)
    var seconds = total / 1_000_000
    var fraction = total % 1_000_000
    if fraction < 0 {
      fraction += 1_000_000
      seconds -= 1
    }
    var days = seconds / 86_400
    var rest = seconds % 86_400
    if rest < 0 {
      rest += 86_400
      days -= 1
    }
    let second = UInt32(truncatingIfNeeded: rest)
    let (year, month, day) = CivilDate.date(days: days)
    put(year / 100, buffer, 0)
    put(year % 100, buffer, 2)
    buffer[4] = UInt8(ascii: "-")
    put(month, buffer, 5)
    buffer[7] = UInt8(ascii: "-")
    put(day, buffer, 8)
    buffer[10] = UInt8(ascii: " ")
    put(second / 3_600, buffer, 11)
    buffer[13] = UInt8(ascii: ":")
    put(second / 60 % 60, buffer, 14)
    buffer[16] = UInt8(ascii: ":")
    put(second % 60, buffer, 17)
    if fraction == 0 { return 19 }
    buffer[19] = UInt8(ascii: ".")
    let digits = UInt32(truncatingIfNeeded: fraction)
    put(digits / 10_000, buffer, 20)
    put(digits / 100 % 100, buffer, 22)
    put(digits % 100, buffer, 24)
    var length = 26
    while buffer[length - 1] == 0x30 { length -= 1 }
    return length
  }
}

/// The units in which dates count time since 1970, by the names of `dateFormat` in a model's user info and of `date_format` in
/// a recipe. A number's size doesn't tell its unit: 31,536,000,000 is a day of 1971 in milliseconds and of 2969 in seconds.
package enum UnixTimeUnit: String, CaseIterable, Sendable {
  case seconds = "UnixTime"
  case milliseconds = "UnixTimeMillis"
  case microseconds = "UnixTimeMicros"

  /// How many of them a second has.
  package var perSecond: Int64 {
    switch self {
    case .seconds: 1
    case .milliseconds: 1_000
    case .microseconds: 1_000_000
    }
  }

  /// The unit in words.
  package var noun: String {
    switch self {
    case .seconds: "seconds"
    case .milliseconds: "milliseconds"
    case .microseconds: "microseconds"
    }
  }
}
