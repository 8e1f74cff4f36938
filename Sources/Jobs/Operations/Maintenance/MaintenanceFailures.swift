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
