import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Dates from text")
struct DateConversionTests {
  func seconds(_ outcome: Outcome) -> Double? {
    guard case .value(.date(let date)) = outcome else { return nil }
    return date.timeIntervalSince1970
  }

  @Test("without a format a date is ISO 8601, or a JSON number of seconds since 1970")
  func iso() throws {
    #expect(try seconds(ConverterFixture.text("2011-07-23T22:30:40Z", .date)) == 1_311_460_240)
    #expect(try seconds(ConverterFixture.text(" 2011-07-23 ", .date)) == 1_311_379_200)
    #expect(try seconds(ConverterFixture.number("1388349428", .date)) == 1_388_349_428)
    #expect(try ConverterFixture.text("23.7.2011", .date) == .refused(.notADate))
    #expect(try ConverterFixture.text("1388349428", .date) == .refused(.notADate))
    #expect(try ConverterFixture.number("1e300", .date) == .refused(.outOfRange))
  }

  @Test("a date that its zone leads out of the years 0 to 9999 is out of range")
  func outOfRange() throws {
    for text in ["0000-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"] {
      #expect(try ConverterFixture.text(text, .date) == .refused(.outOfRange))
      #expect(try ConverterFixture.text(text, .date, format: "yyyy-MM-dd'T'HH:mm:ssXXX") == .refused(.outOfRange))
    }
    var rule = PropertyRule()
    rule.timeZone = "America/New_York"
    #expect(try ConverterFixture.text("9999-12-31T23:59:59", .date, rule) == .refused(.outOfRange))
    #expect(try ConverterFixture.text("0000-01-01T00:00:00+05:00", .date, rule) == .refused(.outOfRange))
    #expect(try seconds(ConverterFixture.text("9999-12-31T23:59:59Z", .date)) == 253_402_300_799)
  }

  @Test("an ISO date may have a space before its zone, or UTC or GMT, which goes before the recipe's zone")
  func spacedZones() throws {
    var rule = PropertyRule()
    rule.timeZone = "America/New_York"
    for (text, instant) in [
      ("2014-01-02 10:11 +0200", "2014-01-02T08:11:00Z"), ("2014-01-02 10:11:12 -05:30", "2014-01-02T15:41:12Z"),
      ("2014-01-02 10:11:12.5 UTC", "2014-01-02T10:11:12.5Z"), ("2014-01-02T10:11 gmt", "2014-01-02T10:11:00Z"),
    ] {
      let expected = try seconds(ConverterFixture.text(instant, .date))
      #expect(try seconds(ConverterFixture.text(text, .date)) == expected)
      #expect(try seconds(ConverterFixture.text(text, .date, rule)) == expected)
    }
    #expect(try ConverterFixture.text("2014-01-02 10:11 CET", .date) == .refused(.notADate))
    #expect(try ConverterFixture.text("2014-01-02 10:11UTC", .date) == .refused(.notADate))
  }

