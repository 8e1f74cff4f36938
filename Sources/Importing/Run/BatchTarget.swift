import ManagedObjects

/// What the batches of an import are written to: the objects of an entity in a context, and what the import keeps in the same
/// store until its end.
struct BatchTarget {
  let context: ManagedObjectContext
  let entity: EntityDescription
  let mode: ImportMode
  /// Names the job in everything that the import keeps.
  let job: String
  let options: MappingOptions
  let resolver: ReferenceResolver
  let backlog: ImportBacklog
  /// What is deleted at the end, in a mode that does so.
  let absent: AbsentObjects?
  /// The objects that no record may take a unique value from, by row number: see ``ProtectedObjects``.
  let protected: Set<Int64>
  /// Records where rows come from; nil where nothing is recorded.
  let lineage: LineageRecorder?
  /// Takes some of the objects, where that is wanted.
  let examples: ImportExamples?

  init(
    _ context: ManagedObjectContext, _ rules: MappingRules, _ mode: ImportMode, job: String,
    _ options: ImportOptions, protected: Set<Int64> = [], lineage: LineageRecorder? = nil,
    examples: ImportExamples? = nil
  ) {
    self.examples = examples
    self.context = context
    self.lineage = lineage
    self.mode = mode
    self.job = job
    self.protected = protected
    entity = rules.entity
    self.options = rules.options
    absent =
      mode.deletesOthers
      ? AbsentObjects(
        context: context, mode: mode, job: job, rules: rules, batchSize: options.batchSize,
        allowsEmpty: options.allowsEmpty, lineage: lineage)
      : nil
    resolver = ReferenceResolver(context: context, seen: absent?.seen)
    backlog = ImportBacklog(
      PendingReferences(
        context: context, job: job, batchSize: options.batchSize, options: rules.options, seen: absent?.seen,
        lineage: lineage),
      DeferredRecords(context: context, job: job, batchSize: options.batchSize))
  }
}

/// What earlier batches of an import left for its end. Most imports leave nothing, so whether there is anything is looked up
/// in the store once and remembered.
final class ImportBacklog {
  let references: PendingReferences
  let records: DeferredRecords
  /// nil until the store has been asked.
  private var hasReferences: Bool?
  private var hasRecords: Bool?

  init(_ references: PendingReferences, _ records: DeferredRecords) {
    self.references = references
    self.records = records
  }

  /// Whether references of rows may still be pending.
  func mayHaveReferences() throws -> Bool {
    if let hasReferences { return hasReferences }
    let found = try !references.isEmpty()
    hasReferences = found
    return found
  }

  /// Whether records may still be deferred.
  func mayHaveRecords() throws -> Bool {
    if let hasRecords { return hasRecords }
    let found = try !records.isEmpty()
    hasRecords = found
    return found
  }

  /// Notes what a batch that has been saved left.
  func noteSaved(references: Bool, records: Bool) {
    if references { hasReferences = true }
    if records { hasRecords = true }
  }

  /// Notes that no record is deferred any more.
  func noteRecordsSettled() { hasRecords = false }
}
