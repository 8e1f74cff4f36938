import Foundation

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
      guard availableAt <= time else { throw illegal(event, "its time hasn't come") }
      self.availableAt = nil
      state = .available
      return [.offer]
    case .available: throw illegal(event, "it has been due before")
    case .running: throw illegal(event, "it runs already")
    case .completed, .cancelled, .discarded: throw illegal(event, "it has ended")
    }
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
      guard isHeld else { throw illegal(event, "nobody holds it") }
      isHeld = false
      return wait(at: time)
    case .available, .running, .retryable: throw illegal(event, "nobody holds it")
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
      // It was cancelled during the hand-over: the file is to be put away at once.
      guard isAwaitingFile else { return [] }
      isAwaitingFile = false
      return [.settle]
    }
  }

  /// It waits for it again. Said at a start alone: what is running then was cut short.
  mutating func loseFile(_ event: JobEvent, at time: Date) throws(IllegalTransition) -> [JobAction] {
    switch state {
    case nil: throw illegal(event, "it isn't in the queue")
    case .running:
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
