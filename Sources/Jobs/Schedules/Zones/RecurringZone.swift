import Spelling

/// A zone whose clocks change every year in the same way, if they change: the last line of a zone's file, written as the
/// variable TZ is (POSIX, Base Definitions 8.3, with the hours beyond a day of RFC 8536).
struct RecurringZone: Sendable, Equatable {
  /// A day of every year, and a time of it.
  struct Rule: Sendable, Equatable {
    enum Day: Sendable, Equatable {
      /// The `week`th (5: the last) such weekday (0: Sunday) of a month.
      case weekday(month: Int, week: Int, weekday: Int)
      /// From 1 to 365; 29 February is never counted.
      case numberWithoutLeapDay(Int)
      /// From 0 to 365.
      case number(Int)
    }
    var day: Day
    /// Seconds after the day's midnight.
    var time: Int
  }

  /// The part of a year in which clocks show something else.
  struct Daylight: Sendable, Equatable {
    var offset: Int
    var start: Rule
    var end: Rule
  }

  /// Seconds east of UTC.
  var standard: Int
  var daylight: Daylight?

  func offset(at seconds: Int64) -> Int {
    guard let daylight else { return standard }
    let local = Int(seconds) + standard
    let days = (local - (local % 86_400 + 86_400) % 86_400) / 86_400
    let year = Int(CivilDate.date(days: days).year)
    let start = daylight.start.seconds(in: year) - standard
    let end = daylight.end.seconds(in: year) - daylight.offset
    let now = Int(seconds)
    let isDaylight = start < end ? now >= start && now < end : now >= start || now < end
    return isDaylight ? daylight.offset : standard
  }
}

extension RecurringZone.Rule {
  /// When it is that in a year: seconds from the start of 1970, as the clocks count them.
  func seconds(in year: Int) -> Int {
    let newYear = CivilDate.days(year: UInt32(year), month: 1, day: 1)
    let days: Int
    switch day {
    case .number(let number): days = newYear + number
    case .numberWithoutLeapDay(let number):
      let isLeap = CivilDate.daysInMonth(2, of: UInt32(year)) == 29
      days = newYear + number - 1 + (isLeap && number >= 60 ? 1 : 0)
    case .weekday(let month, let week, let weekday):
      let first = CivilDate.days(year: UInt32(year), month: UInt32(month), day: 1)
      // The first of 1970 was a Thursday.
      let weekdayOfFirst = ((first + 4) % 7 + 7) % 7
      var inMonth = (weekday - weekdayOfFirst + 7) % 7 + (week - 1) * 7
      if inMonth >= Int(CivilDate.daysInMonth(UInt32(month), of: UInt32(year))) { inMonth -= 7 }
      days = first + inMonth
    }
    return days * 86_400 + time
  }
}

// MARK: - Reading

extension RecurringZone {
  /// Reads `CET-1CEST,M3.5.0,M10.5.0/3`; nil if it isn't such a text.
  init?(posix text: some Sequence<UInt8>) {
    var reader = Reader(bytes: Array(text))
    guard reader.skipName(), let west = reader.time() else { return nil }
    standard = -west
    guard !reader.isAtEnd else { return }
    guard reader.skipName() else { return nil }
    var offset = standard + 3600
    if let next = reader.peek, next != UInt8(ascii: ",") {
      guard let west = reader.time() else { return nil }
      offset = -west
    }
    guard let start = reader.rule(), let end = reader.rule(), reader.isAtEnd else { return nil }
    daylight = Daylight(offset: offset, start: start, end: end)
  }

  private struct Reader {
    let bytes: [UInt8]
    var index = 0

    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }
    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard peek == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    /// MultiPassProgress over `CET` or `<+01>`.
    mutating func skipName() -> Bool {
      let start = index
      if take("<") {
        while let byte = peek, byte != UInt8(ascii: ">") { index += 1 }
        return take(">")
      }
      while let byte = peek, UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 { index += 1 }
      return index > start
    }

    mutating func number() -> Int? {
      let start = index
      var value = 0
      while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte, index - start < 4 {
        value = value * 10 + Int(byte - UInt8(ascii: "0"))
        index += 1
      }
      return index > start ? value : nil
    }

    /// `-3:30`, in seconds.
    mutating func time() -> Int? {
      let isNegative = take("-")
      if !isNegative { _ = take("+") }
      guard var seconds = number().map({ $0 * 3600 }) else { return nil }
      for unit in [60, 1] where take(":") {
        guard let part = number() else { return nil }
        seconds += part * unit
      }
      return isNegative ? -seconds : seconds
    }

    /// `,M3.5.0/2`
    mutating func rule() -> Rule? {
      guard take(",") else { return nil }
      let day: Rule.Day
      if take("M") {
        guard let month = number(), take("."), let week = number(), take("."), let weekday = number(),
          1...12 ~= month, 1...5 ~= week, 0...6 ~= weekday
        else { return nil }
        day = .weekday(month: month, week: week, weekday: weekday)
      } else {
        let isWithoutLeapDay = take("J")
        guard let number = number(), number <= 365 else { return nil }
        day = isWithoutLeapDay ? .numberWithoutLeapDay(number) : .number(number)
      }
      guard take("/") else { return Rule(day: day, time: 7200) }
      return time().map { Rule(day: day, time: $0) }
    }
  }
}
