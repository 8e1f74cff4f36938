import Foundation
package import Importing
package import ManagedObjects

/// Imports a file of the spool's `active/` into a data store.
///
/// `main()` builds a private context over the store's coordinator, on the operation's own thread, and lets an
/// ``Importer`` drive it: batches are saved with the checkpoint of how far the job has come, so that a job which was
/// killed or drained continues from its last commit. Each save is merged into the main context of the store.
package final class ImportOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "import"

  /// Looks at what needs no file: the daemon, whose recipes have a say, checks more.
  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    let options = try ImportOptions.read(submission)
    guard submission.source != nil || options.from != nil else {
      throw JobFailure(code: "no_source", message: "the job has no file to import", isRetryable: false)
    }
    try requireCheckpoints(in: model)
    if submission.entity == ImportRequest.feed { return try options.mapping.check(ofFeed: DataEntities.of(model)) }
    let entity = try entity(submission.entity, of: model)
    try options.check(against: entity)
  }

  /// Its store is its own if the model may change for the file.
  package override class func access(for options: String) -> StoreAccess {
    guard options.utf8.firstRange(of: "\"evolve\"".utf8) != nil else { return access }
    do {
      let read = try JSONDecoder().decode(ImportOptions.self, from: Data(options.utf8))
      return read.mapping.schema.evolves && !read.isDryRun ? .exclusive : access
    } catch {
      // The job fails with that.
      return access
    }
  }

  package override func perform() throws -> JobOutcome {
    let options = try job.decodeOptions(as: ImportOptions.self)
    var extract: Extract?
    if let from = options.from {
      extract = try Extract(existing: extractFile)
      if extract == nil, try !hasImported() {
        extract = try read(from)
        if extract == nil { return isCancelled ? .cancelled(job.progress) : .interrupted(job.progress) }
      }
    }
    let request = try importRequest(options, extract)
    if options.mapping.schema.evolves, !options.isDryRun, options.from == nil || extract != nil,
      let stopped = try evolve(for: request)
    {
      return stopped
    }
    let context = try context()
    let coordinator = context.persistentStoreCoordinator
    let end = try end(of: Importer(coordinator: coordinator, request: request), in: context)
    let last = JobProgress(end.progress, rejects: request.rejects.lastPathComponent)
    if !end.isFinished { return isCancelled ? .cancelled(last) : .interrupted(last) }
    var notes = end.notes
    if let extract { notes.insert(extract.window.note, at: 0) }
    if options.mapping.schema.evolves, let changes = try evolved() { notes.append("the model has evolved: \(changes)") }
    if options.from == nil, masks(request, in: coordinator.model) {
      notes.append("its file is removed, since values of it are masked")
    }
    return .completed(last, note: notes.isEmpty ? nil : notes.joined(separator: "; "))
  }

  /// Has the model take the file, which is read for it to its end. Killed at any time, it is done again: then the store has
  /// been opened with the new version, or the version is made again.
  /// - Returns: how the job ended, if it was to stop.
  private func evolve(for request: ImportRequest) throws -> JobOutcome? {
    let (name, coordinator) = try namedStore()
    // A model is never changed for a claim that is over.
    _ = try fence(in: coordinator)
    let contract = request.options.mapping.schema
    let difference = try SchemaScan(request, into: coordinator.model).run { isCancelled || isDraining }
    guard difference.isWhole else { return isCancelled ? .cancelled(job.progress) : .interrupted(job.progress) }
    guard let evolution = try SchemaEvolution(of: coordinator.model, for: difference, contract) else { return nil }
    guard !masks(request, in: coordinator.model) || (contract.columns != .evolve && contract.entities != .evolve) else {
      throw MappingError.cannotEvolve(reason: "values are masked, and what is new would be stored in clear")
    }
    guard let evolve = try upkeep(of: name).evolve else {
      throw MappingError.cannotEvolve(reason: "the configuration of store \(name) doesn't say evolves: true")
    }
    let origin = ModelOrigin(job: checkpointName, number: job.id, source: job.source ?? "")
    let outcome = try watched { watch in
      try evolve(evolution, origin, watch)
      return .completed(job.progress)
    }
    if case .completed = outcome { return nil }
    return outcome
  }

  /// What this job has made of the model.
  private func evolved() throws -> String? {
    try upkeep(of: namedStore().name).evolved?(checkpointName)
  }

  private func masks(_ request: ImportRequest, in model: ManagedObjectModel) -> Bool {
    let entities =
      request.entity == ImportRequest.feed ? model.entities : [model.entitiesByName[request.entity]].compactMap { $0 }
    return entities.contains { request.options.mapping.masks(into: $0) }
  }

  private func end(of importer: Importer, in context: ManagedObjectContext) throws -> ImportEnd {
    let request = importer.request
    let rejects = request.rejects.lastPathComponent
    var last: ImportProgress?
    do {
      return try importer.run(in: context, shouldStop: { isCancelled || isDraining }) { progress in
        last = progress
        report(JobProgress(progress, rejects: rejects))
      }
    } catch let error as Interrupted {
      // While its source was opened.
      throw error
    } catch {
      let entity = importer.coordinator.model.entitiesByName[request.entity]
      throw JobFailure(error, of: request.options, into: entity, after: last)
    }
  }

  // MARK: Incremental sources

  /// What the job has read of its source, once it has.
  private var extractFile: URL { ExtractFile.of(job.id, in: environment.extractsDirectory) }

  /// Whether an earlier attempt has saved the end of the import: then its rows, which may be gone, aren't read again.
  private func hasImported() throws -> Bool {
    try ImportCheckpoint.read(checkpointName, in: try context())?.isFinished == true
  }

  /// Reads the source from the recipe's cursor on; nil if it is to stop.
  private func read(_ source: IncrementalSource) throws -> Extract? {
    guard let recipe = job.recipe else {
      throw JobFailure(code: "no_recipe", message: "only a recipe reads a database", isRetryable: false)
    }
    try ExtractFile.makeFolder(environment.extractsDirectory)
    var extraction = try Extraction(
      source, of: recipe, since: try RecipeCursor.read(recipe, in: try context()), to: extractFile)
    extraction.pause = environment.exportPause?()
    extraction.openPostgres = environment.openPostgres
    extraction.credentials = environment.credentials
    extraction.shouldStop = { [unowned self] in isCancelled || isDraining }
    return try extraction.run()
  }

  private func importRequest(_ options: ImportOptions, _ extract: Extract?) throws -> ImportRequest {
    guard let entity = job.entity else {
      throw JobFailure(code: "no_entity", message: "the job doesn't say into which entity", isRetryable: false)
    }
    guard let from = options.from else { return try importRequest(ofFileInto: entity, options) }
    var options = options
    if let extract { options.reader = extract.window.reader }
    var request = ImportRequest(
      job: checkpointName,
      source: extractFile, name: from.name, entity: entity, options: options,
      rejects: environment.rejectsDirectory.appendingPathComponent(Self.rejectsName(of: job, options.reader)))
    request.cursor = job.recipe.flatMap { recipe in extract.flatMap { CursorMove(recipe, from, $0.window, job: job.id) }
    }
    return complete(request)
  }

  /// With what every import has.
  private func complete(_ request: ImportRequest) -> ImportRequest {
    var request = request
    request.credentials = environment.credentials
    request.origin = lineageOrigin
    request.shouldStopWithinRecord = { [unowned self] in isCancelled || isDraining }
    return request
  }

  private func importRequest(ofFileInto entity: String, _ options: ImportOptions) throws -> ImportRequest {
    guard let activeName = job.activeName else {
      throw JobFailure(code: "no_source", message: "the job has no file to import", isRetryable: false)
    }
    try environment.fetchFile?(job)
    var request = ImportRequest(
      job: checkpointName,
      source: environment.activeDirectory.appendingPathComponent(activeName), name: job.source ?? activeName,
      entity: entity, options: options,
      rejects: environment.rejectsDirectory.appendingPathComponent(Self.rejectsName(of: job, options.reader)))
    request.isMoved = true
    request.rejectCopy = environment.rejectCopy
    if let rejected = job.origin?.retriedJob {
      request.retry = RejectRetry(
        rejected: JobCheckpoint.name(rejected, queue: environment.queueIdentifier), job: job.id,
        numbers: environment.rejectsDirectory.appendingPathComponent(RejectRetry.numbersName(job: job.id)),
        isOfCoreData: job.format == FileFormatName.coreData.rawValue)
    }
    return complete(request)
  }

  /// Rejects are in a file named after the job, so that it is read as the source was when it is dropped again; of a feed in
  /// a folder of such files.
  package static func rejectsName(of job: Job, _ options: ReaderOptions) -> String {
    let name = String(job.id)
    if job.entity == ImportRequest.feed { return RejectFileName.folderName(job: name) }
    return RejectFileName.name(job: name, source: job.source ?? "", options)
  }
}
