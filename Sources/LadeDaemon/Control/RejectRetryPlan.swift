import ControlServer
import Foundation
import Importing
import Jobs
import ManagedObjects

/// What a retry of a job's rejects is made of: today's recipe and model, and the way in which the job read its file.
struct RejectRetryPlan: Sendable {
  let rejected: Job
  /// The reject file, or the folder of a feed's.
  let rejects: URL
  let coordinator: PersistentStoreCoordinator
  /// Names the job in its store.
  let checkpoint: String
  /// The job that imports them.
  let submission: JobSubmission
  let options: ImportOptions
  /// Whether the records came from the entities of a Core Data store.
  let isOfCoreData: Bool
  /// Those that the rejected records were read with.
  private let formerly: ImportOptions

  /// - Throws: ``ControlError/conflict(reason:hint:)`` if its rejects can't be retried, or ``SubmissionProblem``.
  init(
    of job: Job, isDryRun: Bool, plan: SubmissionPlan, rejects folder: String, queue: String, by who: String
  ) throws {
    let formerly = try Self.readable(job)
    guard let file = job.progress.rejectsFile else {
      throw ControlError.conflict(reason: "Job \(job.id) has rejected nothing.")
    }
    let feed = job.entity == ImportRequest.feed
    let request = JobSubmission.retry(
      ofRejectsOf: job, mode: formerly.isModeGiven ? formerly.mode : nil,
      uniqueKey: RejectRetryFiles.uniqueKey(of: job.id))
    var submission = try plan.submission(request, source: feed ? file + ".tar" : file, for: .retryOfRejects, by: who)
    guard submission.store == job.store, submission.entity == job.entity, let name = job.store,
      let store = plan.stores[name]
    else {
      throw ControlError.conflict(
        reason: "Job \(job.id) doesn't say what it imported into.", hint: "Import a corrected copy of the reject file.")
    }
    let configured = try JSONDecoder().decode(ImportOptions.self, from: Data(try submission.encodedOptions().utf8))
    let entity = feed ? nil : store.coordinator.model.entitiesByName[job.entity ?? ""]
    let rejects = URL(fileURLWithPath: folder).appendingPathComponent(file)
    var options = Self.options(job.recipe == nil ? formerly : configured, formerly, entity)
    options.mapping.addMasks(of: formerly.mapping)
    options.mapping.addMasks(of: configured.mapping)
    options.isDryRun = isDryRun
    submission.mode = options.mode
    isOfCoreData = feed && formerly.set == nil && Self.isOfCoreData(job, formerly.reader)
    submission.format = isOfCoreData ? FileFormatName.coreData.rawValue : options.reader.format?.rawValue
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    submission.resolvedOptions = String(decoding: try encoder.encode(options), as: UTF8.self)
    submission.origin = .rejects(of: job.id, request: UUID().uuidString)
    rejected = job
    coordinator = store.coordinator
    checkpoint = JobCheckpoint.name(job.id, queue: queue)
    self.rejects = rejects
    self.submission = submission
    self.options = options
    self.formerly = formerly
  }

  /// The options of a job whose rejects can be looked at one by one.
  /// - Throws: ``ControlError/conflict(reason:hint:)``.
  static func readable(_ job: Job) throws -> ImportOptions {
    guard job.kind == ImportOperation.kind else {
      throw ControlError.conflict(reason: "Job \(job.id) is no import, and rejects nothing.")
    }
    if let former = job.origin?.retriedJob {
      throw ControlError.conflict(
        reason: "Job \(job.id) is itself a retry: what it rejected is open in job \(former), under the same numbers.",
        hint: "'ladectl rejects retry \(former)' retries them again.")
    }
    guard job.state.isEnded else {
      throw ControlError.conflict(
        reason: "Job \(job.id) hasn't ended, so its rejects aren't complete.",
        hint: "'ladectl wait \(job.id)' waits for it.")
    }
    let options = try job.decodeOptions(as: ImportOptions.self)
    if options.isDryRun {
      throw ControlError.conflict(
        reason: "Job \(job.id) was a dry run, and imported nothing.", hint: "Import its file.")
    }
    if options.isWhole, job.state != .completed {
      throw ControlError.conflict(
        reason: "Job \(job.id) imports its file as a whole, and imported nothing of it.", hint: "Import the file again."
      )
    }
    return options
  }

  /// How rejects are read and what becomes of them: today's options, without what is about whole files. How the file is read
  /// stays: the rejects are written so. Only places in lines are today's, since the lines are those of the source.
  private static func options(
    _ today: ImportOptions, _ formerly: ImportOptions, _ entity: EntityDescription?
  ) -> ImportOptions {
    var options = today
    options.reader = formerly.reader.ofRejects
    if formerly.reader.fixedWidth != nil, let layout = today.reader.fixedWidth { options.reader.fixedWidth = layout }
    // Others than the rejected records' objects stay, whatever the mode does with what a file doesn't have.
    if let mode = options.mode, mode.deletesOthers {
      options.mode = nil
      options.mode = entity.map { options.effectiveMode(for: $0) }
    }
    options.skipsKnownFiles = false
    options.set = nil
    // What is rejected again isn't lost, and was counted before.
    options.rejectLimit = nil
    options.rejectShare = nil
    return options
  }

  /// Whether a feed's file was a Core Data store.
  private static func isOfCoreData(_ job: Job, _ reader: ReaderOptions) -> Bool {
    if reader.format != nil { return reader.format == .coreData }
    guard let source = job.source?.lowercased() else { return false }
    let format = FileFormats.standard.name(ofFileName: source)
    return (format == nil || format == .sqlite) && !FileFormats.isPacked(fileName: source)
  }

  /// The rejected records.
  var records: RejectedRecords {
    RejectedRecords(
      rejects, options: formerly, entity: coordinator.model.entitiesByName[rejected.entity ?? ""])
  }

  /// Writes the source of the retry, and the numbers of its records. Blocks.
  /// - Parameters:
  ///   - scratch: an empty folder.
  ///   - isDurable: false for a check.
  /// - Throws: ``RejectExtract/Stopped`` when `shouldStop` returned true, and what else a retry is refused for.
  func extract(
    _ corrections: [RejectExtract.Correction]?, to target: URL, numbers: URL, scratch: URL, isDurable: Bool = true,
    shouldStop: @escaping () -> Bool = { false }
  ) throws {
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "rejects \(rejected.id)")
    let resolved = ResolvedRejects(of: checkpoint, in: context)
    let entities = coordinator.model.entities
    _ = try RejectExtract(
      of: records, at: rejects, expected: rejected.progress.rejected, corrections, scratch: scratch,
      reading: options.reader, isDurable: isDurable, shouldStop: shouldStop,
      isEntityFile: { FileFormats.isFile($0, ofOneOf: entities) }
    ) { numbers in
      defer { context.reset() }
      return try resolved.resolvers(numbers)
    }.write(to: target, numbers: numbers)
  }
}
