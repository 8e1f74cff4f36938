import Foundation
import Importing
import ManagedObjects

/// Imports a file of the spool's `active/` into a data store.
///
/// `main()` builds a private context over the store's coordinator, on the operation's own thread, and lets an
/// ``Importer`` drive it: batches are saved with the checkpoint of how far the job has come, so that a job which was
/// killed or drained continues from its last commit. Each save is merged into the main context of the store.
package final class ImportOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "import"

  package override func perform() throws -> JobOutcome {
    let request = try importRequest()
    let coordinator = try namedStore().coordinator
    let rejects = request.rejects.lastPathComponent
    let context = ManagedObjectContext(
      .confinement, coordinator: coordinator, name: "import \(job.id)", transactionAuthor: "job \(job.id)")
    let end = try end(of: Importer(coordinator: coordinator, request: request), request, in: context)
    switch end {
    case .finished(let last, _, _):
      return .completed(progress(last, rejects), note: end.notes.isEmpty ? nil : end.notes.joined(separator: "; "))
    case .stopped(let last):
      return isCancelled ? .cancelled(progress(last, rejects)) : .interrupted(progress(last, rejects))
    }
  }

  private func end(
    of importer: Importer, _ request: ImportRequest, in context: ManagedObjectContext
  ) throws -> ImportEnd {
    let rejects = request.rejects.lastPathComponent
    do {
      return try importer.run(
        in: context, shouldStop: { isCancelled || isDraining }, report: { report(progress($0, rejects)) })
    } catch {
      guard request.options.isWhole else { throw error }
      throw JobFailure(ofWholeImport: error)
    }
  }

  private func importRequest() throws -> ImportRequest {
    guard let activeName = job.activeName else {
      throw JobFailure(code: "no_source", message: "the job has no file to import", isRetryable: false)
    }
    guard let entity = job.entity else {
      throw JobFailure(code: "no_entity", message: "the job doesn't say into which entity", isRetryable: false)
    }
    let options: ImportOptions
    do {
      options = try job.decodeOptions(as: ImportOptions.self)
    } catch {
      throw JobFailure(code: "bad_options", message: "the job's options can't be read: \(error)", isRetryable: false)
    }
    return ImportRequest(
      job: checkpointName,
      source: environment.activeDirectory.appendingPathComponent(activeName), name: job.source ?? activeName,
      entity: entity, options: options,
      rejects: environment.rejectsDirectory.appendingPathComponent(rejectsName(options.reader)))
  }

  /// Rejects are in a file named after the job, so that it is read as the source was when it is dropped again; of a feed in
  /// a folder of such files.
  private func rejectsName(_ options: ReaderOptions) -> String {
    let name = String(job.id)
    if job.entity == ImportRequest.feed { return RejectFileName.folderName(job: name) }
    return RejectFileName.name(job: name, source: job.source ?? "", options)
  }

  private func progress(_ now: ImportProgress, _ rejects: String) -> JobProgress {
    JobProgress(
      bytesDone: now.bytesDone, bytesTotal: now.bytesTotal, records: now.counts.records,
      inserted: now.counts.inserted, updated: now.counts.updated, unchanged: now.counts.unchanged,
      deleted: now.counts.deleted, rejected: now.counts.rejected, skipped: now.counts.skipped,
      rejectsFile: now.counts.rejected > 0 ? rejects : nil)
  }
}
