import Foundation

// The events of a job that is to run, runs, or is to be stopped.

extension JobStateMachine {
  mutating func claim(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .available:
      state = .running
      startedAt = time
      attempt += 1
      return [.run]
    case .scheduled: throw illegal(event, "it waits for its time, its file, another job or its release")
    case .retryable: throw illegal(event, "its next attempt isn't due")
    case .running: throw illegal(event, "it runs already")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
  }

  /// Also when somebody wanted it stopped: there was nothing left to stop.
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

  mutating func rescue(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    try requireRunning(event)
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
