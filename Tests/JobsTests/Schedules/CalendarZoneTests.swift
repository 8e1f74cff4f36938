import Foundation
import Testing

@testable import Jobs

/// Where clocks are set forward, back, and across the date line.
@Suite("A calendar expression where clocks are set")
struct CalendarZoneTests {
  static let cases: [(String, String, [String])] = [
    // Forward from 02:00 to 03:00 on 29 March.
    (
      "02:30 Europe/Berlin", "2026-03-27 12:00:00",
      ["2026-03-28 01:30:00", "2026-03-30 00:30:00", "2026-03-31 00:30:00"]
    ),
    (
      "*:30 Europe/Berlin", "2026-03-29 00:00:00",
      ["2026-03-29 00:30:00", "2026-03-29 01:30:00", "2026-03-29 02:30:00"]
    ),
    (
      "01..03:59:59 Europe/Berlin", "2026-03-29 00:00:00",
      ["2026-03-29 00:59:59", "2026-03-29 01:59:59", "2026-03-29 23:59:59"]
    ),
    // Back from 03:00 to 02:00 on 25 October: the first of the two hours is meant, or the second if the search begins there.
    (
      "02:15 Europe/Berlin", "2026-10-24 12:00:00",
      ["2026-10-25 00:15:00", "2026-10-26 01:15:00", "2026-10-27 01:15:00"]
    ),
    (
      "*:0/30 Europe/Berlin", "2026-10-24 23:45:00",
      ["2026-10-25 00:00:00", "2026-10-25 00:30:00", "2026-10-25 02:00:00"]
    ),
    (
      "*:0/30 Europe/Berlin", "2026-10-25 01:15:00",
      ["2026-10-25 01:30:00", "2026-10-25 02:00:00", "2026-10-25 02:30:00"]
    ),
    // Half an hour.
    (
      "*:15 Australia/Lord_Howe", "2026-10-03 14:00:00",
      ["2026-10-03 14:45:00", "2026-10-03 16:15:00", "2026-10-03 17:15:00"]
    ),
    // Forward at midnight, and over a whole day.
    (
      "daily America/Sao_Paulo", "2018-11-02 12:00:00",
      ["2018-11-03 03:00:00", "2018-11-05 02:00:00", "2018-11-06 02:00:00"]
    ),
    (
      "12:00 Pacific/Apia", "2011-12-29 00:00:00",
      ["2011-12-29 22:00:00", "2011-12-30 22:00:00", "2011-12-31 22:00:00"]
    ),
    // By the rule for years of which the database has no table.
    (
      "02:30 Europe/Berlin", "2150-03-28 00:00:00",
      ["2150-03-28 01:30:00", "2150-03-30 00:30:00", "2150-03-31 00:30:00"]
    ),
  ]

  @Test("leaves out what they skip, and takes the first of what they show twice", arguments: cases)
  func clocks(_ text: String, _ start: String, _ times: [String]) throws {
    #expect(try CalendarExpressionTests.times(CalendarExpression(text), after: start, count: 3) == times)
  }

  @Test("rules of every form are read as POSIX means them")
  func rules() throws {
    func offsets(_ text: String, _ times: [Int64]) -> [Int]? {
      RecurringZone(posix: text.utf8).map { zone in times.map { zone.offset(at: $0) / 60 } }
    }
    // 1 January, 1 July and 31 December 2026, 12:00 UTC.
    let times: [Int64] = [1_767_268_800, 1_782_907_200, 1_798_718_400]
    #expect(offsets("CET-1CEST,M3.5.0,M10.5.0/3", times) == [60, 120, 60])
    #expect(offsets("AEST-10AEDT,M10.1.0,M4.1.0/3", times) == [660, 600, 660])
    #expect(offsets("<-03>3<-02>,M3.2.0,M11.1.0", times) == [-180, -120, -180])
    #expect(offsets("<+0530>-5:30", times) == [330, 330, 330])
    #expect(offsets("IST-1GMT0,M10.5.0,M3.5.0/1", times) == [0, 60, 0])
    #expect(offsets("XXX0YYY,J60/0,J300", times) == [0, 60, 0])
    #expect(offsets("XXX0YYY,59/0,299", times) == [0, 60, 0])
    for wrong in [
      "", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M1.1.0", "<CET", "CET-1CEST,M3.5.0,M10.5.0x",
    ] {
      #expect(RecurringZone(posix: wrong.utf8) == nil, "\(wrong)")
    }
  }

  @Test("a damaged file of rules is refused, wherever it ends")
  func damaged() throws {
    let file = try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/Europe/Berlin"))
    let bytes = Array(file)
    #expect(ZoneRules(file: bytes) != nil)
    #expect(ZoneRules(file: []) == nil && ZoneRules(file: Array("no rules".utf8)) == nil)
    for length in 0..<(bytes.count - 60) { #expect(ZoneRules(file: Array(bytes[..<length])) == nil) }
    var numbers = SeededNumbers(state: 5)
    for _ in 0..<3000 {
      var copy = bytes
      copy[Int.random(in: 0..<copy.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      _ = ZoneRules(file: copy)?.times(showing: 1_790_000_000)
    }
  }
}
