import Foundation
package import ManagedObjects

/// A job in the queue's store. See ``Job`` for what the properties mean.
package final class JobRecord: ManagedObject {
  package override class var validatesValues: Bool { false }

  /// The names of the attributes that requests search and sort by.
  enum Key: String, CaseIterable {
    case kind, lane, state, priority, store, entityName, recipe, source, tags, submittedBy, uniqueKey, origin
    case submittedAt, availableAt, startedAt, endedAt, expiresAt, isHeld, isAwaitingFile, batch, attempt, failureCode
    case owner, host, sharedFile

    var name: String { rawValue }
  }

  /// Jobs with one of the words in ``tagList``.
  static func isFound(by tag: String) -> FetchPredicate {
    .comparison(.path(Key.tags.name), .contains, .constant(.string("|\(tag)|")))
  }

  /// The attribute `tags` is `|one|two|`, so that a word can be searched for with its bars.
  package var tagList: [String] {
    get { tags?.split(separator: "|").map(String.init) ?? [] }
    set { tags = newValue.isEmpty ? nil : "|" + newValue.joined(separator: "|") + "|" }
  }

  /// Whether its progress is that of the records of a store.
  private var countsRecords: Bool { [UpdateOperation.kind, PruneOperation.kind, ChangeOperation.kind].contains(kind) }

  package var progress: JobProgress {
    get {
      JobProgress(
        bytesDone: bytesDone, bytesTotal: bytesTotal, records: records, inserted: inserted, updated: updated,
        unchanged: unchanged, deleted: deleted, rejected: rejected, skipped: skipped, rejectsFile: rejectsFile,
        // Not in the store: at the end it is the number of records.
        recordsTotal: countsRecords && jobState == .completed ? records : 0)
    }
    set {
      bytesDone = newValue.bytesDone
      bytesTotal = newValue.bytesTotal
      records = newValue.records
      inserted = newValue.inserted
      updated = newValue.updated
      unchanged = newValue.unchanged
      deleted = newValue.deleted
      rejected = newValue.rejected
      skipped = newValue.skipped
      rejectsFile = newValue.rejectsFile
    }
  }
}

extension JobRecord {
  /// The job as it stands now, without its transitions.
  /// - Throws: ``JobQueueError/unreadable(id:what:)`` when the store holds what this version can't have written.
  func snapshot() throws -> Job {
    let id = objectID.number
    guard let state = jobState else { throw JobQueueError.unreadable(id: id, what: "state") }
    var job = Job(
      id: id, kind: kind, lane: lane, state: state, submittedAt: submittedAt, submittedBy: submittedBy,
      maxAttempts: maxAttempts)
    job.priority = priority
    job.store = store
    job.entity = entityName
    job.mode = mode.flatMap(ImportMode.init)
    job.recipe = recipe
    job.source = source
    job.host = host
    job.sharedFile = sharedFile
    job.isFileInDatabase = sharedFile != nil
    job.daemon = owner
    job.activeName = activeName
    job.format = format
    job.options = options
    job.tags = tagList
    job.uniqueKey = uniqueKey
    job.origin = origin
    job.notBefore = notBefore
    job.availableAt = availableAt
    job.startedAt = startedAt
    job.endedAt = endedAt
    job.attempt = attempt
    job.claim = claim
    job.rescues = rescues
    job.isHeld = isHeld
    job.isAwaitingFile = isAwaitingFile
    job.isAwaitingJobs = isAwaitingJobs
    job.isCancelRequested = isCancelRequested
    job.timeout = timeout
    job.deadline = deadline
    job.batch = batch
    job.reason = reason
    job.failureCode = failureCode
    job.note = note
    job.progress = progress
    if kind == ChangeOperation.kind {
      do {
        job.change = try ChangeCheckpoint(checkpoint).result
      } catch {
        throw JobQueueError.unreadable(id: id, what: "checkpoint")
      }
    }
    return job
  }
}

extension JobRecord {
  /// Is the job of a submission. Where it stands and what it follows are up to the state machine and the ledger.
  func take(_ submission: JobSubmission, lane: String, at time: Date) throws {
    kind = submission.kind
    self.lane = lane
    priority = submission.priority ?? 0
    store = submission.store
    entityName = submission.entity
    mode = submission.mode?.rawValue
    recipe = submission.recipe
    source = submission.source
    activeName = submission.activeName
    format = submission.format
    options = try submission.encodedOptions()
    tagList = submission.tags
    uniqueKey = submission.uniqueKey
    origin = submission.origin
    submittedBy = submission.submittedBy
    maxAttempts = submission.maxAttempts ?? JobSubmission.defaultAttempts
    timeout = submission.timeout
    submittedAt = time
  }
}

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
    machine.claim = claim
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
    claim = machine.claim
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
