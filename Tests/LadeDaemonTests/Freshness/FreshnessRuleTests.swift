import ControlAPI
import Foundation
import Jobs
@testable import LadeDaemon
import Testing

@Suite("The freshness of a recipe")
struct FreshnessRuleTests {
  /// A time in March 2026, in UTC. The second is a Monday.
  private static func march(_ day: Int, _ hour: Int, _ minute: Int = 0) -> Date {
    let first = Date(timeIntervalSince1970: 1_772_323_200)
    return first.addingTimeInterval(Double(((day - 1) * 24 + hour) * 3600 + minute * 60))
  }

  private static func expectation(
    by: String? = nil, maxAge: Duration? = nil, atLeast: Int64? = nil, change: Double? = nil
  ) throws -> RecipeExpectation {
    var expectation = RecipeExpectation()
    expectation.by = try by.map { [try CalendarExpression($0)] } ?? []
    expectation.maxAge = maxAge
    expectation.atLeast = atLeast
    expectation.change = change
    return expectation
  }

  private static func run(_ time: Date, _ records: Int64 = 100) -> RecipeRun {
    RecipeRun(recipe: "people", endedAt: time, job: 7, records: records)
  }

  private static func watched(since time: Date) -> RecipeRun { RecipeRun(recipe: "people", endedAt: time, job: nil) }

  private static func finding(
    _ expectation: RecipeExpectation, _ runs: [RecipeRun], at now: Date
  ) -> FreshnessRule.Finding {
    FreshnessRule(recipe: "people", expectation: expectation).finding(runs, at: now)
  }

  /// Imports, a time, and what the recipe is then that expects a file by 07:00 from Monday to Friday.
  static let deliveries: [(imports: [Date], now: Date, state: RecipeFreshness.State, by: Date)] = [
    ([march(2, 6)], march(2, 23), .fresh, march(3, 7)),
    ([march(2, 6)], march(3, 6, 59), .fresh, march(3, 7)),
    ([march(2, 6)], march(3, 7), .late, march(3, 7)),
    // On Friday for the whole weekend.
    ([march(6, 6)], march(8, 12), .fresh, march(9, 7)),
    // A late one is for the day that it missed.
    ([march(2, 6), march(3, 9)], march(3, 10), .fresh, march(4, 7)),
    ([march(2, 6), march(3, 9)], march(4, 7, 1), .late, march(4, 7)),
    // The second of a day isn't for the next.
    ([march(2, 5), march(2, 6)], march(3, 8), .late, march(3, 7)),
    // What comes after a deadline that was met is for the next.
    ([march(2, 6), march(2, 9)], march(3, 8), .fresh, march(4, 7)),
    // After days without a file, one is for the last of them.
    ([march(2, 6), march(5, 12)], march(5, 13), .fresh, march(6, 7)),
    ([march(2, 6), march(5, 12)], march(6, 8), .late, march(6, 7)),
  ]

  @Test("is late from the time on by which a file was expected, until one is imported", arguments: deliveries)
  func deadlines(
    _ delivery: (imports: [Date], now: Date, state: RecipeFreshness.State, by: Date)
  ) throws {
    let expectation = try Self.expectation(by: "Mon..Fri 07:00")
    let finding = Self.finding(expectation, delivery.imports.map { Self.run($0) }, at: delivery.now)
    #expect(finding.freshness.state == delivery.state && finding.freshness.expectedBy == delivery.by)
    #expect((finding.freshness.reason == nil) == (delivery.state == .fresh))
    if delivery.state == .fresh { #expect(finding.nextChange == delivery.by) }
  }

  @Test("has the first deadline after the moment from which on files are expected")
  func firstDeadline() throws {
    let expectation = try Self.expectation(by: "daily")
    let before = Self.finding(expectation, [Self.watched(since: Self.march(2, 9))], at: Self.march(2, 23))
    #expect(before.freshness.state == .fresh && before.freshness.lastSuccess == nil)
    #expect(before.nextChange == Self.march(3, 0))
    let after = Self.finding(expectation, [Self.watched(since: Self.march(2, 9))], at: Self.march(3, 0))
    #expect(after.freshness.state == .late)
    #expect(after.freshness.reason == "nothing was imported by 2026-03-03 00:00:00Z")
  }

  @Test("is stale when the last import is longer ago than it may be, whatever else is the matter")
  func age() throws {
    let expectation = try Self.expectation(by: "daily", maxAge: .seconds(36 * 3600), atLeast: 1000)
    let runs = [Self.run(Self.march(2, 12))]
    #expect(Self.finding(expectation, runs, at: Self.march(2, 13)).freshness.state == .anomalous)
    #expect(Self.finding(expectation, runs, at: Self.march(3, 23)).freshness.state == .anomalous)
    #expect(Self.finding(expectation, runs, at: Self.march(3, 23)).nextChange == Self.march(4, 0))
    let stale = Self.finding(expectation, runs, at: Self.march(4, 0)).freshness
    #expect(stale.state == .stale && stale.reason == "the last import is more than 36h ago")
    let never = Self.finding(expectation, [Self.watched(since: Self.march(2, 12))], at: Self.march(4, 1)).freshness
    #expect(never.state == .stale && never.reason?.hasPrefix("nothing has been imported for more than 36h") == true)
  }

  @Test("is anomalous when fewer records came than the least")
  func least() throws {
    let expectation = try Self.expectation(atLeast: 100)
    let now = Self.march(3, 0)
    #expect(Self.finding(expectation, [Self.run(now, 100)], at: now).freshness.state == .fresh)
    let few = Self.finding(expectation, [Self.run(now, 100), Self.run(now, 1)], at: now).freshness
    #expect(few.state == .anomalous)
    #expect(few.reason == "the last import was of 1 record, and at least 100 are expected")
  }

  /// Records of imports, the last being judged by a change of 50 %.
  static let changes: [([Int64], String?)] = [
    ([5], nil), ([100, 150], nil), ([100, 50], nil),
    ([100, 151], "the last import was of 151 records, 51 % more than the usual 100"),
    ([100, 110, 90, 40], "the last import was of 40 records, 60 % fewer than the usual 100"),
    // One strange import doesn't change what is usual.
    ([100, 100, 5000, 100, 120], nil),
    ([0, 0, 3], "the last import was of 3 records, and none is usual"),
  ]

  @Test("is anomalous when the number of records differs too much from the usual", arguments: changes)
  func change(_ records: [Int64], _ reason: String?) throws {
    let expectation = try Self.expectation(change: 0.5)
    let now = Self.march(3, 0)
    let finding = Self.finding(expectation, records.map { Self.run(now, $0) }, at: now)
    #expect(finding.freshness.reason == reason)
    #expect(finding.freshness.state == (reason == nil ? .fresh : .anomalous))
    #expect(finding.nextChange == nil)
  }
}
