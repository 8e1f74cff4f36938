/// The jobs that have ended and about which something is still to be done. They aren't pruned, and those who wait for their
/// ends wait on. A value, kept by the queue.
struct SettlingJobs {
  /// Their files are being put away.
  private var settling: Set<Int64> = []
  /// Their entries haven't left `incoming/` for good: see `JobQueue+Change`.
  private var unarrived: Set<Int64> = []
  /// They are about to be tried again, and their files are being brought back.
  private var reviving: Set<Int64> = []
  /// Whether pruning passed over some of them.
  private var hasCutPruning = false

  var all: Set<Int64> { settling.union(unarrived).union(reviving) }
  var isPuttingAway: Bool { !settling.isEmpty }

  /// Whether those who wait for the end of a job have to wait on.
  func contains(_ id: Int64) -> Bool { settling.contains(id) || unarrived.contains(id) }

  /// A job that has ended is to be settled.
  mutating func begin(_ job: Job) {
    if job.isBeforeArrival {
      unarrived.insert(job.id)
    } else {
      unarrived.remove(job.id)
      settling.insert(job.id)
    }
  }

  /// A job's file is put away once more, after a restart.
  /// - Returns: whether that isn't under way.
  mutating func beginAgain(_ id: Int64) -> Bool { settling.insert(id).inserted }

  /// A job's file is put away.
  /// - Returns: whether pruning is to look again at what it passed over.
  mutating func end(_ id: Int64) -> Bool {
    settling.remove(id)
    return takeCutPruning()
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
