import Foundation

extension JobRecord {
  /// Where it stands, as the state machine sees it.
  func machine(_ backoff: Backoff) -> JobStateMachine {
    var machine = JobStateMachine(maxAttempts: maxAttempts, backoff: backoff)
    machine.state = jobState
    machine.availableAt = availableAt
    machine.notBefore = notBefore
    machine.startedAt = startedAt
    machine.endedAt = endedAt
    machine.attempt = attempt
    machine.isCancelRequested = isCancelRequested
    machine.isHeld = isHeld
    machine.isAwaitingFile = isAwaitingFile
    machine.isAwaitingJobs = isAwaitingJobs
    machine.deadline = deadline
    return machine
  }

  /// Stands where the state machine says.
  func take(_ machine: JobStateMachine) {
    jobState = machine.state
    availableAt = machine.availableAt
    notBefore = machine.notBefore
    startedAt = machine.startedAt
    endedAt = machine.endedAt
    attempt = machine.attempt
    maxAttempts = machine.maxAttempts
    isCancelRequested = machine.isCancelRequested
    isHeld = machine.isHeld
    isAwaitingFile = machine.isAwaitingFile
    isAwaitingJobs = machine.isAwaitingJobs
    deadline = machine.deadline
    switch machine.state {
    case .scheduled, .available, .retryable: expiresAt = machine.deadline
    case nil, .running, .completed, .cancelled, .discarded: expiresAt = nil
    }
  }
}
