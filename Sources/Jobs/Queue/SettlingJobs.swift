/// The jobs that have ended and about which something is still to be done. They aren't pruned, and those who wait for their
/// ends wait on. A value, kept by the queue.
struct SettlingJobs {
  /// Their files are being put away; with what is announced of each when that is done, if anything is.
  private var settling: [Int64: Job?] = [:]
  /// Their entries haven't left `incoming/` for good: see `JobQueue+Change`.
  private var unarrived: Set<Int64> = []
  /// They are about to be tried again, and their files are being brought back.
  private var reviving: Set<Int64> = []
  /// Whether pruning passed over some of them.
  private var hasCutPruning = false

  var all: Set<Int64> { unarrived.union(reviving).union(settling.keys) }
  var isPuttingAway: Bool { !settling.isEmpty }

  /// Whether those who wait for the end of a job have to wait on.
  func contains(_ id: Int64) -> Bool { settling[id] != nil || unarrived.contains(id) }

  /// A job that has ended is to be settled.
  mutating func begin(_ job: Job) {
    if job.isBeforeArrival {
      unarrived.insert(job.id)
    } else {
      unarrived.remove(job.id)
      settling[job.id] = .some(nil)
    }
  }

  /// Keeps the news of a job for the time when its file is put away, so that who hears of an end finds the file in its place.
  /// - Returns: whether the file is being put away; otherwise the news can be told now.
  mutating func hold(_ job: Job) -> Bool {
    guard settling[job.id] != nil else { return false }
    settling[job.id] = job
    return true
  }

  /// A job's file is put away once more, after a restart.
  /// - Returns: whether that isn't under way.
  mutating func beginAgain(_ id: Int64) -> Bool {
    guard settling[id] == nil else { return false }
    settling[id] = .some(nil)
    return true
  }

  /// A job's file is put away.
  /// - Returns: the news that was held, and whether pruning is to look again at what it passed over.
  mutating func end(_ id: Int64) -> (news: Job?, prunesAgain: Bool) {
    let held = settling.removeValue(forKey: id)
    return (news: held ?? nil, prunesAgain: takeCutPruning())
  }

  /// The file of a job that has ended is to be brought back.
  /// - Returns: whether it may be: not while that is under way, or it is being put away.
  mutating func beginReviving(_ id: Int64) -> Bool { !contains(id) && reviving.insert(id).inserted }

  func isReviving(_ id: Int64) -> Bool { reviving.contains(id) }

  /// A job is to be tried again, or stays as it is.
  /// - Returns: whether pruning is to look again at what it passed over.
  mutating func endReviving(_ id: Int64) -> Bool {
    reviving.remove(id)
    return takeCutPruning()
  }

  private mutating func takeCutPruning() -> Bool {
    guard hasCutPruning, all.isEmpty else { return false }
    hasCutPruning = false
    return true
  }

  /// Pruning has passed over jobs that were among these when it began.
  /// - Returns: whether some still are, so that their end has it look again.
  mutating func notePruningCut() -> Bool {
    hasCutPruning = !all.isEmpty
    return hasCutPruning
  }
}
