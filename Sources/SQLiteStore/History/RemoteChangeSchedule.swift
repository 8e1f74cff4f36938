// A file event means that a writer has written to the log, not that its commit counts already. The commit follows a moment
// later, and a moment may be long on a busy machine. So there are two kinds of look. The quick one, at each event, finds most
// changes at once. The last one takes the lock that a writer holds until its commit counts, so that it sees everything the
// event can have been about. Nothing more is scheduled only after a successful last look.

/// Decides when a file is looked at after events. A pure state machine: events and outcomes go in, steps come out; it uses no
/// clock and no file.
package struct RemoteChangeSchedule: Sendable {
  /// How to look at the file.
  package enum Look: Sendable, Hashable {
    /// Read the committed state.
    case quick
    /// Read it while no writer is in the middle of a commit.
    case last
  }

  /// The outcome of a look.
  package enum Outcome: Sendable {
    /// The file could be read.
    case read
    /// A writer holds the lock.
    case isWritten
    /// The file couldn't be read.
    case failed
  }

  /// The next look.
  package struct Step: Sendable, Hashable {
    package let look: Look
    /// The delay in milliseconds.
    package let delay: Int
    /// The step's number. A step that isn't the latest any more is skipped.
    package let number: Int
  }

  /// The number of the pending step.
  package private(set) var number = 0
  /// How many looks in a row failed.
  private var failures = 0
  private var waits = 0

  package init() {}

  /// The delay between an event and the last look, unless more events come.
  package static var pause: Int { 50 }
  /// The longest time between two looks while a writer holds the lock.
  package static var longestWait: Int { 1000 }
  /// The longest time between two looks at a file that can't be read.
  package static var longestRetry: Int { 30_000 }

  /// The file was written to. The caller makes the quick look at once; returns the last look.
  package mutating func heard() -> Step {
    waits = 0
    return step(.last, Self.pause)
  }

  /// A look was made. Returns the next one; nil when the pending one is enough, or none is needed.
  package mutating func looked(_ look: Look, _ outcome: Outcome) -> Step? {
    switch (look, outcome) {
    case (_, .read):
      failures = 0
      return nil
    case (.quick, .isWritten), (.quick, .failed):
      // The last look is pending and will find the same.
      return nil
    case (.last, .isWritten):
      waits += 1
      return step(.last, min(Self.pause << min(waits, 5), Self.longestWait))
    case (.last, .failed):
      failures += 1
      return step(.last, min(1000 << min(failures - 1, 5), Self.longestRetry))
    }
  }

  /// Whether the latest failure is the first in a row, and so is worth reporting.
  package var isFirstFailure: Bool { failures == 1 }

  private mutating func step(_ look: Look, _ delay: Int) -> Step {
    number += 1
    return Step(look: look, delay: delay, number: number)
  }
}
