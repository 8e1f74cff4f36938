/// Decides when the write-ahead log is checkpointed, and by whom: by the checkpointer beside the saves, or by a save itself.
/// Counts frames, as SQLite calls the pages of the log.
struct CheckpointSchedule {
  /// What a save does about the log after its commit.
  enum Step: Hashable {
    case nothing
    /// Start the checkpointer.
    case begin
    /// Wait until the checkpointer is idle and copy the rest, so that the log can be reset.
    case finish
  }

  /// The length of the log from which it is checkpointed.
  let size: Int
  /// How many new frames are worth another round of the checkpointer.
  private let round: Int
  /// The length of the log, now and at the start of the checkpointer's latest round.
  private var (frames, begun) = (0, 0)
  private(set) var isRunning = false
  /// Whether saves checkpoint by themselves, as SQLite does by default: the checkpointer has failed or is stopped.
  private(set) var hasFallenBack = false

  init(size: Int) {
    self.size = max(1, size)
    round = max(1, size / 4)
  }

  /// A save was committed, and the log has `frames` frames now.
  ///
  /// SQLite resets the log only when all of it is in the file, which never happens while saves go on beside the
  /// checkpointer. So one save has to wait and copy the rest: from twice the size on the first save that finds the
  /// checkpointer idle, with little left to copy; from three times the size on any save. The log grows beyond that only by
  /// what one save adds, or because somebody reads an old state.
  mutating func committed(_ frames: Int) -> Step {
    if frames < self.frames { begun = 0 }
    self.frames = frames
    guard frames >= size else { return .nothing }
    if hasFallenBack || frames >= 3 * size { return .finish }
    if isRunning { return .nothing }
    if frames - begun >= round {
      begun = frames
      isRunning = true
      return .begin
    }
    return frames >= 2 * size ? .finish : .nothing
  }

  /// The checkpointer has finished a round. Returns whether it does another.
  mutating func checkpointed() -> Bool {
    isRunning = !hasFallenBack && frames - begun >= round
    if isRunning { begun = frames }
    return isRunning
  }

  /// The checkpointer failed or is stopped: saves checkpoint by themselves.
  mutating func fallBack() {
    hasFallenBack = true
    isRunning = false
  }

  /// A save has checkpointed where the checkpointer failed: the checkpointer may try again.
  mutating func recover() { hasFallenBack = false }
}