  @Test("UnixTime is seconds, and milliseconds and microseconds have names of their own, however large a number is")
  func unixTime() throws {
    #expect(try seconds(ConverterFixture.text("1388349428", .date, format: "UnixTime")) == 1_388_349_428)
    #expect(try seconds(ConverterFixture.text("-1.5", .date, format: "UnixTime")) == -1.5)
    #expect(try ConverterFixture.number("1388349427543", .date, format: "UnixTime") == .refused(.outOfRange))
    #expect(try seconds(ConverterFixture.number("1388349427543", .date, format: "UnixTimeMillis")) == 1_388_349_427.543)
    #expect(try seconds(ConverterFixture.text("31536000000", .date, format: "UnixTimeMillis")) == 31_536_000)
    #expect(try seconds(ConverterFixture.text("-31536000000", .date, format: "UnixTimeMillis")) == -31_536_000)
    #expect(
      try seconds(ConverterFixture.text("1388349427543210", .date, format: "UnixTimeMicros")) == 1_388_349_427.543_21)
    let converter = try ConverterFixture.converter(.date, format: "UnixTime")
    let problem = ConverterFixture.bytes("1388349427543") { converter.problem(.outOfRange, text: $0) }
    #expect(
      "\(problem)"
        == "a: “1388349427543” is out of range for Date as seconds since 1970 (UnixTimeMillis is for milliseconds)")
    #expect(try ConverterFixture.text("soon", .date, format: "UnixTime") == .refused(.notADate))
    #expect(try ConverterFixture.text("1e300", .date, format: "UnixTime") == .refused(.outOfRange))
  }

  @Test(
    "a pattern reads what it describes",
    arguments: [
      ("EEE, dd MMM yyyy HH:mm:ss zzz", "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
      ("EEE, d MMM yyyy HH:mm:ss Z", "Sun, 6 Nov 1994 08:49:37 UTC", "1994-11-06T08:49:37Z"),
      ("yyyy-MM-dd HH:mm z", "1994-11-06 08:49 +0130", "1994-11-06T07:19:00Z"),
      ("yyyyMMdd", "20240229", "2024-02-29T00:00:00Z"), ("yyyyMMddHHmmss", "20240229235958", "2024-02-29T23:59:58Z"),
      ("yyyy-MM-dd'T'HH:mm:ss'Z'", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
      ("dd.MM.yyyy HH:mm", "31.12.1999 23:59", "1999-12-31T23:59:00Z"),
      ("dd.MM.yyyy", "1.2.2024", "2024-02-01T00:00:00Z"),
      ("M/d/yyyy H-mm-ss", "8/5/2011 1-56-04", "2011-08-05T01:56:04Z"),
      ("M/d/yy h:mm a", "12/31/68 12:05 am", "2068-12-31T00:05:00Z"),
      ("M/d/yy h:mm a", "1/1/69 12:05 PM", "1969-01-01T12:05:00Z"),
      ("EEE, dd MMM yyyy HH:mm:ss Z", "Sun, 06 Nov 1994 08:49:37 +0130", "1994-11-06T07:19:37Z"),
      ("d MMMM yyyy", "6 november 1994", "1994-11-06T00:00:00Z"), ("d MMM yyyy", "6 May 1994", "1994-05-06T00:00:00Z"),
      ("yyyy-MM-dd'T'HH:mmXXX", "2024-03-01T00:30-05:00", "2024-03-01T05:30:00Z"),
      ("yyyy-MM-dd'T'HH:mmX", "2024-03-01T00:30Z", "2024-03-01T00:30:00Z"),
      ("yyyy-MM-dd HH:mmx", "2024-03-01 00:30+02", "2024-02-29T22:30:00Z"),
      ("yyyy-MM-dd HH 'o''clock'", "2024-03-01 07 o'clock", "2024-03-01T07:00:00Z"),
      ("yyyy年M月d日", "2024年3月1日", "2024-03-01T00:00:00Z"), ("HH:mm", "07:30", "2000-01-01T07:30:00Z"),
      ("yyyyMMdd", "00010101", "0001-01-01T00:00:00Z"), ("yyyyMMdd", "16000229", "1600-02-29T00:00:00Z"),
    ])
  func patterns(format: String, text: String, expected: String) throws {
    let date = try #require(ISODate.date(parsing: expected))
    #expect(try ConverterFixture.text(text, .date, format: format) == .value(.date(date)))
  }

  @Test("fractions of a second are read to the microsecond, before digits and alone")
  func fractions() throws {
    let alone = try ConverterFixture.text("2024-01-02 03:04:05.25", .date, format: "yyyy-MM-dd HH:mm:ss.SSS")
    #expect(alone == .value(.date(try #require(ISODate.date(parsing: "2024-01-02 03:04:05.25")))))
    let packed = try ConverterFixture.text("20240102030405123", .date, format: "yyyyMMddHHmmssSSS")
    #expect(packed == .value(.date(try #require(ISODate.date(parsing: "2024-01-02 03:04:05.123")))))
    let nano = try ConverterFixture.text("03:04:05.999999999", .date, format: "HH:mm:ss.SSSSSS")
    #expect(nano == .value(.date(try #require(ISODate.date(parsing: "2000-01-01 03:04:06")))))
  }

  @Test(
    "what doesn't follow the pattern, or isn't in the calendar, is refused",
    arguments: [
      ("yyyyMMdd", "2024022"), ("yyyyMMdd", "202402290"), ("yyyyMMdd", "20230229"), ("yyyyMMdd", "19000229"),
      ("yyyyMMdd", "20241301"), ("yyyyMMdd", "20240001"), ("yyyyMMdd", "20240100"), ("yyyyMMdd", "2024-1-1"),
      ("dd.MM.yyyy HH:mm", "01.01.2024 24:00"), ("dd.MM.yyyy HH:mm", "01.01.2024 23:60"), ("dd.MM.yyyy", "01.01.24"),
      ("d MMM yyyy", "1 Foo 2024"), ("d MMM yyyy", "1 Ma 2024"), ("h:mm a", "13:00 pm"), ("h:mm a", "0:30 am"),
      ("HH:mmX", "07:30+24"), ("HH:mmX", "07:30+02:60"), ("HH:mmx", "07:30Z"), ("HH:mm", "07:30 " + "x"),
      ("HH:mm", "07:"),
    ])
  func refused(format: String, text: String) throws {
    #expect(try ConverterFixture.text(text, .date, format: format) == .refused(.notADate))
  }

  @Test(
    "a letter that isn't supported is named when the converter is made",
    arguments: [
      ("yyyy-MM-ddTHH:mm", "T"), ("YYYY-MM-dd", "YYYY"), ("yyyy-DDD", "DDD"), ("yyy", "yyy"), ("MMMMM", "MMMMM"),
      ("HH:mm zzzz", "zzzz"), ("ddd", "ddd"), ("yyyy 'W'w", "w"),
    ])
  func unsupportedLetter(format: String, letter: String) throws {
    #expect(throws: ConverterError.unsupportedLetter(attribute: "a", format: format, letter: letter)) {
      try ConverterFixture.converter(.date, format: format)
    }
  }

  @Test("a quotation that isn't closed is refused")
  func unclosedQuote() throws {
    #expect(throws: ConverterError.unclosedQuote(attribute: "a", format: "yyyy 'at")) {
      try ConverterFixture.converter(.date, format: "yyyy 'at")
    }
  }

  @Test("a JSON number is read under a pattern by its digits")
  func numberUnderPattern() throws {
    let date = try #require(ISODate.date(parsing: "2024-02-29"))
    #expect(try ConverterFixture.number("20240229", .date, format: "yyyyMMdd") == .value(.date(date)))
  }
}
