package import Importing
public import ManagedObjects

extension JobOptionsError: JobFailing {
  /// They stay wrong, however often they are read.
  public var jobFailure: JobFailure { JobFailure(code: "bad_options", message: description, isRetryable: false) }
}

// What an import's errors mean for its job: a file that can't be read as it is stays so; a disk may get space.

extension MappingError: JobFailing {
  package var jobFailure: JobFailure {
    var message = description
    if code == "too_many_rejects" { message += ". What was committed stays" }
    return JobFailure(code: code, message: message, isRetryable: isRetryable)
  }

  private var isRetryable: Bool {
    switch self {
    case .fileFailed, .diskFull: return true
    default: return false
    }
  }

  private var code: String {
    switch self {
    case .unknownEntity: return "unknown_entity"
    case .abstractEntity: return "abstract_entity"
    case .nothingToMap: return "nothing_to_map"
    case .noKey: return "no_key"
    case .cannotReplace: return "cannot_replace"
    case .wouldDeleteAll: return "would_delete_all"
    case .badRelationship, .badAttribute: return "model"
    case .badRules, .badFilter: return "mapping"
    case .unknownColumns: return "unknown_columns"
    case .sourceChanged: return "source_changed"
    case .badFeed: return "feed"
    case .tooManyRejects, .tooLargeShareRejected: return "too_many_rejects"
    case .fileFailed: return "file"
    case .diskFull: return "disk_full"
    }
  }
}

extension ReaderError: JobFailing {
  package var jobFailure: JobFailure {
    if case .readFailed = self { return JobFailure(code: "file", message: description, isRetryable: true) }
    var message = description
    if case .malformed = self {
      message += ". The records before it are imported: mend the file and submit it again, by upsert"
    }
    return JobFailure(code: "malformed_source", message: message, isRetryable: false)
  }
}

extension MemberFailure: JobFailing {
  package var jobFailure: JobFailure {
    var failure = JobFailure(reason)
    failure.message = "\(member): \(failure.message)"
    return failure
  }
}

extension StoreTransactionError: JobFailing {
  /// Retryable only after the store has rolled the transaction back.
  public var jobFailure: JobFailure {
    // What ended a transaction may pass, as a full disk does; the others are the store's nature, or a mistake.
    if case .lost = self { return JobFailure(code: "store", message: description, isRetryable: true) }
    return JobFailure(code: "store", message: description, isRetryable: false)
  }
}

extension JobFailure {
  /// Why an import failed that commits all of its file or nothing.
  init(ofWholeImport error: any Error) {
    self.init(error)
    // The hint about the records before the failure doesn't apply here.
    if error is MappingError || error is ReaderError || error is MemberFailure { message = String(describing: error) }
    message += ". Nothing of the file was committed"
  }
}

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
    case .lossyDate, .separatorInKey, .conflictingValues:
      return JobFailure(code: "not_writable", message: description, isRetryable: false)
    }
  }
}

// What upkeep's errors mean for its job.

extension MaintenanceError: JobFailing {
  /// Not retryable: the kind of store or its configuration has to change first.
  public var jobFailure: JobFailure {
    switch self {
    case .unsupported: return JobFailure(code: "unsupported", message: description, isRetryable: false)
    case .notIncremental:
      return JobFailure(
        code: "not_incremental", message: description + ", by a vacuum job with prepare_incremental", isRetryable: false
      )
    }
  }
}

extension MigrationError: JobFailing {
  /// The model, or the rows, have to change first.
  public var jobFailure: JobFailure { JobFailure(code: "migration", message: description, isRetryable: false) }
}
