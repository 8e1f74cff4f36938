/// Who copies the write-ahead log into the file, and when: the copier beside the saves, or a save itself. Counts frames, as the
/// pages of the log are called.
struct LogSchedule {
  /// What a save has to do about the log once it is committed.
  enum Step: Hashable {
    case nothing
    /// Let the copier begin.
    case begin
    /// Wait until the copier rests, and copy what is left, so that the log can be begun anew.
    case finish
  }

  /// From how many frames on the log is copied.
  let size: Int
  /// How many frames more than before are worth another round of the copier.
  private let round: Int
  /// How many frames the log has, and how many it had when the copier began its latest round.
  private var (frames, begun) = (0, 0)
  private(set) var isCopying = false
  /// Whether the copier can't do its work, or isn't to do it any more: saves copy then, as SQLite has it by itself.
  private(set) var isAlone = false

  init(size: Int) {
    self.size = max(1, size)
    round = max(1, size / 4)
  }

  /// A save was committed, and the log has so many frames now.
  ///
  /// The log begins anew only when all of it is in the file, which it never is for as long as saves go on beside the copier.
  /// So there must be one that waits for the copying of what is left: from twice the size on one that finds the copier
  /// resting, with little left to do, and any from three times the size on. More than that a log has only by what one
  /// save adds, or because somebody reads what it held before.
  mutating func committed(_ frames: Int) -> Step {
    if frames < self.frames { begun = 0 }
    self.frames = frames
    guard frames >= size else { return .nothing }
    if isAlone || frames >= 3 * size { return .finish }
    if isCopying { return .nothing }
    if frames - begun >= round {
      begun = frames
      isCopying = true
      return .begin
    }
    return frames >= 2 * size ? .finish : .nothing
  }

  /// The copier has done a round. True if it is to do another.
  mutating func copied() -> Bool {
    isCopying = !isAlone && frames - begun >= round
    if isCopying { begun = frames }
    return isCopying
  }

  /// The copier couldn't do its work, or is to stop: saves go on alone.
  mutating func endCopying() {
    isAlone = true
    isCopying = false
  }

  /// A save could do what the copier couldn't: that may try again.
  mutating func allowCopying() { isAlone = false }
}
