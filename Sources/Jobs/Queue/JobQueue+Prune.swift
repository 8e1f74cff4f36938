// Ended jobs are removed by age and by number, a few in each transaction and after the requests that wait for the ledger. A
// timer wakes up for the next job that gets too old, at most once a minute.

import Foundation

extension JobQueue {
  private static let ended: [JobState] = JobState.allCases.filter(\.isEnded)
  /// Seconds between two looks, at least.
  private static let leastPause: TimeInterval = 60

  /// Removes jobs that are kept no longer, and sets the timer for the next. On the ledger's queue.
  func prune() {
    let mayRun = state.withLock { state in
      defer { state.isPruning = state.isStarted && !state.isDraining }
      return state.isStarted && !state.isDraining && !state.isPruning
    }
    if mayRun { pruneSome() }
  }

  /// The same, as soon as the ledger's queue comes to it. From any thread.
  func pruneSoon() { ledger.context.perform { self.prune() } }

  /// Prunes when the number of ended jobs exceeds the limit by a tenth, so that it doesn't happen after each end.
  func pruneIfMany() {
    guard let most = retention.count else { return }
    let ended = state.withLock { state in Self.ended.reduce(0) { $0 + (state.counts?[$1] ?? 0) } }
    if ended > most + max(100, most / 10) { prune() }
  }

  /// Sets the timer for a job that has ended.
  func wakeToPrune(_ job: Job) {
    guard let age = retention.age[job.state], let end = job.endedAt else { return }
    wakeToPrune(at: end.addingTimeInterval(age))
  }

  private func wakeToPrune(at time: Date) {
    pruneTimer.arm(max(time, clock.now().addingTimeInterval(Self.leastPause))) { [weak self] in
      guard let self else { return }
      ledger.context.perform { self.prune() }
    }
  }

  private func pruneSome() {
    do {
      if try pruneByAge() || pruneByCount() {
        ledger.context.perform { self.pruneSome() }
        return
      }
      for (state, age) in retention.age {
        if let first = try ledger.firstEnds(of: state, limit: 1).first {
          wakeToPrune(at: first.addingTimeInterval(age))
        }
      }
    } catch {
      logger.error("jobs: what has ended couldn't be removed", metadata: ["error": "\(error)"])
      wakeToPrune(at: clock.now())
    }
    state.withLock { $0.isPruning = false }
  }

  /// - Returns: whether there may be more.
  private func pruneByAge() throws -> Bool {
    let busy = state.withLock { $0.settling.all }
    for (state, age) in retention.age {
      let pruned = try ledger.prune(
        state, endedBefore: clock.now().addingTimeInterval(-age), limit: JobLedger.prunedTogether, busy: busy)
      if pruned.found == JobLedger.prunedTogether, pruned.removed > 0 { return true }
    }
    return false
  }

  /// - Returns: whether there may be more.
  private func pruneByCount() throws -> Bool {
    guard let most = retention.count else { return false }
    let (number, busy) = state.withLock { state in
      (Self.ended.reduce(0) { $0 + (state.counts?[$1] ?? 0) }, state.settling.all)
    }
    let excess = min(number - most, JobLedger.prunedTogether)
    guard excess > 0 else { return false }
    let ends = try Self.ended.flatMap { state in
      try ledger.firstEnds(of: state, limit: excess).map { (state: state, time: $0) }
    }
    let first = ends.sorted { $0.time < $1.time }.prefix(excess)
    var removed = 0
    for (state, group) in Dictionary(grouping: first, by: \.state) {
      guard let last = group.last else { continue }
      removed += try ledger.prune(state, endedBefore: last.time, limit: group.count, busy: busy).removed
    }
    if !busy.isEmpty {
      // Jobs whose files are still being put away are looked at when that is done.
      if !state.withLock({ $0.settling.notePruningCut() }) { return true }
    }
    return excess == JobLedger.prunedTogether && removed > 0
  }
}
