import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Importing
import Jobs
import Spool

extension DaemonBackend {
  /// One file is tried at a time: it takes a core, and its store's turn to write.
  static let trialQueue = DispatchQueue(label: "control.trial")
  /// Columns are asked for while a person waits, and don't wait for trials: a comparison may take a minute.
  private static let columnQueue = DispatchQueue(label: "control.columns")

  func recipes() -> [Recipe] {
    let used = configuration.recipes.map {
      Recipe(name: $0.name, store: $0.store, entity: $0.entity, lane: $0.lane, isSaved: $0.isSaved)
    }
    return used + configuration.recipeFaults.map { Recipe(name: $0.recipe, isSaved: true, fault: $0.reason) }
  }

  func test(_ test: RecipeTest, by peer: Peer) async throws -> RecipeTestResult {
    try await translating {
      let request = JobSubmission(
        store: test.store, entity: test.entity, recipe: test.recipe, mode: test.mode, options: test.options)
      let subject = try await subject(request, test.source, by: peer)
      let (name, entity) = (subject.store.configuration.name, subject.entity)
      try await refuseWhileTaken(name)
      let trial = RecipeTrial(
        coordinator: subject.store.coordinator, source: subject.source, entity: entity, options: subject.options,
        credentials: credentials,
        folder: URL(fileURLWithPath: configuration.state).appendingPathComponent(RecipeTrial.folderName),
        records: Int64(test.records ?? 1000), showsValues: subject.showsValues)
      let outcome = try await Self.trialQueue.trial(within: RecipeTrial.longest) { try trial.run($0) }
      return RecipeTestResult(
        store: name, entity: entity, mode: subject.options.mode,
        progress: outcome.progress.map { JobProgress($0) } ?? JobProgress(),
        isWhole: outcome.isWhole, notes: outcome.notes,
        failure: outcome.failure,
        rejects: rejects(outcome, of: subject),
        examples: subject.showsValues ? outcome.examples.map { RecipeTestExample($0) } : [],
        rows: try await firstRows(test.rows ?? 0, of: subject))
    }
  }

  private func rejects(_ outcome: RecipeTrial.Outcome, of subject: Subject) -> RejectReport {
    guard let found = outcome.rejects else { return RejectReport(job: 0) }
    var report = RejectReport(job: 0, isFolder: subject.entity == ImportRequest.feed, found)
    if !subject.showsValues {
      for group in report.groups.indices { report.groups[group].examples = [] }
    }
    return report
  }

  /// The first records as they would be stored; nil for none, and where a whole import fails, which the test says.
  private func firstRows(_ rows: Int, of subject: Subject) async throws -> ObjectPage? {
    guard rows > 0, subject.showsValues, case .file(let file) = subject.source else { return nil }
    let reading = FirstRecords(
      model: subject.store.coordinator.model, file: file, entity: subject.entity, options: subject.options,
      credentials: credentials)
    return try await Self.trialQueue.trial(within: FirstRecords.longest) { try reading.rows(rows, $0) }
  }

  func columns(_ request: ModelDiffRequest, by peer: Peer) async throws -> FileColumns {
    try await translating {
      let submission = JobSubmission(
        store: request.store, entity: request.entity, recipe: request.recipe, options: request.options)
      let subject = try await subject(submission, request.source, by: peer)
      guard case .file(let file) = subject.source, subject.entity != ImportRequest.feed else {
        throw ControlError.invalid(
          field: "entity", reason: "only the columns of one file can be asked for, and only for one entity")
      }
      let model = subject.store.coordinator.model
      // A first line that isn't a header has values, too.
      if !subject.isUpload, let entity = model.entitiesByName[subject.entity],
        subject.options.mapping.masks(into: entity)
      {
        throw ControlError.forbidden(
          reason: "Values of \(entity.name) are masked, and the file may have them in clear.",
          hint: "Who uploads a file sees its columns.")
      }
      let reading = FirstRecords(
        model: model, file: file, entity: subject.entity, options: subject.options, credentials: credentials)
      var columns = FileColumns(store: subject.store.configuration.name, entity: subject.entity)
      columns = try await Self.columnQueue.trial(within: FirstRecords.longest) { [columns] in
        try reading.columns(columns, $0)
      }
      if !subject.showsValues {
        for place in columns.columns.indices { columns.columns[place].values = [] }
      }
      return columns
    }
  }

