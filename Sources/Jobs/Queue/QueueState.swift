/// What the queue knows of this process's work. Everything durable is in the store.
struct QueueState {
  /// A job whose operation runs, or has ended without its end being durable yet.
  struct Running {
    let operation: JobOperation
    var snapshot: JobSnapshot
    let lane: String
  }

  var isStarted = false
  var isDraining = false
  var running: [Int64: Running] = [:]
  /// How many of them each lane has.
  var inLane: [String: Int] = [:]
  /// Lanes in which something may be available.
  var lanesWithWork: Set<String> = []
  /// Ends that couldn't be written yet.
  var unwritten: [Int64: JobOutcome] = [:]
  /// Jobs that have ended and whose file is being put away.
  var settling: Set<Int64> = []
  /// Who waits for the end of a job, and who waits for nothing to run any more.
  var waiters: [Int64: [Latch]] = [:]
  var drainers: [Latch] = []
  /// nil until they have been counted.
  var counts: JobCounts?

  var isQuiet: Bool { running.isEmpty && settling.isEmpty }
}
