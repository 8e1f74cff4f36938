import ManagedObjects

/// Why an operation failed: the one place that turns an error into what is logged, recorded and shown.
public struct JobFailure: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// A short name of the failure that doesn't change between versions.
  public var code: String
  /// What happened, where, and what to do: for people.
  public var message: String
  /// Whether it may go away without a change: a locked store may, a malformed file can't.
  public var isRetryable: Bool

  /// A failure.
  public init(code: String, message: String, isRetryable: Bool) {
    self.code = code
    self.message = message
    self.isRetryable = isRetryable
  }

  /// What an error means for the job that it ended.
  ///
  /// An error that says so itself (``JobFailing``) is taken at its word. Of a store's errors those pass that come from
  /// locks, space, memory and devices. Of others nothing is known, so they are tried again.
  public init(_ error: any Error) {
    switch error {
    case let failure as JobFailure: self = failure
    case let error as any JobFailing: self = error.jobFailure
    case let error as ManagedObjectError: self.init(error)
    default: self.init(code: "error", message: String(describing: error), isRetryable: true)
    }
  }

  private init(_ error: ManagedObjectError) {
    let message = String(describing: error)
    switch error {
    case .store(let failure):
      switch failure.kind {
      case .full: self.init(code: "disk_full", message: message, isRetryable: true)
      case .busy, .io, .cannotOpen, .interrupted, .outOfMemory:
        self.init(code: "store", message: message, isRetryable: true)
      case .corrupt, .notAStore, .permission, .readOnly, .constraint, .outOfRange, .tooComplex, .other:
        self.init(code: "store", message: message, isRetryable: false)
      }
    case .mergeConflicts, .brokenReferences: self.init(code: "conflict", message: message, isRetryable: true)
    case .validation: self.init(code: "validation", message: message, isRetryable: false)
    case .constraintConflicts: self.init(code: "not_unique", message: message, isRetryable: false)
    case .unknownEntity, .severalEntities, .abstractEntity, .unknownProperty, .wrongType, .notOfType, .severalValues,
      .noStore, .classMismatch, .incompatibleStore:
      self.init(code: "model", message: message, isRetryable: false)
    case .objectNotFound, .unsettledChanges, .foreignObject:
      self.init(code: "error", message: message, isRetryable: false)
    }
  }

  /// The operation of a claim that isn't the latest any more. Where it is nonetheless, the queue is older than the data store; with
  /// the next claims it gets ahead of it.
  static func superseded(_ job: Job) -> JobFailure {
    JobFailure(
      code: "superseded", message: "another has taken the job over since claim \(job.claim)", isRetryable: true)
  }

  /// The message.
  public var description: String { message }
}

/// An error that knows what it means for a job.
public protocol JobFailing: Error {
  /// The failure that it is.
  var jobFailure: JobFailure { get }
}
