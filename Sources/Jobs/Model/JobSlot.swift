public import ManagedObjects

/// The slots of ``JobRecord``, named as its properties: one list for the model, the class and the predicates.
enum JobSlot: Int, CaseIterable {
  case kind, lane, state, priority, store, entityName, mode, recipe, source, activeName, format, options, tags
  case submittedBy, uniqueKey, origin
  case submittedAt, notBefore, availableAt, startedAt, endedAt
  case attempt, maxAttempts, rescues, isHeld, isAwaitingFile, isCancelRequested
  case reason, failureCode, note, rejectsFile
  case bytesDone, bytesTotal, records, inserted, updated, unchanged, deleted, rejected, skipped
  case timeout, deadline, expiresAt, isAwaitingJobs, isFollowed, batch
  case transitions, dependencies

  var name: String { "\(self)" }
}

/// The slots of ``TransitionRecord``.
enum JobTransitionSlot: Int, CaseIterable {
  case at, fromState, toState, reason, requestedBy, job

  var name: String { "\(self)" }
}

/// The slots of ``DependencyRecord``.
enum JobDependencySlot: Int, CaseIterable {
  case on, condition, isSettled, job

  var name: String { "\(self)" }
}

/// The slots of ``BatchRecord``.
enum JobBatchSlot: Int, CaseIterable {
  case name, submittedBy, submittedAt, endedAt, total, pending, failed, kept, callback, condition

  var propertyName: String { "\(self)" }
}

/// The slots of ``LaneRecord``.
enum LaneSettingSlot: Int, CaseIterable {
  case lane, isPaused, pausedBy, pausedAt, concurrency

  var name: String { "\(self)" }
}

extension JobState: AttributeValue {
  /// The state of that name.
  public init?(slotValue: Value) {
    guard case .string(let name) = slotValue, let state = JobState(rawValue: name) else { return nil }
    self = state
  }
  /// The state's name.
  public var slotValue: Value { .string(rawValue) }
}
