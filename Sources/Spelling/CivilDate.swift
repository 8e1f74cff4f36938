/// Days since the start of 1970 as dates of the proleptic Gregorian calendar, in years of 0 to 9999, and back.
///
/// Years begin in March, so that a leap day is the last of its year, and are shifted by 400, so that no number is negative.
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
package enum CivilDate {
  /// Days from the start of 1970 to a day.
  @inlinable @inline(__always) package static func days(year: UInt32, month: UInt32, day: UInt32) -> Int {
    let isEarly = month <= 2
    let years = year &+ 400 &- (isEarly ? 1 : 0)
    let dayOfYear = (153 &* (isEarly ? month &+ 9 : month &- 3) &+ 2) / 5 &+ day &- 1
    return Int(years &* 365 &+ years / 4 &- years / 100 &+ years / 400 &+ dayOfYear) &- 719_468 &- 146_097
  }

  /// The day at a number of days after the start of 1970.
  @inlinable @inline(__always) package static func date(
    days: Int
  ) -> (year: UInt32, month: UInt32, day: UInt32) {
    let shifted = UInt32(truncatingIfNeeded: days &+ 719_468 &+ 146_097)
    let era = shifted / 146_097
    let dayOfEra = shifted &- era &* 146_097
    let yearOfEra = (dayOfEra &- dayOfEra / 1_460 &+ dayOfEra / 36_524 &- dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra &- (365 &* yearOfEra &+ yearOfEra / 4 &- yearOfEra / 100)
    let index = (5 &* dayOfYear &+ 2) / 153
    let month = index < 10 ? index &+ 3 : index &- 9
    let year = yearOfEra &+ era &* 400 &- 400 &+ (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear &- (153 &* index &+ 2) / 5 &+ 1)
  }

  /// How many days a month has.
  @inlinable @inline(__always) package static func daysInMonth(_ month: UInt32, of year: UInt32) -> UInt32 {
    if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
  }
}
