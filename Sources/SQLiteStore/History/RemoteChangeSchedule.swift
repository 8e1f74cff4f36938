// An event of the file says that somebody has written to the log, not that a commit counts already: the one comes a moment
// before the other, and a moment may be long on a busy machine. So there are two kinds of look. The quick one, at each
// event, tells most changes at once. The last one takes the lock that a writer holds until its commit counts: what it sees
// is all that the event can have been about. Only when it has been made is there nothing to wait for any more.

/// When a file is looked at after events: what happened goes in, what is to be done comes out. No clock, no file.
package struct RemoteChangeSchedule: Sendable {
  /// How to look at the file.
  package enum Look: Sendable, Hashable {
    /// At what counts now.
    case quick
    /// When no writer is in the middle of a commit.
    case last
  }

  /// What a look came to.
  package enum Outcome: Sendable {
    /// The file could be read.
    case read
    /// A writer is in the middle of something.
    case isWritten
    /// The file couldn't be read.
    case failed
  }

  /// What to do next.
  package struct Step: Sendable, Hashable {
    package let look: Look
    /// In how many milliseconds.
    package let delay: Int
    /// Which step it is: one that isn't the latest any more is not to be done.
    package let number: Int
  }

  /// The number of the step that is awaited.
  package private(set) var number = 0
  /// How often in a row a look came to nothing.
  private var failures = 0
  private var waits = 0

  package init() {}

  /// Between an event and the last look at what it was about, unless more events come.
  package static var pause: Int { 50 }
  /// The longest time between two looks while a writer holds the lock.
  package static var longestWait: Int { 1000 }
  /// The longest time between two looks at a file that can't be read.
  package static var longestRetry: Int { 30_000 }

  /// Somebody has written. The quick look is to be made at once; the last one follows.
  package mutating func heard() -> Step {
    waits = 0
    return step(.last, Self.pause)
  }

  /// A look was made. Returns the next; nil when the one that is awaited already is enough, or none is needed.
  package mutating func looked(_ look: Look, _ outcome: Outcome) -> Step? {
    switch (look, outcome) {
    case (_, .read):
      failures = 0
      return nil
    case (.quick, .isWritten), (.quick, .failed):
      // The last look, which is awaited, meets the same.
      return nil
    case (.last, .isWritten):
      waits += 1
      return step(.last, min(Self.pause << min(waits, 5), Self.longestWait))
    case (.last, .failed):
      failures += 1
      return step(.last, min(1000 << min(failures - 1, 5), Self.longestRetry))
    }
  }

  /// Whether the failure that was told last is the first one in a row, and so is worth a word.
  package var isFirstFailure: Bool { failures == 1 }

  private mutating func step(_ look: Look, _ delay: Int) -> Step {
    number += 1
    return Step(look: look, delay: delay, number: number)
  }
}
