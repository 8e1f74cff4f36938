// The first half of rule 6 (ARCHITECTURE.md): a job changes state only here. The second half, that every transition is
// recorded with its reason, is kept by `LedgerTurn`, the only caller outside the tests.
//
//   submitted ─▶ scheduled ──due, released, file arrived──▶ available ──claimed──▶ running ──succeeded──▶ completed
//                    ▲                                        ▲  ▲ ▲                │ │ │
//                    └───────────────── held ─────────────────┘  │ └─ interrupted, ─┘ │ ├─ failed ─▶ discarded
//                    │                                           │       rescued      │ └─ cancelled ─▶ cancelled
//                    └─ held ── retryable ──due, retry requested─┘      ▲             │
//                                                                       └─── failed ──┘
//
// `cancel requested` leads from every waiting state to `cancelled`, and makes a running operation stop; `dependency
// failed` leads from `scheduled` to `cancelled`, `expired` from every waiting state to `discarded`; `file lost` leads
// from every state that isn't ended back to `scheduled`; `retry requested` leads from `cancelled` and `discarded` back
// to `available`. Every pair of state and event that isn't legal is listed, with its reason, in the method of the event.

package import Foundation
import ManagedObjects

/// Where one job stands, and what may happen to it: a value without clock, store or queue.
package struct JobStateMachine: Sendable, Equatable {
  /// Its state; nil before it was submitted.
  package internal(set) var state: JobState?
  /// When it becomes available, while it waits for a time; nil otherwise.
  package internal(set) var availableAt: Date?
  /// The submitter doesn't want it to run earlier.
  package internal(set) var notBefore: Date?
  /// It is to have ended by then.
  package internal(set) var deadline: Date?
  /// When its latest attempt began.
  package internal(set) var startedAt: Date?
  package internal(set) var endedAt: Date?
  /// How many attempts were made, the running one included. An attempt that the daemon's end cut short goes on with
  /// the next claim, and isn't counted twice.
  package internal(set) var attempt = 0
  /// The number of its latest claim. It rises with each claim and each rescue, whatever happens in between, and so tells who
  /// works on the job from all who did before; see `JobFence`.
  package internal(set) var claim: Int64 = 0
  package internal(set) var maxAttempts: Int
  /// Whether the running job is to be cancelled.
  package internal(set) var isCancelRequested = false
  /// Whether a user holds it back.
  package internal(set) var isHeld = false
  /// Whether its file isn't in `active/` yet.
  package internal(set) var isAwaitingFile = false
  /// Whether it follows jobs that haven't ended.
  package internal(set) var isAwaitingJobs = false
  let backoff: Backoff

  /// A job that hasn't been submitted.
  package init(maxAttempts: Int, backoff: Backoff = Backoff()) {
    self.maxAttempts = maxAttempts
    self.backoff = backoff
  }

  /// Lets `event` happen.
  /// - Returns: what has to be done, once the transition is durable.
  /// - Throws: ``IllegalTransition``; nothing has changed then.
  package mutating func apply(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch event {
    case .submitted(let waiting): return try submit(event, at: time, waiting)
    case .due: return try becomeDue(event, at: time)
    case .held: return try hold(event)
    case .released: return try release(event, at: time)
    case .fileArrived: return try takeFile(event, at: time)
    case .fileLost: return try loseFile(event, at: time)
    case .dependenciesMet: return try meetDependencies(event, at: time)
    case .dependencyFailed: return try failDependency(event, at: time)
    case .expired: return try expire(event, at: time)
    case .retryRequested: return try retry(event, at: time)
    case .claimed: return try claim(event, at: time)
    case .succeeded: return try succeed(event, at: time)
    case .failed(let isRetryable, let jitter):
      return try fail(event, at: time, isRetryable: isRetryable, jitter: jitter)
    case .cancelRequested: return try requestCancel(event, at: time)
    case .cancelled: return try cancel(event, at: time)
    case .interrupted: return try interrupt(event, at: time)
    case .rescued: return try rescue(event, at: time)
    }
  }

  func illegal(_ event: JobEvent, _ why: String) -> IllegalTransition {
    IllegalTransition(state: state, event: event, why: why)
  }

  /// The job waits, if there is something to wait for, or is available.
  mutating func wait(at time: Date) -> [JobAction] {
    availableAt = nil
    state = .scheduled
    let expiry = deadline.map { [JobAction.wake($0)] } ?? []
    if isHeld || isAwaitingFile || isAwaitingJobs { return expiry }
    if let notBefore, notBefore > time {
      availableAt = notBefore
      return [.wake(notBefore)] + expiry
    }
    state = .available
    return [.offer] + expiry
  }

  mutating func end(_ final: JobState, at time: Date) -> [JobAction] {
    state = final
    endedAt = time
    availableAt = nil
    isCancelRequested = false
    isAwaitingJobs = false
    return [.settle]
  }
}

