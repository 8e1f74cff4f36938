import Foundation
import Testing

@testable import Importing

@Suite("A cursor")
struct CursorValueTests {
  @Test(
    "of times is cut to the last whole second, so that it comes before every way to write it",
    arguments: [
      ("2026-11-28 20:30:05", "2026-11-28 20:30:05"), ("2026-11-28T20:30:05.999Z", "2026-11-28T20:30:05"),
      ("2026-11-28T20:30:05+00:00", "2026-11-28T20:30:05"), ("2026-11-28 20:30", "2026-11-28 20:30"),
      ("2026-11-28", "2026-11-28"), ("0000-01-01", "0000-01-01"),
    ])
  func cut(_ text: String, _ bound: String) throws {
    #expect(try CursorValue.text(text).less(nil, nil, cursor: "at") == .text(bound))
    #expect(bound <= text)
  }

  @Test(
    "of times goes back by the lag, over days, months and leap years",
    arguments: [
      ("2026-03-01 00:00:05", 10.0, "2026-02-28 23:59:55"), ("2024-03-01 00:00:00", 1, "2024-02-29 23:59:59"),
      ("2000-03-01", 86_400, "2000-02-29"), ("2026-03-01", 600, "2026-02-28"),
      ("1970-01-01T00:00:00Z", 1, "1969-12-31T23:59:59"),
      ("2026-01-01T00:00", 60, "2025-12-31T23:59"), ("2026-01-01T00:00:00.25Z", 0.5, "2025-12-31T23:59:59"),
      ("0000-01-01 00:00:00", 60, "0000-01-01 00:00:00"),
    ])
  func lag(_ text: String, _ seconds: Double, _ bound: String) throws {
    #expect(try CursorValue.text(text).less(.seconds(seconds), nil, cursor: "at") == .text(bound))
  }

  @Test("of every day of 800 years reads as it is written")
  func days() throws {
    var text = "1600-01-01"
    var count = 0
    while text > "1200-01-01", let time = ISOText(text) {
      text = time.text(less: 86_400)
      count += 1
    }
    #expect(text == "1200-01-01" && count == 146_097)
  }

  @Test("of numbers goes back by a number, or by a time in its unit, and not beyond the least number")
  func numbers() throws {
    func less(
      _ value: CursorValue, _ lag: IncrementalSource.Lag, _ unit: IncrementalSource.TimeUnit? = nil
    ) throws -> CursorValue {
      try value.less(lag, unit, cursor: "at")
    }
    #expect(try less(.integer(100), .number(10)) == .integer(90))
    #expect(try less(.integer(.min + 1), .number(10)) == .integer(.min))
    #expect(try less(.real(1.5), .number(1)) == .real(0.5))
    #expect(try less(.integer(100), .seconds(10), .seconds) == .integer(90))
    #expect(try less(.integer(100_000), .seconds(10), .milliseconds) == .integer(90_000))
    #expect(try less(.integer(100_000_000), .seconds(0.5), .microseconds) == .integer(99_500_000))
    #expect(try less(.real(2_460_000.5), .seconds(43_200), .days) == .real(2_460_000))
    #expect(throws: ExtractionError.self) { try less(.integer(1), .seconds(1)) }
    #expect(throws: ExtractionError.self) { try less(.text("a"), .seconds(1)) }
    #expect(throws: ExtractionError.self) { try less(.text("a"), .number(1)) }
  }

  @Test(
    "isn't a time in another zone, which as a text has another order",
    arguments: [
      "2026-11-28T20:30:05+01:00", "2026-11-28T20:30:05-00:30", "28.11.2026", "2026-11-28x", "2026-13-01",
      "2026-11-28 24:00",
      "2026-11-28 20:30:05.", "", "2026-11-28 20:30:05 CET",
    ])
  func otherTimes(_ text: String) { #expect(ISOText(text) == nil) }

  @Test("doesn't go beyond the present time, if it is a time")
  func future() throws {
    let now = try #require(ISO8601DateFormatter().date(from: "2026-11-28T20:30:05Z"))
    #expect(CursorValue.text("2999-01-01 00:00:00").notAfter(now, nil) == .text("2026-11-28 20:30:05"))
    #expect(CursorValue.text("2999-01-01").notAfter(now, nil) == .text("2026-11-28"))
    #expect(CursorValue.text("2026-11-28T20:30:05.000Z").notAfter(now, nil) == .text("2026-11-28T20:30:05.000Z"))
    #expect(CursorValue.text("z").notAfter(now, nil) == .text("z"))
    #expect(CursorValue.integer(.max).notAfter(now, nil) == .integer(.max))
    #expect(CursorValue.integer(.max).notAfter(now, .seconds) == .integer(1_795_897_805))
    #expect(CursorValue.real(9e9).notAfter(now, .milliseconds) == .real(9e9))
    #expect(CursorValue.real(2_500_000).notAfter(now, .days) == .real(1_795_897_805 / 86_400 + 2_440_587.5))
  }

  @Test("is stored with its type")
  func stored() {
    for value in [
      CursorValue.integer(-5), .integer(.max), .real(0.1), .real(-1e300), .text(""), .text("i5"), .text("ä\n"),
    ] {
      #expect(CursorValue(stored: value.stored) == value)
    }
    #expect(CursorValue(stored: "") == nil && CursorValue(stored: "ix") == nil && CursorValue(stored: "x1") == nil)
    #expect(CursorValue(parsing: "12") == .integer(12) && CursorValue(parsing: "1.5") == .real(1.5))
    #expect(CursorValue(parsing: "012") == .text("012") && CursorValue(parsing: "inf") == .text("inf"))
  }
}
