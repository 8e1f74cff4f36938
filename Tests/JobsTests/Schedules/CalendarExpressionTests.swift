import Foundation
import ManagedObjects
import Testing

@testable import Jobs

@Suite("A calendar expression")
struct CalendarExpressionTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let normalized: String
    let times: [String]
    var testDescription: String { text }

    init(_ text: String, _ normalized: String, _ times: String...) {
      self.text = text
      self.normalized = normalized
      self.times = times
    }
  }

  /// Expressions, what they are in full, and the first three times after the beginning of November 2026.
  static let table: [Row] = [
    Row("minutely UTC", "*-*-* *:*:00 UTC", "2026-11-01 00:01:00", "2026-11-01 00:02:00", "2026-11-01 00:03:00"),
    Row("hourly UTC", "*-*-* *:00:00 UTC", "2026-11-01 01:00:00", "2026-11-01 02:00:00", "2026-11-01 03:00:00"),
    Row(
      "daily Europe/Berlin", "*-*-* 00:00:00 Europe/Berlin", "2026-11-01 23:00:00", "2026-11-02 23:00:00",
      "2026-11-03 23:00:00"),
    Row(
      "weekly America/New_York", "Mon *-*-* 00:00:00 America/New_York", "2026-11-02 05:00:00", "2026-11-09 05:00:00",
      "2026-11-16 05:00:00"),
    Row(
      "monthly Asia/Kolkata", "*-*-01 00:00:00 Asia/Kolkata", "2026-11-30 18:30:00", "2026-12-31 18:30:00",
      "2027-01-31 18:30:00"),
    Row(
      "quarterly UTC", "*-01,04,07,10-01 00:00:00 UTC", "2027-01-01 00:00:00", "2027-04-01 00:00:00",
      "2027-07-01 00:00:00"),
    Row(
      "Semi-Annually UTC", "*-01,07-01 00:00:00 UTC", "2027-01-01 00:00:00", "2027-07-01 00:00:00",
      "2028-01-01 00:00:00"),
    Row("annually UTC", "*-01-01 00:00:00 UTC", "2027-01-01 00:00:00", "2028-01-01 00:00:00", "2029-01-01 00:00:00"),
    Row(
      "Mon..Fri 02:30 Europe/Berlin", "Mon..Fri *-*-* 02:30:00 Europe/Berlin", "2026-11-02 01:30:00",
      "2026-11-03 01:30:00", "2026-11-04 01:30:00"),
    Row(
      "Mon-Fri,Sun 02:30 utc", "Mon..Fri,Sun *-*-* 02:30:00 UTC", "2026-11-01 02:30:00", "2026-11-02 02:30:00",
      "2026-11-03 02:30:00"),
    Row(
      "Mon,Thursday..Sat,sun 9:00 UTC", "Mon,Thu..Sun *-*-* 09:00:00 UTC", "2026-11-01 09:00:00",
      "2026-11-02 09:00:00", "2026-11-05 09:00:00"),
    Row(
      "Sun,Mon,Tue,Wed,Thu,Fri,Sat UTC", "*-*-* 00:00:00 UTC", "2026-11-02 00:00:00", "2026-11-03 00:00:00",
      "2026-11-04 00:00:00"),
    Row("*-*-01 UTC", "*-*-01 00:00:00 UTC", "2026-12-01 00:00:00", "2027-01-01 00:00:00", "2027-02-01 00:00:00"),
    Row(
      "12-24 18:00 UTC", "*-12-24 18:00:00 UTC", "2026-12-24 18:00:00", "2027-12-24 18:00:00", "2028-12-24 18:00:00"),
    Row(
      "2026-12-24..26 UTC", "2026-12-24..26 00:00:00 UTC", "2026-12-24 00:00:00", "2026-12-25 00:00:00",
      "2026-12-26 00:00:00"),
    Row(
      "*-*~01 23:59:59 UTC", "*-*~01 23:59:59 UTC", "2026-11-30 23:59:59", "2026-12-31 23:59:59",
      "2027-01-31 23:59:59"),
    Row("*-02~03 UTC", "*-02~03 00:00:00 UTC", "2027-02-26 00:00:00", "2028-02-27 00:00:00", "2029-02-26 00:00:00"),
    Row(
      "Mon *-05~07/1 UTC", "Mon *-05~07/1 00:00:00 UTC", "2027-05-31 00:00:00", "2028-05-29 00:00:00",
      "2029-05-28 00:00:00"),
    Row("*:0/15 UTC", "*-*-* *:00/15:00 UTC", "2026-11-01 00:15:00", "2026-11-01 00:30:00", "2026-11-01 00:45:00"),
    Row(
      "8..18/2:00,30 UTC", "*-*-* 08..18/2:00,30:00 UTC", "2026-11-01 08:00:00", "2026-11-01 08:30:00",
      "2026-11-01 10:00:00"),
    Row("*:*:0/20 UTC", "*-*-* *:*:00/20 UTC", "2026-11-01 00:00:20", "2026-11-01 00:00:40", "2026-11-01 00:01:00"),
    Row(
      "10:20:30.5/10.25 UTC", "*-*-* 10:20:30.500000/10.250000 UTC", "2026-11-01 10:20:30.5",
      "2026-11-01 10:20:40.75", "2026-11-01 10:20:51"),
    Row("*-02-29 UTC", "*-02-29 00:00:00 UTC", "2028-02-29 00:00:00", "2032-02-29 00:00:00", "2036-02-29 00:00:00"),
    Row(
      "Fri *-*-13 UTC", "Fri *-*-13 00:00:00 UTC", "2026-11-13 00:00:00", "2027-08-13 00:00:00",
      "2028-10-13 00:00:00"),
    Row(
      "27/2-01-01 UTC", "2027/2-01-01 00:00:00 UTC", "2027-01-01 00:00:00", "2029-01-01 00:00:00",
      "2031-01-01 00:00:00"),
    Row("@1800000000", "2027-01-15 08:00:00 UTC", "2027-01-15 08:00:00"),
    Row("2026-02-30 UTC", "2026-02-30 00:00:00 UTC"),
    Row("2026-10-31", "2026-10-31 00:00:00"),
    Row(
      "Mon *-*-1..7 03:00 Australia/Sydney", "Mon *-*-01..07 03:00:00 Australia/Sydney", "2026-11-01 16:00:00",
      "2026-12-06 16:00:00", "2027-01-03 16:00:00"),
    Row("2026-11-15 07:00 America/St_Johns", "2026-11-15 07:00:00 America/St_Johns", "2026-11-15 10:30:00"),
    Row(
      "  Mon,  4:00:00.1234567", "Mon *-*-* 04:00:00.123457", "2026-11-02 04:00:00.123457",
      "2026-11-09 04:00:00.123457", "2026-11-16 04:00:00.123457"),
  ]

  @Test("says in full what it means, and stands for the times that come next", arguments: table)
  func next(_ row: Row) throws {
    let expression = try CalendarExpression(row.text)
    #expect(expression.normalized == row.normalized)
    #expect(try CalendarExpression(expression.normalized) == expression)
    #expect(try Self.times(expression, after: "2026-11-01 00:00:00", count: 3) == row.times)
  }

  static func times(_ expression: CalendarExpression, after start: String, count: Int) throws -> [String] {
    var time = try #require(ISODate.date(parsing: start))
    var found: [String] = []
    while found.count < count, let next = expression.next(after: time) {
      found.append(try #require(ISODate.text(of: next)))
      time = next
    }
    return found
  }

  static let errors: [(String, String)] = [
    ("", "column 1: expected a calendar expression, such as daily or Mon..Fri 02:30, but the text ends"),
    ("Mnday 10:00", "column 1: “Mnday” isn't known; did you mean Monday?"),
    ("dayly", "column 1: “dayly” isn't known; did you mean daily?"),
    ("Mon-Fri 25:00", "column 9: an hour is from 0 to 23"),
    ("Mon..Fri,Wendesday 5:00", "column 10: “Wendesday” isn't known; did you mean Wednesday?"),
    ("Fri..Tue", "column 1: a range of weekdays goes from Mon towards Sun: write Fri..Sun,Mon..Tue"),
    ("2026-13-01", "column 6: a month is from 1 to 12"),
    ("2300-01-01", "column 1: a year is from 1970 to 2199"),
    ("*-*~29", "column 5: a day counted from the end of the month is from 1 to 28"),
    ("*:0/0", "column 5: a step is at least 1"),
    ("*:*/5", "column 4: after “*” there is no “/”: write the first value, as in 0/5"),
    ("12", "column 3: expected “-” of a date such as 2026-12-24, or “:” of a time such as 02:30, but the text ends"),
    ("12:5x", "column 5: expected “:” and seconds, a time zone, or the end, but there is “x”"),
    ("Mon..", "column 6: expected a weekday, such as Mon, but the text ends"),
    ("Mon.Fri", "column 4: expected a space, “,” or “..” after the weekday, but there is “.Fri”"),
    ("10:00 Europe/Berlim", "column 7: there is no time zone “Europe/Berlim”; did you mean Europe/Berlin?"),
    ("10:00 Berlin", "column 7: there is no time zone “Berlin”; did you mean Europe/Berlin?"),
    ("10:00 europe/berlin", "column 7: there is no time zone “europe/berlin”; did you mean Europe/Berlin?"),
    ("10:00 Mars/Phobos", "column 7: there is no time zone “Mars/Phobos”: write UTC, or a name such as Europe/Berlin"),
    ("daily 10:00", "column 1: “daily” stands alone, or before a time zone only"),
    ("10..8:00", "column 1: a range goes from the smaller number to the larger"),
    ("5-5-5-5", "column 6: expected a space or the end after the date, but there is “-5”"),
    ("*:*:0.1..0.5", "column 10: a range of less than a second needs a step, such as /0.1"),
    ("2026-12-24T18:00", "column 11: expected a space or the end after the date, but there is “T18:00”"),
    ("20/5:00", "column 4: the step leads beyond an hour at once (0 to 23): leave it out, or begin elsewhere"),
    ("@12x", "column 4: expected nothing more, but there is “x”"),
    ("@1800000000 Europe/Berlin", "column 1: a number of seconds is in UTC"),
    ("*-*-* *", "column 8: expected “:” and minutes, but the text ends"),
    ("1,,2:00", "column 3: expected a number or “*”, but there is “,2:00”"),
    ("*-*-7/3~", "column 8: expected a space or the end after the date, but there is “~”"),
    ("99999999999999999999:00", "column 1: the number is too large: expected a number or “*”"),
    (
      "10:00 ../../etc/passwd",
      "column 6: expected “:” and seconds, a time zone, or the end, but there is “ ../../etc/passwd”"
    ),
    (
      "10:00 Europe/../posix/UTC",
      "column 7: there is no time zone “Europe/../posix/UTC”: write UTC, or a name such as Europe/Berlin"
    ),
    (
      "0 2 * * *",
      "column 2: expected “-” of a date such as 2026-12-24, or “:” of a time such as 02:30, but there is “ 2 * * *”"
    ),
  ]

  @Test("that isn't one is refused with its column, what was expected, and what was probably meant", arguments: errors)
  func refused(_ text: String, _ problem: String) throws {
    let error = #expect(throws: CalendarExpressionError.self) { try CalendarExpression(text) }
    #expect(error?.description == problem)
  }

  @Test("that is long beyond all use is refused at once")
  func long() {
    let numbers = (0..<241).map { "\($0 % 24)" }.joined(separator: ",")
    #expect(throws: CalendarExpressionError.self) { try CalendarExpression(numbers + ":00") }
    #expect(throws: CalendarExpressionError.self) { try CalendarExpression(String(repeating: "1,", count: 100_000)) }
  }

  @Test("without a zone is meant in the zone that it is given")
  func givenZone() throws {
    let expression = try CalendarExpression("02:30", zone: CalendarZone(named: "Europe/Berlin"))
    #expect(expression.normalized == "*-*-* 02:30:00" && expression.zone.name == "Europe/Berlin")
    #expect(try Self.times(expression, after: "2026-07-01 12:00:00", count: 1) == ["2026-07-02 00:30:00"])
    #expect(expression != (try CalendarExpression("02:30")))
  }

  @Test("stands for nothing before 1970 and from 2200 on")
  func bounds() throws {
    let daily = try CalendarExpression("daily")
    #expect(try Self.times(daily, after: "1900-01-01 00:00:00", count: 1) == ["1970-01-01 00:00:00"])
    #expect(try Self.times(daily, after: "2199-12-30 00:00:00", count: 3) == ["2199-12-31 00:00:00"])
    #expect(daily.next(after: .distantFuture) == nil)
    #expect(daily.next(after: Date(timeIntervalSince1970: .infinity)) == nil)
  }
}
