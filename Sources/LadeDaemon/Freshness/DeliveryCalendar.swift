import Foundation
import Jobs

/// Which files a recipe still owes, by the times until which one is expected.
///
/// An import serves the first of these times that follows it. One that comes after a time for which there was none serves that
/// one, being late, so that the next is expected all the same. Several imports before one time serve it together.
struct DeliveryCalendar: Sendable {
  /// Times that are gone through at most, to catch up with a delivery after a long pause.
  private static let most = 10_000

  let expressions: [CalendarExpression]

  /// The first time that no import has served.
  /// - Parameters:
  ///   - deliveries: when imports completed, in order.
  ///   - start: since when files are expected, where there was none yet.
  /// - Returns: nil if there are no such times any more.
  func expected(after deliveries: [Date], since start: Date) -> Date? {
    guard let first = deliveries.first else { return next(after: start) }
    // What was served before the first known import isn't known, so it was in time.
    guard var served = next(after: first.addingTimeInterval(-0.001)) else { return nil }
    for delivery in deliveries.dropFirst() where delivery > served {
      guard let open = next(after: served) else { return nil }
      served = delivery <= open ? open : latest(from: open, before: delivery)
    }
    return next(after: served)
  }

  private func next(after time: Date) -> Date? { expressions.compactMap { $0.next(after: time) }.min() }

  /// The latest time before a delivery, from one of them on.
  private func latest(from first: Date, before delivery: Date) -> Date {
    var latest = first
    for _ in 0..<Self.most {
      guard let following = next(after: latest), following < delivery else { return latest }
      latest = following
    }
    return delivery
  }
}
