// Rule 5 (ARCHITECTURE.md) for replays: the jobs are durable, all or none, before a file is touched, and each waits for its file
// until that has a name in `active/`. After a kill in between, a start gives the rest their names.

import ControlAPI
import Foundation
import Importing
import Jobs
import Spool

/// Imports files again that are kept in `done/`.
struct Replays: Sendable {
  /// Below what else waits.
  private static let priority = -1000

  let plan: SubmissionPlan
  let directories: SpoolDirectories
  let queue: JobQueue

  /// What a replay of a recipe's files would do, or does.
  func replay(_ request: ReplayRequest, of recipe: String, by who: String) async throws -> ReplayResult {
    // Refuses a recipe that isn't there.
    let first = try plan.submission(submission(request, of: recipe), source: "", for: .replay, by: who)
    let found = try await files(request, of: recipe)
    let there = found.filter(\.isThere)
    guard there.count <= BatchSubmission.largest else {
      throw SubmissionProblem(
        field: "since", reason: "there are more files than the \(BatchSubmission.largest) that a replay can have",
        advice: "Say until, and replay the rest after it.")
    }
    let jobs = try there.map { try job(of: $0, request, of: recipe, by: who) }
    var result = ReplayResult(
      recipe: recipe, isDryRun: request.isDryRun, files: there.map(\.shown),
      missing: found.filter { !$0.isThere }.map(\.shown))
    result.notes = notes(first)
    guard !request.isDryRun, !there.isEmpty else { return result }
    let id = UUID().uuidString
    let members = zip(jobs, there).enumerated().map { place, each in
      var (job, file) = each
      job.origin = .replay(id: id, file: file.name)
      return BatchSubmission.Member(job, name: "\(place)", after: place == 0 ? [:] : ["\(place - 1)": .succeeded])
    }
    let batch = BatchSubmission(name: "replay of \(recipe)", jobs: members, submittedBy: who)
    let made = try await queue.submit(replay: batch, key: JobSubmission.keyOfReplays + recipe)
    result.batch = made.batch
    result.isOld = !made.isNew
    let numbers = try await queue.batch(made.batch).jobs
    if !made.isNew { (result.files, result.missing) = ([], []) }
    for (place, number) in numbers.enumerated() {
      let job = try await queue.job(number)
      if made.isNew, place < result.files.count { result.files[place].replay = number }
      if !made.isNew { result.files.append(ReplayFile(job, among: found)) }
      try await bring(job)
    }
    return result
  }

  /// Gives the file of a replay's job its name in `active/`, and lets the job run; or cancels it, and so those after it, if the
  /// file can't have one.
  func bring(_ job: Job) async throws {
    guard case .replay(_, let file)? = job.origin, job.isAwaitingFile, !job.state.isEnded else { return }
    let name = SpoolDirectories.activeName(job: job.id, originalName: job.source ?? file)
    do {
      if try await directories.onQueue({ [directories] in try directories.replay(file, as: name) }) {
        _ = try await queue.fileArrived(job.id, activeName: name, by: "replay")
      } else {
        _ = try await queue.cancel(job.id, by: "replay: \(file) isn't in done/ any more")
      }
    } catch let error as SpoolError {
      _ = try await queue.cancel(job.id, by: "replay: \(file) can't be taken from done/: \(error)")
    }
  }

  /// The job that imports a file again, without its origin.
  private func job(
    of file: ImportedFile, _ request: ReplayRequest, of recipe: String, by who: String
  ) throws -> JobSubmission {
    do {
      return try plan.submission(
        submission(request, of: recipe), source: file.source, files: file.filesOfSet, for: .replay, by: who)
    } catch let problem as SubmissionProblem {
      throw SubmissionProblem(
        field: problem.field, reason: "job \(file.job), \(file.source): \(problem.reason)", advice: problem.advice)
    }
  }

  private func submission(_ request: ReplayRequest, of recipe: String) -> JobSubmission {
    .replay(of: recipe, lane: request.lane, priority: request.priority ?? Self.priority)
  }

  private func notes(_ job: JobSubmission) -> [String] {
    guard job.mode == .insert else { return [] }
    return [
      "the recipe's mode is insert: objects that are in the store already are inserted again, unless a constraint forbids it"
    ]
  }

  // MARK: Files

  /// A file that was imported.
  fileprivate struct ImportedFile: Sendable {
    /// The job that did it.
    let job: Int64
    let source: String
    let submittedAt: Date
    /// Its name in `done/`.
    let name: String
    var isThere = false
    /// The names of its files, if it is a set.
    var filesOfSet: [String]?

    var shown: ReplayFile { ReplayFile(job: job, source: source, submittedAt: submittedAt) }
  }

  /// The files of a recipe's completed imports, in the order in which they were submitted, and one more than a replay can have at
  /// most. One that was replayed counts once.
  private func files(_ request: ReplayRequest, of recipe: String) async throws -> [ImportedFile] {
    var files: [ImportedFile] = []
    var filter = JobFilter(
      states: [.completed], kind: ImportOperation.kind, recipe: recipe, newestFirst: false, limit: 1000)
    filter.submittedSince = request.since
    filter.submittedUntil = request.until
    while files.count <= BatchSubmission.largest {
      let jobs = try await queue.jobs(filter)
      for job in jobs where job.isOfDelivery && !job.isDryRun {
        guard let name = job.activeName else { continue }
        files.append(
          ImportedFile(job: job.id, source: job.source ?? name, submittedAt: job.submittedAt, name: name))
      }
      guard jobs.count == filter.limit, let last = jobs.last else { break }
      filter.after = last.id
    }
    return try await directories.onQueue { [directories, files] in
      try files.map { file in
        var file = file
        file.isThere = try directories.isDone(file.name)
        file.filesOfSet = try directories.filesOfDoneSet(file.name)
        return file
      }
    }
  }
}

extension Job {
  /// Whether its file was handed in, and not made of rejects or replayed.
  fileprivate var isOfDelivery: Bool {
    switch origin {
    case .replay, .rejects: false
    default: true
    }
  }

  /// Few options have the word, and only those are read.
  fileprivate var isDryRun: Bool {
    guard options.contains("\"isDryRun\":true") else { return false }
    do throws(JobOptionsError) {
      return try decodeOptions(as: ImportOptions.self).isDryRun
    } catch {
      return false
    }
  }
}

extension ReplayFile {
  /// The file of a replay's own job.
  /// - Parameter originals: the jobs that imported the files before, as far as they are known.
  fileprivate init(_ job: Job, among originals: [Replays.ImportedFile]) {
    var number = job.id
    if case .replay(_, let file)? = job.origin { number = SpoolDirectories.job(ofActiveName: file) ?? number }
    let submittedAt = originals.first { $0.job == number }?.submittedAt ?? job.submittedAt
    self.init(job: number, source: job.source ?? "", submittedAt: submittedAt, replay: job.id)
  }
}
