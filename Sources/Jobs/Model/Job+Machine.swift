import Foundation

extension Job {
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
  }
}
