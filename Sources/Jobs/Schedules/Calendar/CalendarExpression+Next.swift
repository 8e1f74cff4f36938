import Spelling

extension CalendarExpression {
  private static let second: Int64 = 1_000_000
  private static let day: Int64 = 86_400 * second
  /// The end of 2199 on the clocks of any zone.
  private static let end: Int64 = 7_258_204_800 * second

  /// The same in millionths of a second from the start of 1970.
  func next(afterMicroseconds time: Int64) -> Int64? {
    let start = max(time, -1) + 1
    guard start < Self.end else { return nil }
    let (seconds, fraction) = start.quotientAndRemainder(dividingBy: Self.second)
    var reading = (seconds + Int64(zone.rules.offset(at: seconds))) * Self.second + fraction
    while let match = nextReading(from: reading) {
      let whole = Self.floor(match, Self.second)
      switch zone.rules.times(showing: whole) {
      case .times(let times):
        let found = times.lazy.map { $0 * Self.second + match - whole * Self.second }.first { $0 >= start }
        if let found { return found }
        reading = match + 1
      case .skipped(let other): reading = other * Self.second
      }
    }
    return nil
  }

  /// The first reading of a clock from `reading` on that matches, were clocks never set.
  private func nextReading(from reading: Int64) -> Int64? {
    let dayNumber = Self.floor(reading, Self.day)
    guard dayNumber >= -1 else { return nil }
    let date = CivilDate.date(days: Int(dayNumber))
    var cursor = Cursor(
      year: Int(date.year), month: Int(date.month), day: Int(date.day), time: Int(reading - dayNumber * Self.day))
    while let year = years.next(from: cursor.year, limit: CalendarUnit.year.range.upperBound) {
      cursor.move(to: year, \.year)
      while let month = months.next(from: cursor.month, limit: 12) {
        cursor.move(to: month, \.month)
        if let found = nextReading(inMonthOf: &cursor) { return found }
        cursor.move(to: month + 1, \.month)
      }
      cursor.move(to: year + 1, \.year)
    }
    return nil
  }

  private func nextReading(inMonthOf cursor: inout Cursor) -> Int64? {
    let length = Int(CivilDate.daysInMonth(UInt32(cursor.month), of: UInt32(cursor.year)))
    let days = countsDaysFromEnd ? days.counted(fromEndOfMonthWith: length) : days
    let first = CivilDate.days(year: UInt32(cursor.year), month: UInt32(cursor.month), day: 1)
    while let day = days.next(from: cursor.day, limit: length) {
      cursor.move(to: day, \.day)
      let number = first + day - 1
      // The first of 1970 was a Thursday.
      let weekday = ((number + 3) % 7 + 7) % 7
      if weekdays == 0 || weekdays & 1 << UInt8(weekday) != 0, let time = nextTime(from: cursor.time) {
        return Int64(number) * Self.day + Int64(time)
      }
      cursor.move(to: day + 1, \.day)
    }
    return nil
  }

  /// The first time of day from `time` on: millionths of a second from midnight.
  private func nextTime(from time: Int) -> Int? {
    let minute = 60_000_000
    var (from, rest) = time.quotientAndRemainder(dividingBy: 60 * minute)
    while let hour = hours.next(from: from, limit: 23) {
      if hour > from { rest = 0 }
      var (fromMinute, fromSecond) = rest.quotientAndRemainder(dividingBy: minute)
      while let next = minutes.next(from: fromMinute, limit: 59) {
        if next > fromMinute { fromSecond = 0 }
        if let second = nextSecond(from: fromSecond) { return (hour * 60 + next) * minute + second }
        (fromMinute, fromSecond) = (next + 1, 0)
      }
      (from, rest) = (hour + 1, 0)
    }
    return nil
  }

  private func nextSecond(from second: Int) -> Int? {
    seconds.next(from: second, limit: CalendarUnit.second.range.upperBound)
  }

  private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// Where the search is; when a unit moves, the smaller ones start again.
  private struct Cursor {
    var year, month, day, time: Int

    mutating func move(to value: Int, _ part: WritableKeyPath<Cursor, Int>) {
      guard self[keyPath: part] != value else { return }
      self[keyPath: part] = value
      time = 0
      if part != \.day { day = 1 }
      if part == \.year { month = 1 }
    }
  }
}
