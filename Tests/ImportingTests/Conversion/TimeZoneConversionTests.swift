import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Dates of a time zone")
struct TimeZoneConversionTests {
  private func rule(_ zone: String, _ format: String? = nil) -> PropertyRule {
    PropertyRule {
      $0.timeZone = zone
      $0.dateFormat = format
    }
  }

  private func utc(_ text: String) throws -> Outcome { .value(.date(try #require(ISODate.date(parsing: text)))) }

  @Test(
    "a date that doesn't say its zone is of the recipe's",
    arguments: [
      ("Europe/Berlin", "2024-01-15 12:00:00", "2024-01-15 11:00:00"),
      ("Europe/Berlin", "2024-07-15T12:00", "2024-07-15 10:00:00"),
      ("Europe/Berlin", "2024-07-15", "2024-07-14 22:00:00"),
      ("Europe/Berlin", "2024-07-15 12:00:00.25", "2024-07-15 10:00:00.25"),
      ("Europe/Berlin", "1880-01-01 00:00:00", "1879-12-31 23:06:32"),
      ("Europe/Berlin", "1960-01-01 00:00:00.5", "1959-12-31 23:00:00.5"),
      ("Europe/Berlin", "2024-07-15 12:00:00Z", "2024-07-15 12:00:00"),
      ("Europe/Berlin", "2024-07-15 12:00:00-05:00", "2024-07-15 17:00:00"),
      ("Europe/Berlin", "2024-07-15 12:00+01", "2024-07-15 11:00:00"),
      ("America/New_York", "2024-07-15 20:30:00", "2024-07-16 00:30:00"),
      ("Asia/Kolkata", "2024-07-15 05:30:00", "2024-07-15 00:00:00"),
      ("GMT+0200", "2024-01-15 12:00:00", "2024-01-15 10:00:00"), ("UTC", "2024-01-15 12:00:00", "2024-01-15 12:00:00"),
    ])
  func iso(zone: String, text: String, expected: String) throws {
    #expect(try ConverterFixture.text(text, .date, rule(zone)) == utc(expected))
  }

  @Test(
    "so is one under a pattern",
    arguments: [
      ("dd.MM.yyyy HH:mm", "15.07.2024 12:00", "2024-07-15 10:00:00"),
      ("yyyyMMdd", "20240715", "2024-07-14 22:00:00"),
      ("yyyy-MM-dd HH:mmX", "2024-07-15 12:00Z", "2024-07-15 12:00:00"),
      ("yyyy-MM-dd HH:mmx", "2024-07-15 12:00+00", "2024-07-15 12:00:00"),
      ("HH:mm", "12:00", "2000-01-01 11:00:00"),
    ])
  func patterns(format: String, text: String, expected: String) throws {
    #expect(try ConverterFixture.text(text, .date, rule("Europe/Berlin", format)) == utc(expected))
  }

  @Test(
    "a time that a clock passes over is later by as much, and of one that comes twice it is the first",
    arguments: [
      ("2024-03-31 01:59:59", "2024-03-31 00:59:59"), ("2024-03-31 02:00:00", "2024-03-31 01:00:00"),
      ("2024-03-31 02:30:00", "2024-03-31 01:30:00"), ("2024-03-31 03:00:00", "2024-03-31 01:00:00"),
      ("2024-10-27 01:59:59", "2024-10-26 23:59:59"), ("2024-10-27 02:30:00", "2024-10-27 00:30:00"),
      ("2024-10-27 03:00:00", "2024-10-27 02:00:00"),
    ])
  func changes(text: String, expected: String) throws {
    #expect(try ConverterFixture.text(text, .date, rule("Europe/Berlin")) == utc(expected))
  }

  @Test(
    "at any time it is the instant at which the zone has that time",
    arguments: [
      "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "Asia/Kolkata",
      "America/St_Johns", "EST5EDT",
    ])
  func agreesWithFoundation(name: String) throws {
    let zone = try #require(TimeZone(identifier: name))
    let times = try LocalTime(name, attribute: "a")
    var lot = Lot(seed: 7)
    for _ in 0..<20_000 {
      // Any hour of the years 1800 to 3600.
      let instant = Int64(lot.draw(1800 * 8766)) * 3600 - 5_364_662_400
      let offset = Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(instant))))
      let local = instant + offset
      let found = local - times.offset(at: local)
      if found == instant { continue }
      // The time came twice, and this was the second.
      #expect(found < instant && instant - found <= 86_400)
      let first = Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(found))))
      #expect(found + first == local, "\(local)")
    }
  }

  @Test("a JSON number is the same everywhere")
  func numbers() throws {
    #expect(try ConverterFixture.number("0", .date, rule("Europe/Berlin")) == utc("1970-01-01"))
    #expect(
      try ConverterFixture.number("20240715", .date, rule("Europe/Berlin", "yyyyMMdd")) == utc("2024-07-14 22:00:00"))
  }

  @Test("a zone that isn't known, or can't matter, is refused")
  func refused() throws {
    #expect(
      throws: ConverterError.unknownTimeZone(attribute: "a", name: "Europe/Berln", nearest: "Europe/Berlin"),
      performing: { try ConverterFixture.text("", .date, rule("Europe/Berln")) })
    for name in ["", "+02:00", "../../etc/passwd", "Mars/Olympus_Mons"] {
      #expect(throws: ConverterError.self) { try ConverterFixture.text("", .date, rule(name)) }
    }
    #expect(throws: ConverterError.self) { try ConverterFixture.text("", .date, rule("UTC", "UnixTime")) }
    #expect(throws: ConverterError.self) { try ConverterFixture.text("", .date, rule("UTC", "yyyy-MM-ddTHH")) }
  }
}
