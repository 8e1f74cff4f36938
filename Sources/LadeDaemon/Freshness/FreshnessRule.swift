import ControlAPI
import Foundation
import Jobs

/// Judges the imports of one recipe by what is expected of them. Reads no clock.
struct FreshnessRule: Sendable {
  let recipe: String
  let expectation: RecipeExpectation

  /// What is found, and when that may change without another import.
  struct Finding: Sendable, Equatable {
    var freshness: RecipeFreshness
    var nextChange: Date?
  }

  /// - Parameter runs: the latest imports of the recipe, oldest first; one without a job says since when it is watched.
  func finding(_ runs: [RecipeRun], at now: Date) -> Finding {
    let imports = runs.filter { $0.job != nil }
    let start = runs.first?.endedAt ?? now
    let last = imports.last
    let expected = DeliveryCalendar(expressions: expectation.by).expected(after: imports.map(\.endedAt), since: start)
    let expiry = expectation.maxAge.map { (last?.endedAt ?? start).addingTimeInterval($0 / .seconds(1)) }
    var freshness = RecipeFreshness(
      recipe: recipe, lastSuccess: last?.endedAt, lastJob: last?.job, lastRecords: last?.records, expectedBy: expected)
    if let expiry, expiry <= now, let age = expectation.maxAge {
      freshness.state = .stale
      freshness.reason =
        last == nil
        ? "nothing has been imported for more than \(age.text), since it is expected"
        : "the last import is more than \(age.text) ago"
    } else if let expected, expected <= now {
      freshness.state = .late
      freshness.reason = "nothing was imported by \(Quantity.time(expected))"
    } else if let last, let oddity = oddity(of: last, after: imports.dropLast()) {
      freshness.state = .anomalous
      freshness.reason = oddity
    }
    let changes = [expiry, expected].compactMap { $0 }.filter { $0 > now }
    return Finding(freshness: freshness, nextChange: changes.min())
  }

  private func oddity(of last: RecipeRun, after earlier: some Collection<RecipeRun>) -> String? {
    let records = "the last import was of \(Self.number(last.records))"
    if let least = expectation.atLeast, last.records < least {
      return "\(records), and at least \(least) are expected"
    }
    guard let change = expectation.change, let usual = Self.median(earlier.map(\.records)) else { return nil }
    guard abs(Double(last.records) - usual) > change * usual else { return nil }
    guard usual > 0 else { return "\(records), and none is usual" }
    let percent = Int(((Double(last.records) - usual) / usual * 100).rounded())
    return "\(records), \(abs(percent)) % \(percent < 0 ? "fewer" : "more") than the usual \(Int64(usual))"
  }

  private static func number(_ records: Int64) -> String { records == 1 ? "1 record" : "\(records) records" }

  private static func median(_ values: [Int64]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    guard sorted.count.isMultiple(of: 2) else { return Double(sorted[middle]) }
    return (Double(sorted[middle - 1]) + Double(sorted[middle])) / 2
  }
}
