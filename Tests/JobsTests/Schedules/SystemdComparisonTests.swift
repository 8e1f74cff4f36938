import Foundation
import Testing

@testable import Jobs

@Suite(
  "A calendar expression means what it means to systemd",
  .enabled(if: SystemdCalendar.isInstalled, "systemd-analyze isn't installed: the table of expressions is held alone"))
struct SystemdComparisonTests {
  /// Times around which clocks are set, and some that are like any other.
  static let bases: [Int64] = [
    1_774_569_600, 1_774_742_400, 1_792_886_400, 1_792_890_000, 1_793_500_000, 1_772_900_000, 1_793_498_400,
    1_700_000_000, 1_800_000_123, 1_538_000_000, 1_325_000_000, 2_650_000_000,
  ]

  @Test("in its normalised form, in what is refused, and in the times that come next", arguments: 0..<12)
  func same(_ round: Int) throws {
    let base = Self.bases[round]
    var random = RandomExpression(numbers: SeededNumbers(state: UInt64(round) + 1))
    let expressions = (0..<150).map { random.next(zone: RandomExpression.zones[$0 % RandomExpression.zones.count]) }
    let answers = try SystemdCalendar.answers(to: expressions, after: base, iterations: 5)
    #expect(answers.count > 75)
    for text in expressions {
      guard let answer = answers[text] else {
        #expect(throws: CalendarExpressionError.self, "\(text)") { try CalendarExpression(text) }
        continue
      }
      let expression = try CalendarExpression(text)
      #expect(expression.normalized == answer.normalized, "\(text)")
      #expect(
        Self.elapses(expression, after: base, count: answer.elapses.count) == answer.elapses, "\(text) after \(base)")
    }
  }

  static func elapses(_ expression: CalendarExpression, after base: Int64, count: Int) -> [Int64] {
    var time = base * 1_000_000
    var found: [Int64] = []
    while found.count < max(count, 1), let next = expression.next(afterMicroseconds: time) {
      found.append(next / 1_000_000)
      time = next
    }
    return found
  }
}
