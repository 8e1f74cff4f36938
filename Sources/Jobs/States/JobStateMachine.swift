// Rule 6 of the design, its first half: a job changes state only here. The second half, that every transition is
// recorded with its reason, is `LedgerTurn`'s, the only caller outside the tests.
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

/// Where one job stands, and what may happen to it: a value without clock, store or queue.
package struct JobStateMachine: Sendable, Equatable {
  /// Where it stands; nil before it was submitted.
  package internal(set) var state: JobState?
  /// When it becomes available, while it waits for a time; nil otherwise.
  package internal(set) var availableAt: Date?
  /// Whoever submitted it didn't want it to run earlier.
  package internal(set) var notBefore: Date?
  /// It is to have ended by then.
  package internal(set) var deadline: Date?
  /// When its latest attempt began.
  package internal(set) var startedAt: Date?
  package internal(set) var endedAt: Date?
  /// How many attempts were made, the running one included. An attempt that the daemon's end cut short goes on with
  /// the next claim, and isn't counted twice.
  package internal(set) var attempt = 0
  package internal(set) var maxAttempts: Int
  /// Whether somebody wants the running job stopped.
  package internal(set) var isCancelRequested = false
  /// Whether somebody holds it back.
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

  /// Waits for whatever it has to wait for, or is available at once.
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