extension Date {
  /// The time as a store keeps it, to the microsecond: so a job is the same before and after it was read again, and is
  /// due by the store's comparison exactly when it is due by the state machine's.
  var asStored: Date { ISODate.microseconds(of: self).map(ISODate.date(microseconds:)) ?? self }
}

// The events of a job that doesn't run.

extension JobStateMachine {
  mutating func submit(
    _ event: JobEvent, at time: Date, _ waiting: JobWaiting
  ) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil:
      notBefore = waiting.notBefore?.asStored
      deadline = waiting.deadline?.asStored
      isHeld = waiting.isHeld
      isAwaitingFile = waiting.awaitsFile
      isAwaitingJobs = waiting.awaitsJobs
      return wait(at: time)
    case .scheduled, .available, .running, .retryable: throw illegal(event, "it is in the queue already")
    case .completed, .cancelled, .discarded: throw illegal(event, "it was in the queue before: submit a new one")
    }
  }

  mutating func becomeDue(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled, .retryable:
      guard let availableAt else { throw illegal(event, "it waits for somebody, not for a time") }
      guard availableAt <= time || isOverlongWait(at: time) else { throw illegal(event, "its time hasn't come") }
      self.availableAt = nil
      state = .available
      return [.offer]
    case .available: throw illegal(event, "it has been due before")
    case .running: throw illegal(event, "it runs already")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  /// Whether the wait for the next attempt is longer than any failure has a job wait: the clock was set back.
  private func isOverlongWait(at time: Date) -> Bool {
    guard state == .retryable, let availableAt else { return false }
    return availableAt.timeIntervalSince(time) > backoff.delay(afterAttempt: attempt, random: 1)
  }

  mutating func hold(_ event: JobEvent) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled, .available, .retryable:
      isHeld = true
      availableAt = nil
      state = .scheduled
      return []
    case .running: throw illegal(event, "it runs already: cancel it, and retry it later")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  mutating func release(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled:
      guard isHeld else { throw illegal(event, "it isn't held") }
      isHeld = false
      return wait(at: time)
    case .available, .running, .retryable: throw illegal(event, "it isn't held")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  /// May be said more than once: the spool repeats it when it isn't sure.
  mutating func takeFile(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled:
      guard isAwaitingFile else { return [] }
      isAwaitingFile = false
      return wait(at: time)
    case .available, .running, .retryable: return []
    case .completed, .cancelled, .discarded:
      // It was cancelled during the hand-over: its file is put away now.
      guard isAwaitingFile else { return [] }
      isAwaitingFile = false
      return [.settle]
    }
  }

  /// The job waits for its file again. Only at a start, when a running job is one that was interrupted.
  mutating func loseFile(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .running:
      claim += 1
      if isCancelRequested { return end(.cancelled, at: time) }
      attempt = max(0, attempt - 1)
    case .scheduled: if isAwaitingFile { return [] }
    case .available, .retryable: break
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
    isAwaitingFile = true
    return wait(at: time)
  }

  mutating func meetDependencies(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireAwaitingJobs(event)
    isAwaitingJobs = false
    return wait(at: time)
  }

  mutating func failDependency(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireAwaitingJobs(event)
    return end(.cancelled, at: time)
  }

  private func requireAwaitingJobs(_ event: JobEvent) throws(IllegalTransition) {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled: if !isAwaitingJobs { throw illegal(event, "it follows no job, or none any more") }
    case .available, .running, .retryable: throw illegal(event, "it follows no job any more")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  mutating func expire(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled, .available, .retryable:
      guard let deadline else { throw illegal(event, "it has no deadline") }
      guard deadline <= time else { throw illegal(event, "its deadline hasn't passed") }
      return end(.discarded, at: time)
    case .running: throw illegal(event, "it runs: its operation is to be stopped")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  /// A job that ended because of a job that it follows, or of its deadline, is wanted regardless of these.
  mutating func retry(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .retryable:
      availableAt = nil
      state = .available
      return [.offer]
    case .cancelled, .discarded:
      endedAt = nil
      isHeld = false
      notBefore = nil
      isAwaitingJobs = false
      if let deadline, deadline <= time { self.deadline = nil }
      maxAttempts = max(maxAttempts, attempt + 1)
      return wait(at: time)
    case .scheduled:
      throw illegal(event, "it hasn't been tried yet: it waits for its time, its file, another job or its release")
    case .available: throw illegal(event, "it is about to run")
    case .running: throw illegal(event, "it runs already")
    case .completed: throw illegal(event, "it succeeded: submit it again")
    }
  }
}

// The events of a job that is to run, runs, or is to be stopped.

extension JobStateMachine {
  mutating func claim(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .available:
      state = .running
      startedAt = time
      attempt += 1
      claim += 1
      return [.run]
    case .scheduled: throw illegal(event, "it waits for its time, its file, another job or its release")
    case .retryable: throw illegal(event, "its next attempt isn't due")
    case .running: throw illegal(event, "it runs already")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  /// Also after a request to cancel: there was nothing left to stop.
  mutating func succeed(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireRunning(event)
    return end(.completed, at: time)
  }

  mutating func fail(
    _ event: JobEvent, at time: Date, isRetryable: Bool, jitter: Double
  ) throws(IllegalTransition) -> [JobAction] {
    try requireRunning(event)
    if isCancelRequested { return end(.cancelled, at: time) }
    guard isRetryable, attempt < maxAttempts else { return end(.discarded, at: time) }
    let next = time.addingTimeInterval(backoff.delay(afterAttempt: attempt, random: jitter)).asStored
    // Its deadline would pass while it waits.
    if let deadline, next >= deadline { return end(.discarded, at: time) }
    state = .retryable
    availableAt = next
    return [.wake(next)]
  }

  mutating func requestCancel(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled, .available, .retryable: return end(.cancelled, at: time)
    case .running:
      isCancelRequested = true
      return [.stop]
    case .completed: throw illegal(event, "it has succeeded already")
    case .cancelled: throw illegal(event, "it is cancelled already")
    case .discarded: throw illegal(event, "it has failed already")
    }
  }

  mutating func cancel(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireRunning(event)
    return end(.cancelled, at: time)
  }

  mutating func interrupt(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireRunning(event)
    return putBack(at: time)
  }

  /// Its former owner may be stopped rather than gone: with the new number, nothing that it writes from now on counts.
  mutating func rescue(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireRunning(event)
    claim += 1
    return putBack(at: time)
  }

  /// The attempt goes on where it was cut short, so the next claim counts it again.
  private mutating func putBack(at time: Date) -> [JobAction] {
    if isCancelRequested { return end(.cancelled, at: time) }
    attempt = max(0, attempt - 1)
    state = .available
    return [.offer]
  }

  private func requireRunning(_ event: JobEvent) throws(IllegalTransition) {
    switch state {
    case .running: return
    case nil: throw illegal(event, "it isn't in the queue")
    case .scheduled: throw illegal(event, "it doesn't run: it waits for its time, its file, another job or its release")
    case .available: throw illegal(event, "it doesn't run: no lane has claimed it")
    case .retryable: throw illegal(event, "it doesn't run: its next attempt isn't due")
    case .completed: throw illegal(event, "it doesn't run any more: it succeeded")
    case .cancelled: throw illegal(event, "it doesn't run any more: it was cancelled")
    case .discarded: throw illegal(event, "it doesn't run any more: it failed")
    }
  }
}
