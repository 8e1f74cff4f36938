import Synchronization

/// One piece of work of a main-queue context, and the total time of all of them. A program whose work on the main queue all
/// goes through contexts learns from it how busy that queue is.
package struct MainQueueTurn: Sendable {
  private static let nanoseconds = Atomic<Int64>(0)
  /// Whether a turn is under way, in which others are nested.
  nonisolated(unsafe) private static var isUnderWay = false  // touched on the main queue only

  private let start: ContinuousClock.Instant

  /// How long contexts of the main queue have worked since the start of the process. Safe from any thread.
  package static var total: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

  /// Begins a turn, on the main queue; nil within another one.
  static func begin() -> MainQueueTurn? {
    if isUnderWay { return nil }
    isUnderWay = true
    return MainQueueTurn(start: .now)
  }

  func end() {
    Self.isUnderWay = false
    let (seconds, attoseconds) = start.duration(to: .now).components
    Self.nanoseconds.add(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
  }
}
