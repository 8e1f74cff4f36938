public import Foundation

/// Dates as text, in the forms of ISO 8601 that data files and SQLite use, read and written without locale, calendar
/// or formatter.
///
/// Written is `YYYY-MM-DD HH:MM:SS[.ffffff]`: UTC, the fraction only when there is one, without zeros at its end. That
/// is the form of SQLite's own date functions, and its order as text is the order in time.
///
/// Read is `YYYY-MM-DD`, or that and `T` or a space and `HH:MM[:SS[.f…]]`, and then `Z` or `±HH`, `±HHMM` or `±HH:MM`.
/// Without a zone it is UTC. Digits beyond the microsecond round. Dates that the calendar doesn't have are refused, and
/// so is a 60th second, which neither SQLite nor `Date` knows. The calendar is the proleptic Gregorian one.
public enum ISODate {
  /// Bytes that ``write(microseconds:to:)`` writes at most.
  public static let longest = 26

  /// Whole microseconds from the start of 1970 to `date`, rounded; nil beyond some 285,000 years.
  @inlinable public static func microseconds(of date: Date) -> Int64? {
    let seconds = date.timeIntervalSince1970
    guard abs(seconds) < 9_000_000_000_000 else { return nil }
    // In two parts: the product of all of it and a million would be rounded before it is rounded.
    let whole = seconds.rounded(.down)
    return Int64(whole) &* 1_000_000 &+ Int64(((seconds - whole) * 1_000_000).rounded())
  }

  /// The date so many microseconds after the start of 1970.
  @inlinable public static func date(microseconds: Int64) -> Date {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return Date(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000_000)
  }

  /// The date that `text` says, nil if it says none.
  public static func date(parsing text: String) -> Date? {
    var text = text
    return text.withUTF8 { date(parsing: $0) }
  }

  /// The date that UTF-8 `bytes` say, nil if they say none.
  @inlinable public static func date(parsing bytes: UnsafeBufferPointer<UInt8>) -> Date? {
    microseconds(parsing: bytes).map(date(microseconds:))
  }

  /// Days from the start of 1970 to a day of the proleptic Gregorian calendar.
  ///
  /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
  @inline(__always) static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The day so many days after the start of 1970.
  @inline(__always) static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let index = (5 * dayOfYear + 2) / 153
    let month = index < 10 ? index + 3 : index - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * index + 2) / 5 + 1)
  }

  @inline(__always) static func daysInMonth(_ month: Int, of year: Int) -> Int {
    if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
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

  /// Microseconds from the start of 1970 to the date that UTF-8 `bytes` say, nil if they say none.
  public static func microseconds(parsing bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard let start = bytes.baseAddress, bytes.count >= 10 else { return nil }
    let century = pair(start, 0)
    let yearOfCentury = pair(start, 2)
    let month = pair(start, 5)
    let day = pair(start, 8)
    guard century <= 99, yearOfCentury <= 99, start[4] == UInt8(ascii: "-"), start[7] == UInt8(ascii: "-"),
      month >= 1, month <= 12
    else { return nil }
    let year = century &* 100 &+ yearOfCentury
    guard day >= 1, day <= 28 || day <= daysInMonth(month, of: year) else { return nil }
    let midnight = days(year: year, month: month, day: day) &* 86_400
    if bytes.count == 10 { return Int64(midnight) &* 1_000_000 }

    let separator = start[10]
    guard separator == UInt8(ascii: "T") || separator == UInt8(ascii: " ") || separator == UInt8(ascii: "t"),
      bytes.count >= 16, start[13] == UInt8(ascii: ":")
    else { return nil }
    let hour = pair(start, 11)
    let minute = pair(start, 14)
    guard hour <= 23, minute <= 59 else { return nil }
    var seconds = midnight &+ hour &* 3_600 &+ minute &* 60
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

  /// The microseconds that the digits at `start` say, and where they end.
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

  /// Seconds east of UTC that the rest of the text from `start` says, nil if it isn't a zone.
  @inline(__always) private static func zone(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    let length = bytes.count - start
    guard length > 0, let base = bytes.baseAddress else { return length == 0 ? 0 : nil }
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

  @inline(__always) private static func put(_ value: Int, _ buffer: UnsafeMutablePointer<UInt8>, _ offset: Int) {
    let tens = value / 10
    buffer[offset] = 0x30 &+ UInt8(truncatingIfNeeded: tens)
    buffer[offset + 1] = 0x30 &+ UInt8(truncatingIfNeeded: value &- tens &* 10)
  }

  /// Writes the date so many microseconds after the start of 1970 to `buffer`, which has room for ``longest`` bytes.
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
    var second = seconds % 86_400
    if second < 0 {
      second += 86_400
      days -= 1
    }
    let (year, month, day) = civil(days: days)
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
    put(fraction / 10_000, buffer, 20)
    put(fraction / 100 % 100, buffer, 22)
    put(fraction % 100, buffer, 24)
    var length = 26
    while buffer[length - 1] == 0x30 { length -= 1 }
    return length
  }
}