  func diff(_ diff: ModelDiffRequest, by peer: Peer) async throws -> ModelDiff {
    try await translating {
      let request = JobSubmission(
        store: diff.store, entity: diff.entity, recipe: diff.recipe, options: diff.options)
      let subject = try await subject(request, diff.source, by: peer)
      guard case .file(let file) = subject.source else {
        throw ControlError.invalid(field: "recipe", reason: "it reads a database, and only files are compared")
      }
      let comparison = ModelComparisonTrial(
        model: subject.store.coordinator.model, file: file, entity: subject.entity, options: subject.options,
        credentials: credentials)
      let (found, failure) = try await Self.trialQueue.trial(within: ModelComparisonTrial.longest) {
        try comparison.run($0)
      }
      return ModelDiff(
        store: subject.store.configuration.name, entity: subject.entity, records: found.records,
        isWhole: found.isWhole,
        changes: found.changes.map { found in
          var change = ModelDiff.Change(found)
          if !subject.showsValues { change.example = nil }
          return change
        }, others: found.others,
        failure: failure)
    }
  }

  /// A source that is looked at without a job, and what it would be imported into.
  private struct Subject {
    let source: TrialSource
    let store: DataStores.Store
    let entity: String
    let options: ImportOptions
    /// Whether who asks has uploaded it.
    let isUpload: Bool
    /// Whether values of it are shown to who asks: operators see those of all files, others those of their own. Of the file of
    /// somebody else, in one of the allowed folders, others see names and types.
    let showsValues: Bool
  }

  /// - Parameter path: the file; nil if the recipe reads a database.
  private func subject(_ request: JobSubmission, _ path: String?, by peer: Peer) async throws -> Subject {
    let file = try await file(path, for: request.recipe, by: peer)
    let submission = try plan.submission(request, source: file?.name, by: peer.who)
    guard let name = submission.store, let store = stores[name], let entity = submission.entity else {
      throw ControlError.invalid(field: "store", reason: "it isn't said into which store and entity")
    }
    var options = try JSONDecoder().decode(
      ImportOptions.self, from: Data(try submission.encodedOptions().utf8))
    options.mode = submission.mode
    guard
      let source = file.map(TrialSource.file)
        ?? options.from.map({ TrialSource.database($0, recipe: request.recipe ?? "") })
    else { throw ControlError.invalid(field: "source", reason: "it isn't said which file is meant") }
    let isUpload = path.flatMap { Upload.id(ofSource: $0) } != nil
    return Subject(
      source: source, store: store, entity: entity, options: options, isUpload: isUpload,
      showsValues: isUpload || file?.owner == peer.uid || permissions.isOperator(peer.uid))
  }

  private func file(_ path: String?, for recipe: String?, by peer: Peer) async throws -> SubmittedFile? {
    guard let path else {
      if configuration.readsDatabase(recipe) { return nil }
      throw ControlError.invalid(
        field: "source", reason: "the path of a file is needed, unless the recipe reads a database")
    }
    return try await opened(path, by: peer)
  }

  private var credentials: MaskCredentials { configuration.credentials ?? MaskCredentials(folder: nil) }

  /// A trial waits for the writer of its store. It is refused while that may take as long as a whole file.
  func refuseWhileTaken(_ store: String) async throws {
    for job in try await queue.jobs(JobFilter(states: [.running], store: store, limit: 64)) {
      let isAlone =
        job.kind == ImportOperation.kind
        ? try job.decodeOptions(as: ImportOptions.self).hasStoreAlone
        : plan.operations.access(of: job.kind) == .exclusive
      if isAlone {
        throw ControlError.conflict(
          reason: "Job \(job.id) (\(job.kind)) has store \(store) for itself.", hint: "Try it when that has ended.")
      }
    }
  }
}

extension ModelDiff.Change {
  init(_ change: SchemaDifference.Change) {
    self.init(
      subject: change.subject.rawValue, file: change.file, entity: change.entity, column: change.column,
      attribute: change.attribute, type: change.type?.rawValue, newType: change.newType?.rawValue,
      values: change.values, example: change.example, line: change.line, contract: change.term.rawValue)
  }
}

extension RecipeTestExample {
  fileprivate init(_ example: ImportExamples.Example) {
    self.init(
      change: example.isNew ? .inserted : .updated, entity: example.entity, key: example.key,
      values: example.changes.map { .init(property: $0.property, old: $0.old, new: $0.new) })
  }
}

extension RejectReport {
  init(job: Int64, file: String? = nil, isFolder: Bool, _ summary: RejectSummary) {
    self.init(
      job: job, file: file, isFolder: isFolder, count: summary.count,
      groups: summary.groups.map { group in
        Group(
          code: group.code, column: group.column, count: group.count,
          examples: group.examples.map {
            .init(number: $0.number, line: $0.line, message: $0.message, record: $0.record)
          })
      }, others: summary.others)
  }
}
