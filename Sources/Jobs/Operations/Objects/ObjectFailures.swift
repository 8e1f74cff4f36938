package import Importing
public import ManagedObjects

// What the errors of operations on objects mean for their jobs: what was asked for wrongly stays wrong, a disk may get space.

extension PredicateFormatError: JobFailing {
  /// It stays wrong, however often it is tried.
  public var jobFailure: JobFailure { JobFailure(code: "bad_predicate", message: "where: \(self)", isRetryable: false) }
}

extension FetchPredicateError: JobFailing {
  /// It stays wrong, however often it is tried.
  public var jobFailure: JobFailure { JobFailure(code: "bad_predicate", message: "\(self)", isRetryable: false) }
}

extension FetchRequestError: JobFailing {
  /// It stays wrong, however often it is tried.
  public var jobFailure: JobFailure { JobFailure(code: "bad_options", message: "\(self)", isRetryable: false) }
}

extension ConverterError: JobFailing {
  package var jobFailure: JobFailure { JobFailure(code: "bad_options", message: description, isRetryable: false) }
}

extension WriterError: JobFailing {
  package var jobFailure: JobFailure {
    if isDiskFull { return JobFailure(code: "disk_full", message: description, isRetryable: true) }
    switch self {
    case .file, .database, .packing: return JobFailure(code: "file", message: description, isRetryable: true)
    case .badName: return JobFailure(code: "bad_name", message: description, isRetryable: false)
    case .columnTwice, .noNesting: return JobFailure(code: "bad_options", message: description, isRetryable: false)
    case .lossyDate, .separatorInKey:
      return JobFailure(code: "not_writable", message: description, isRetryable: false)
    }
  }
}
