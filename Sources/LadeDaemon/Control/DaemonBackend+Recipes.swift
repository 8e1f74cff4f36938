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

  func recipes() -> [Recipe] {
    configuration.recipes.map { Recipe(name: $0.name, store: $0.store, entity: $0.entity, lane: $0.lane) }
  }

  func test(_ test: RecipeTest, by peer: Peer) async throws -> RecipeTestResult {
    try await translating {
      let file = try await trialFile(test, for: peer)
      let request = JobSubmission(
        store: test.store, entity: test.entity, recipe: test.recipe, mode: test.mode, options: test.options)
      let submission = try plan.submission(request, source: file?.name, by: peer.who)
      guard let name = submission.store, let store = stores[name], let entity = submission.entity else {
        throw ControlError.invalid(field: "store", reason: "it isn't said into which store and entity")
      }
      try await refuseWhileTaken(name)
      let options = try JSONDecoder().decode(
        ImportOptions.self, from: Data(try submission.encodedOptions().utf8))
      guard
        let source = file.map(TrialSource.file)
          ?? options.from.map({ TrialSource.database($0, recipe: test.recipe ?? "") })
      else { throw ControlError.invalid(field: "source", reason: "it isn't said which file is to be tried") }
      let trial = RecipeTrial(
        coordinator: store.coordinator, source: source, entity: entity, options: options,
        credentials: configuration.credentials ?? MaskCredentials(folder: nil),
        folder: URL(fileURLWithPath: configuration.state).appendingPathComponent("trial"),
        records: Int64(test.records ?? 1000))
      let outcome = try await Self.trialQueue.result { try trial.run() }
      return RecipeTestResult(
        store: name, entity: entity, mode: submission.mode,
        progress: outcome.progress.map { JobProgress($0) } ?? JobProgress(),
        isWhole: outcome.isWhole, notes: outcome.notes,
        failure: outcome.failure,
        rejects: outcome.rejects.map { RejectReport(job: 0, isFolder: entity == ImportRequest.feed, $0) }
          ?? RejectReport(job: 0))
    }
  }

  /// The file to try; nil if the recipe reads a database.
  private func trialFile(_ test: RecipeTest, for peer: Peer) async throws -> SubmittedFile? {
    guard let source = test.source else {
      if configuration.readsDatabase(test.recipe) { return nil }
      throw ControlError.invalid(
        field: "source", reason: "a test needs the path of a file, unless its recipe reads a database")
    }
    let folders = configuration.allowedFolders
    return try await directories.onQueue { [directories] in
      try directories.openSubmitted(source, for: peer.uid, allowedFolders: folders)
    }
  }

  /// A trial waits for the writer of its store. It is refused while that may take as long as a whole file.
  func refuseWhileTaken(_ store: String) async throws {
    for job in try await queue.jobs(JobFilter(states: [.running], store: store, limit: 64)) {
      let isAlone =
        job.kind == ImportOperation.kind
        ? try job.decodeOptions(as: ImportOptions.self).isWhole : plan.operations.access(of: job.kind) == .exclusive
      if isAlone {
        throw ControlError.conflict(
          reason: "Job \(job.id) (\(job.kind)) has store \(store) for itself.", hint: "Try it when that has ended.")
      }
    }
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
