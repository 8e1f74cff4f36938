// Rules 3 and 4 (ARCHITECTURE.md): an undo takes back one save of the job at a time, from the last to the first. Its own save notes
// beside the rows which one that was (see JobCheckpoint), and records what it does as an import does, so it can be undone itself.
// A killed undo goes on with the save before. What stays as it is stands in a report, whose length is in the checkpoint: what a
// killed run wrote beyond it is cut off.

import Foundation
import Importing
package import ManagedObjects

/// Takes back what a job has done to the rows of a data store, as far as it was recorded: kind `undo`.
package final class UndoOperation: JobOperation, @unchecked Sendable {
  // Sendable: what it adds is touched by `perform` alone.

  /// The kind of job that it does.
  package static let kind = "undo"
  package override class var access: StoreAccess { .shared }
  /// How often a save is tried whose rows are changed by others between reading and saving.
  private static let attempts = 5

  /// What a submission may say beside the store.
  package struct Options: OperationOptions, Equatable {
    /// The number of the job that is taken back.
    package var job: Int64
    /// Whether rows are taken back that were changed since.
    package var isForced = false
    /// Whether everything is done and reported except the commit.
    package var isDryRun = false

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case job, isForced = "force", isDryRun = "dry_run"
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      guard let number = try values.number(.job, 1...Int.max) else {
        throw DecodingError.keyNotFound(
          CodingKeys.job, .init(codingPath: [], debugDescription: "it says which job is to be taken back"))
      }
      job = Int64(number)
      isForced = try values.flag(.isForced) ?? isForced
      isDryRun = try values.flag(.isDryRun) ?? isDryRun
    }
  }

  private var checkpoint = ImportCheckpoint()
  private var total: Int64 = 0

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission)
    try requireCheckpoints(in: model)
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let coordinator = try namedStore().coordinator
    try Self.requireCheckpoints(in: coordinator.model)
    let context = try context()
    checkpoint = try ImportCheckpoint.read(checkpointName, in: context) ?? ImportCheckpoint()
    context.reset()
    let report = try UndoReport(
      of: job.id, in: environment.reportsDirectory, length: checkpoint.rejectsLength)
    if checkpoint.isFinished { return try completed(report, options) }
    let record = try record(of: options, in: context)
    total = record.rows
    context.reset()
    self.report(progress)
    if options.isDryRun {
      return try dryRun(options, report, in: context)
    }
    guard try takeBack(options, report, in: context) else {
      return isCancelled ? .cancelled(progress) : .interrupted(progress)
    }
    return try completed(report, options)
  }

  /// What was recorded of the job.
  /// - Throws: ``JobFailure`` where it can't be taken back.
  private func record(of options: Options, in context: ManagedObjectContext) throws -> JobReversal.Record {
    guard let record = try JobReversal.record(of: name(of: options.job), in: context) else {
      throw JobFailure(
        code: "nothing_recorded",
        message:
          "the store doesn't know what job \(options.job) has done, so that can't be taken back: before a job runs, its recipe "
          + "or the user info of its entity must say lineage: true. A job that changed nothing has nothing to be taken back",
        isRetryable: false)
    }
    let isBegun = !checkpoint.position.state.isEmpty || checkpoint.position.byteOffset > 0
    if record.undoneBy != 0, record.undoneBy != job.id, !options.isForced {
      throw JobFailure(
        code: "already_undone",
        message: "job \(options.job) was taken back by job \(record.undoneBy): undo that one to have its rows again",
        isRetryable: false)
    }
    if record.lacksValues, !options.isForced, !isBegun {
      throw JobFailure(
        code: "expired",
        message:
          "the former values of what job \(options.job) has changed aren't kept any more (keep.undo), so it can't be taken "
          + "back as a whole; with force what it inserted is deleted, and the rest stays", isRetryable: false)
    }
    return record
  }

  private func name(of job: Int64) -> String { JobCheckpoint.name(job, queue: environment.queueIdentifier) }

  // MARK: Taking back

  private func dryRun(
    _ options: Options, _ report: UndoReport, in context: ManagedObjectContext
  ) throws -> JobOutcome {
    let coordinator = context.persistentStoreCoordinator
    guard let jobs = coordinator.model.entitiesByName[ImportModel.checkpointEntity] else {
      return .completed(progress)
    }
    let isWhole = try coordinator.inOneTransaction(of: coordinator.store(of: jobs)) {
      (try takeBack(options, report, in: context), .rollBack)
    }
    guard isWhole else { return isCancelled ? .cancelled(JobProgress()) : .interrupted(JobProgress()) }
    return try completed(report, options)
  }

  /// Whether it came to the end.
  private func takeBack(_ options: Options, _ report: UndoReport, in context: ManagedObjectContext) throws -> Bool {
    var origin = lineageOrigin
    origin.undoes = options.job
    guard let scope = LineageScope(true, of: nil, in: context.model) else { return true }
    let recorder = LineageRecorder(context, job: checkpointName, origin, entity: "", scope)
    let reversal = JobReversal(context, job: name(of: options.job), isForced: options.isForced)
    try begin(reversal, in: context)
    while true {
      if stopped(progress) != nil { return false }
      context.reset()
      // The number of the last save stands where an import has its reader's state.
      guard let save = try reading({ try reversal.save(before: Int64(checkpoint.position.state)) }) else { break }
      try takeBack(save, reversal, recorder, report, in: context)
      self.report(progress)
    }
    context.reset()
    // Where an import has its source's identity, the job stands that had taken back the same before.
    let former = Int64(checkpoint.identity) ?? 0
    // What one that was given up has left to do is done now, too.
    let hasDone = try former < 0 || JobReversal.record(of: checkpointName, in: context) != nil
    if hasDone {
      try reversal.reopenRejects(by: job.id) {
        try context.save()
        context.reset()
      }
    }
    context.reset()
    recorder.begin()
    var next = checkpoint
    next.isFinished = true
    try next.write(to: ImportCheckpoint.object(checkpointName, in: context))
    try reversal.noteEnd(by: job.id, former: hasDone ? nil : former)
    try recorder.finish()
    try context.save()
    context.reset()
    checkpoint = next
    return true
  }

  /// Notes in the store that the job is being taken back, so that it can't go on.
  private func begin(_ reversal: JobReversal, in context: ManagedObjectContext) throws {
    var attempt = 1
    while true {
      context.reset()
      var next = checkpoint
      let object = try ImportCheckpoint.object(checkpointName, in: context)
      let former = try reversal.noteBegin(by: job.id)
      if next.identity.isEmpty { next.identity = String(former) }
      try next.write(to: object)
      do {
        try context.save()
        checkpoint = next
        return
      } catch ManagedObjectError.mergeConflicts where attempt < Self.attempts {
        attempt += 1
      }
    }
  }

  /// Takes back one save of the job by one save of this one, or by several of a part each where the store refuses it and doesn't
  /// say which rows are at fault.
  private func takeBack(
    _ save: Int64, _ reversal: JobReversal, _ recorder: LineageRecorder, _ report: UndoReport,
    in context: ManagedObjectContext
  ) throws {
    var size = Int(Int32.max)
    while true {
      // Where an import has the number of bytes it has read, the number of rows stands that earlier parts have dealt with.
      let first = Int(checkpoint.position.byteOffset)
      switch try takeBack(save, first..<(first + size), reversal, recorder, report, in: context) {
      case .done: return
      case .partial:
        if stopped(progress) != nil { return }
        size = min(2 * size, Int(Int32.max))
      case .refused(let rows): size = max(1, min(rows, size) / 2)
      }
    }
  }

  private enum PartOutcome {
    case done
    /// There are more rows in the save.
    case partial
    /// The store refuses the part, and doesn't say because of which of its rows.
    case refused(rows: Int)
  }

  /// Takes back a part of a save. Rows that it turns out not to be possible for are left alone.
  private func takeBack(
    _ save: Int64, _ part: Range<Int>, _ reversal: JobReversal, _ recorder: LineageRecorder, _ report: UndoReport,
    in context: ManagedObjectContext
  ) throws -> PartOutcome {
    var refused: [ManagedObjectID: JobReversal.Kept] = [:]
    var attempt = 1
    while true {
      context.reset()
      recorder.begin()
      let object = try ImportCheckpoint.object(checkpointName, in: context)
      let (step, others) = try reversal.takeBack(save, part, except: refused)
      guard others.isEmpty else {
        refused.merge(others) { first, _ in first }
        continue
      }
      var next = checkpoint
      let isLast = part.upperBound >= step.total
      next.position.byteOffset = isLast ? 0 : Int64(part.upperBound)
      if isLast { next.position.state = String(save) }
      next.counts.records += step.rows
      next.position.record = next.counts.records
      next.counts.deleted += step.deleted
      next.counts.updated += step.restored
      next.counts.inserted += step.inserted
      next.counts.unresolved += step.lostReferences
      next.counts.rejected += try report.write(step.kept, after: &next.rejectsLength)
      try next.write(to: object)
      try recorder.record()
      do {
        try context.save()
        checkpoint = next
        return isLast ? .done : .partial
      } catch ManagedObjectError.mergeConflicts where attempt < Self.attempts {
        attempt += 1
      } catch {
        let more = reversal.refusals(error).filter { kept in kept.id.map { refused[$0] == nil } ?? false }
        for kept in more { if let id = kept.id { refused[id] = kept } }
        if !more.isEmpty { continue }
        guard Self.isOfRows(error) else { throw error }
        let rows = min(part.upperBound, step.total) - part.lowerBound
        if rows > 1 { return .refused(rows: rows) }
        guard let only = reversal.refusal(ofOnly: error), let id = only.id else { throw error }
        refused[id] = only
      }
    }
  }

  /// Whether rows are at fault, so that it may be possible to go on without some.
  private static func isOfRows(_ error: any Error) -> Bool {
    switch error {
    case ManagedObjectError.validation, ManagedObjectError.constraintConflicts, ManagedObjectError.brokenReferences:
      true
    default: false
    }
  }

  // MARK: The result

  private func completed(_ report: UndoReport, _ options: Options) throws -> JobOutcome {
    let counts = checkpoint.counts
    var notes: [String] = []
    if options.isDryRun { notes.append("dry run: nothing was changed") }
    if counts.unresolved > 0 {
      notes.append("\(counts.unresolved) reference(s) couldn't be set again, since what they led to is gone")
    }
    if counts.rejected > 0 {
      let rows = counts.rejected == 1 ? "1 row stays as it is" : "\(counts.rejected) rows stay as they are"
      var note = "\(rows): \(try report.first().joined(separator: "; "))"
      if counts.rejected > Int64(UndoReport.shown) { note += "; …" }
      notes.append(note)
    } else if counts.deleted + counts.updated + counts.inserted == 0 {
      notes.append("there was nothing left to take back")
    }
    if let file = report.file, checkpoint.rejectsLength > 0 {
      notes.append("the report has every row and the reason: \(file.path)")
    }
    return .completed(progress, note: notes.isEmpty ? nil : notes.joined(separator: "; "))
  }

  private var progress: JobProgress {
    let counts = checkpoint.counts
    return JobProgress(
      records: counts.records, inserted: counts.inserted, updated: counts.updated, unchanged: counts.rejected,
      deleted: counts.deleted, recordsTotal: max(total, counts.records))
  }
}
