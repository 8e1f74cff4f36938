import Foundation

/// When a daemon looks next at what others do. While it hears announcements and has nothing that others could be about, each
/// pause is twice as long as the one before. A value, kept by ``QueueSharing``.
struct PollPace {
  /// Seconds between two looks, on average, while something goes on; and at most.
  let shortest: TimeInterval
  let longest: TimeInterval

  /// Whether announcements are known to arrive: one has, on the connection that there is.
  var hears = false
  private var pause: TimeInterval

  init(shortest: TimeInterval, longest: TimeInterval) {
    self.shortest = shortest
    self.longest = max(shortest, longest)
    pause = shortest
  }

  init(_ timing: QueueMembership.Timing) { self.init(shortest: timing.poll, longest: timing.lease / 3) }

  /// Whether the pause is longer than the shortest.
  var isSlow: Bool { pause > shortest }

  /// After a look.
  /// - Parameter isWatchful: whether what others do is to be noticed soon.
  /// - Returns: seconds until the next one.
  mutating func next(after poll: QueuePoll, isWatchful: Bool) -> TimeInterval {
    pause = hears && !isWatchful && !poll.isNews ? min(longest, pause * 2) : shortest
    return pause
  }

  /// Goes on with the shortest pauses.
  mutating func hasten() { pause = shortest }
}

/// What a look at other daemons has found.
struct QueuePoll: Equatable {
  /// Whether they have changed anything since the look before.
  var isNews = true
  /// Seconds after which there is something to look at: a lease is over unless it is renewed, or more of the news. Nil for never.
  var latest: TimeInterval?
}
