import ManagedObjects

// What upkeep's errors mean for its job.

extension MaintenanceError: JobFailing {
  package var jobFailure: JobFailure {
    switch self {
    case .unsupported: return JobFailure(code: "unsupported", message: description, isRetryable: false)
    case .notIncremental: return JobFailure(code: "not_incremental", message: description, isRetryable: false)
    }
  }
}

extension MigrationError: JobFailing {
  /// The model, or the rows, have to change first.
  package var jobFailure: JobFailure { JobFailure(code: "migration", message: description, isRetryable: false) }
}
