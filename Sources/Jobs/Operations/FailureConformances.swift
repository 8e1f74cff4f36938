package import CoreDataStores
package import Importing
public import ManagedObjects

extension JobOptionsError: JobFailing {
  /// They stay wrong, however often they are read.
  public var jobFailure: JobFailure { JobFailure(code: "bad_options", message: description, isRetryable: false) }
}

extension SupersededSave: JobFailing {
  package var jobFailure: JobFailure { JobFailure(code: "superseded", message: description, isRetryable: true) }
}

extension JobFence.Raised: JobFailing {
  /// Retryable: if the queue knows of no later claim, it was restored from a copy, and its claims catch up.
  package var jobFailure: JobFailure { JobFailure(code: "superseded", message: description, isRetryable: true) }
}

// What an import's errors mean for its job: a file that can't be read as it is stays so; a disk may get space.

extension MappingError: JobFailing {
  package var jobFailure: JobFailure {
    JobFailure(code: code, message: description, isRetryable: isRetryable)
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
    case .unselectiveKey: return "unselective_key"
    case .cannotReplace: return "cannot_replace"
    case .cannotKeep: return "cannot_keep"
    case .wouldDeleteAll: return "would_delete_all"
    case .badRelationship, .badAttribute: return "model"
    case .badRules, .badFilter: return "mapping"
    case .newColumns: return "new_columns"
    case .changedType: return "changed_type"
    case .newEntities: return "new_entities"
    case .cannotEvolve: return "cannot_evolve"
    case .sourceChanged: return "source_changed"
    case .badFeed: return "feed"
    case .tooManyRejects, .tooLargeShareRejected: return "too_many_rejects"
    case .nothingImported: return "nothing_imported"
    case .rejectResolved: return "reject_resolved"
    case .fileFailed: return "file"
    case .diskFull: return "disk_full"
    }
  }
}

extension MaskingError: JobFailing {
  /// Retryable: the service gets its credentials when it is started.
  package var jobFailure: JobFailure { JobFailure(code: "no_credential", message: description, isRetryable: true) }
}

extension ReaderError: JobFailing {
  package var jobFailure: JobFailure {
    switch self {
    case .readFailed, .database(.refused): return JobFailure(code: "file", message: description, isRetryable: true)
    case .database(.noTemporarySpace): return JobFailure(code: "disk_full", message: description, isRetryable: true)
    default: return JobFailure(code: "malformed_source", message: description, isRetryable: false)
    }
  }
}

extension LineageError: JobFailing {
  package var jobFailure: JobFailure {
    switch self {
    case .damaged: JobFailure(code: "damaged_lineage", message: description, isRetryable: false)
    case .undoUnderWay: JobFailure(code: "undo_under_way", message: description, isRetryable: true)
    case .jobUnderWay: JobFailure(code: "not_ended", message: description, isRetryable: true)
    }
  }
}

extension ExtractionError: JobFailing {
  /// Retryable: a database comes back, and its schema may be mended. A cursor has to be set before any job can go on, and it
  /// can't be while one hasn't ended.
  package var jobFailure: JobFailure {
    let code =
      switch self {
      case .missing, .cannotOpen, .notADatabase, .noServer: "source_unavailable"
      case .locked, .changed: "source_busy"
      case .badSelection, .noCursor, .badColumns: "source_schema"
      case .failed, .timeLimit: "source_failed"
      case .lagWithoutUnit, .lagOfNoTime, .numberLagOfText, .noNumber, .noTime, .otherCursor, .otherSource: "cursor"
      case .extract: "file"
      }
    return JobFailure(code: code, message: description, isRetryable: code != "cursor")
  }
}

extension SetFault: JobFailing {
  /// The files stay what they are.
  package var jobFailure: JobFailure { JobFailure(code: "set", message: description, isRetryable: false) }
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

extension PersistentStoreError: JobFailing {
  /// Not retryable: what a store is opened for, and what its model holds, stays so while the program runs.
  public var jobFailure: JobFailure {
    switch self {
    case .readOnly: return JobFailure(code: "read_only", message: description, isRetryable: false)
    case .unknownConfiguration, .notHeld: return JobFailure(code: "model", message: description, isRetryable: false)
    case .alreadyAdded, .unknownStore, .notNew, .notReachable, .unknownType, .noCoordinator, .exists, .noURL:
      return JobFailure(code: "store", message: description, isRetryable: false)
    }
  }
}

extension JobFailure {
  /// Why an import failed, with what it leaves in the store.
  ///
  /// - Parameters:
  ///   - progress: what was reported last.
  ///   - entity: the entity that was imported; nil for a feed.
  init(_ error: any Error, of options: ImportOptions, into entity: EntityDescription?, after progress: ImportProgress?)
  {
    self.init(error)
    let cause = (error as? MemberFailure)?.reason ?? error
    if options.isWhole {
      message += ". Nothing of the file was committed"
    } else if let taken = progress?.counts.taken, taken > 0 {
      message += Self.remains(taken, cause, options, entity).map { ". " + $0 } ?? ""
    }
  }

  /// What became of the records before the failure, and what to do about them.
  private static func remains(
    _ taken: Int64, _ cause: any Error, _ options: ImportOptions, _ entity: EntityDescription?
  ) -> String? {
    let records = taken == 1 ? "1 record" : "\(taken) records"
    switch cause {
    case ReaderError.source(.truncated), ReaderError.source(.corrupt), ReaderError.source(.trailingData):
      return "\(records) before the damage was found \(taken == 1 ? "is" : "are") committed and may be wrong. "
        + "With atomic: file a damaged file leaves nothing"
    case ReaderError.malformed:
      let before = "The \(records) before it \(taken == 1 ? "is" : "are") imported: correct the file and submit "
      let hasKey = entity?.uniquenessConstraints.isEmpty != true || !options.mapping.key.isEmpty
      guard options.mode == .insert || !hasKey else { return before + "it again" }
      return before + (hasKey ? "the rest of it, or all of it by upsert" : "the rest of it")
    case MappingError.tooManyRejects, MappingError.tooLargeShareRejected:
      return "The \(records) imported before \(taken == 1 ? "stays" : "stay")"
    default: return nil
    }
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
    case .lossyDate, .separatorInKey, .conflictingValues, .noForm, .tooMuch, .emptyRecord:
      return JobFailure(code: "not_writable", message: description, isRetryable: false)
    }
  }
}

extension CoreDataFileError: JobFailing {
  /// Neither the template nor the store's objects change by themselves.
  package var jobFailure: JobFailure {
    if case .unstorable = self { return JobFailure(code: "not_writable", message: description, isRetryable: false) }
    return JobFailure(code: "bad_options", message: "the template: \(description)", isRetryable: false)
  }
}

// What upkeep's errors mean for its job.

extension MaintenanceError: JobFailing {
  /// Not retryable: the kind of store or its configuration has to change first.
  public var jobFailure: JobFailure {
    switch self {
    case .unsupported, .needless: return JobFailure(code: "unsupported", message: description, isRetryable: false)
    case .missingProgram: return JobFailure(code: "not_installed", message: description, isRetryable: false)
    // The server may have been away.
    case .programFailed: return JobFailure(code: "program_failed", message: description, isRetryable: true)
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
