import Foundation
import Importing
import ManagedObjects
import PostgresSource
import Spool

/// What a trial reads.
enum TrialSource: Sendable {
  case file(SubmittedFile)
  /// What a recipe would read of a database.
  case database(IncrementalSource, recipe: String)

  var name: String {
    switch self {
    case .file(let file): file.name
    case .database(let source, _): source.name
    }
  }
}

/// The beginning of a source, imported in a transaction that is taken back. Bounded in records and in time.
struct RecipeTrial: Sendable {
  /// What would have been.
  struct Outcome: Sendable {
    /// Nil where not even that much was read.
    var progress: ImportProgress?
    var isWhole = false
    var notes: [String] = []
    var failure: String?
    var rejects: RejectSummary?
    /// Some of the objects that would be inserted or changed.
    var examples: [ImportExamples.Example] = []
  }

  /// A transaction keeps others from writing, so it may not take long.
  static let longest = Duration.seconds(5)
  /// Where its files are, in the folder of the state.
  static let folderName = "trial"
  /// How many rows of a database are shown.
  private static let shownRows = 3

  let coordinator: PersistentStoreCoordinator
  let source: TrialSource
  let entity: String
  let options: ImportOptions
  let credentials: MaskCredentials
  /// A scratch folder for its rejects. Only one trial uses it at a time.
  let folder: URL
  let records: Int64
  /// Whether the first rows of a database are shown, with columns that aren't imported.
  let showsValues: Bool

  /// Blocks.
  /// - Parameter limit: of ``longest``.
  /// - Throws: what has to do with the daemon; what has to do with the file or the recipe is the outcome's failure.
  func run(_ limit: TrialLimit) throws -> Outcome {
    try makeFolder()
    defer { clear() }
    var options = options
    options.isDryRun = true
    (options.skipsKnownFiles, options.lineage) = (false, false)
    options.batchSize = min(options.batchSize, Int(records))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator, name: "trial")
    var outcome = Outcome()
    var url = URL(fileURLWithPath: source.name)
    if case .database(let source, let recipe) = source {
      do {
        let extract = try read(source, of: recipe, in: context, limit)
        url = extract.url
        options.reader = extract.window.reader
        outcome.notes = [extract.window.note] + (try firstRows(of: extract))
      } catch let error as ExtractionError {
        outcome.failure = error.description
        return outcome
      } catch let error as MaskingError {
        outcome.failure = error.description
        return outcome
      } catch let error as WriterError {
        outcome.failure = error.description
        return outcome
      }
    }
    let rejects = folder.appendingPathComponent(
      RejectFileName.name(job: "trial", source: source.name, options.reader))
    var request = ImportRequest(
      job: "trial/\(UUID().uuidString)", source: url, name: source.name, entity: entity,
      options: options, rejects: rejects)
    if case .file(let file) = source { request.descriptor = file.descriptor }
    request.credentials = credentials
    request.shouldStopWithinRecord = { limit.isOver }
    let examples = ImportExamples()
    request.examples = examples
    let importer = Importer(coordinator: coordinator, request: request, largeLoad: .max)
    do {
      let end = try importer.run(in: context) {
        guard outcome.records >= records || limit.isOver else { return false }
        // What is taken back has no rejects any more.
        outcome.readRejects(rejects, options.reader)
        return true
      } report: {
        if $0.counts.records > 0 || outcome.progress == nil { outcome.progress = $0 }
      }
      // That it was a dry run goes without saying, so its note is left out.
      if case .finished(let progress, _, let notes) = end {
        outcome.progress = progress
        outcome.isWhole = true
        outcome.notes += notes
      }
    } catch let error as MappingError {
      outcome.failure = (showsValues ? error : error.withoutExample).description
    } catch let error as ReaderError {
      outcome.failure = error.description
    } catch let error as MaskingError {
      outcome.failure = error.description
    } catch let error as ManagedObjectError {
      outcome.failure = "\(error)"
    } catch is Interrupted {
      outcome.failure = "it can't be opened within \(Self.longest.components.seconds) s"
    }
    if outcome.rejects == nil { outcome.readRejects(rejects, options.reader) }
    outcome.examples = examples.all
    withExtendedLifetime(source) {}
    return outcome
  }

  /// The first rows, unless values of them are masked.
  private func firstRows(of extract: Extract) throws -> [String] {
    guard showsValues, let entity = coordinator.model.entitiesByName[self.entity], !options.mapping.masks(into: entity)
    else { return [] }
    return try extract.firstRows(Self.shownRows).enumerated().map { "row \($0 + 1): \($1)" }
  }

  /// The rows that a job would read, with at most as long a time.
  private func read(
    _ source: IncrementalSource, of recipe: String, in context: ManagedObjectContext,
    _ limit: TrialLimit
  ) throws -> Extract {
    var extraction = try Extraction(
      source, of: recipe, since: try RecipeCursor.read(recipe, in: context),
      to: folder.appendingPathComponent("extract.sqlite"))
    extraction.rowLimit = records
    extraction.openPostgres = PostgresSnapshot.open
    extraction.credentials = credentials
    extraction.shouldStop = { limit.isOver }
    guard let extract = try extraction.run() else { throw ExtractionError.timeLimit(Self.longest) }
    return extract
  }

  private func makeFolder() throws {
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func clear() {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // The next trial removes it first, and says so if it can't.
    }
  }
}

extension RecipeTrial.Outcome {
  fileprivate var records: Int64 { progress?.counts.records ?? 0 }

  fileprivate mutating func readRejects(_ file: URL, _ options: ReaderOptions) {
    guard let progress, progress.counts.rejected > 0, FileManager.default.fileExists(atPath: file.path) else { return }
    do {
      rejects = try RejectSummary.read(file, options: options)
    } catch {
      notes.append("why records were rejected is unknown: \(error)")
    }
  }
}

/// A file, compared with the model that it would be imported into. Bounded in time.
struct ModelComparisonTrial: Sendable {
  static let longest = Duration.seconds(60)

  let model: ManagedObjectModel
  let file: SubmittedFile
  let entity: String
  let options: ImportOptions
  let credentials: MaskCredentials

  /// Blocks.
  /// - Parameter limit: of ``longest``.
  /// - Throws: what has to do with the daemon; what has to do with the file or the recipe is the failure.
  func run(_ limit: TrialLimit) throws -> (found: SchemaDifference, failure: String?) {
    var request = ImportRequest(
      job: "diff", source: URL(fileURLWithPath: file.name), name: file.name, entity: entity, options: options,
      rejects: URL(fileURLWithPath: "/dev/null"))
    request.descriptor = file.descriptor
    request.credentials = credentials
    request.shouldStopWithinRecord = { limit.isOver }
    defer { withExtendedLifetime(file) {} }
    do {
      return (try SchemaScan(request, into: model).run { limit.isOver }, nil)
    } catch let error as MappingError {
      return (SchemaDifference(), error.description)
    } catch let error as ReaderError {
      return (SchemaDifference(), error.description)
    } catch let error as MaskingError {
      return (SchemaDifference(), error.description)
    } catch is Interrupted {
      return (SchemaDifference(), "it can't be opened within \(Self.longest.components.seconds) s")
    }
  }
}
