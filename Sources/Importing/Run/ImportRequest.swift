package import Foundation
import ManagedObjects

/// What an import is to do.
package struct ImportRequest: Sendable {
  /// Names the job in its checkpoint. No two jobs share it.
  package var job: String
  /// The file, or a folder with the files of a set. It must not change while the import runs.
  package var source: URL
  /// An open descriptor of the file, valid as long as the import runs; nil to open the file by its path.
  package var descriptor: Int32?
  /// Whether the file was moved or copied to its place, so that the log of a SQLite database stayed behind.
  package var isMoved = false
  /// The file's name as it was submitted. Its ending may tell the format.
  package var name: String
  /// The entity that the records become, or ``feed``.
  package var entity: String
  package var options: ImportOptions
  /// The reject file; for a ``feed``, a folder with one file for each member that has rejects.
  package var rejects: URL
  /// Where its rejects are kept once more, if it may go on elsewhere; nil otherwise.
  package var rejectCopy: (any RejectCopy)?
  /// What it resolves, if the source is made of the rejects of another job.
  package var retry: RejectRetry?
  /// What becomes of the recipe's cursor when all rows of its incremental source are in the store; nil for any other source.
  package var cursor: CursorMove?
  /// Whether to stop within a record, whose filter may take long; called often, on another thread than the import's. It must
  /// be so for good, as what is asked between batches.
  package var shouldStopWithinRecord: @Sendable () -> Bool = { false }
  /// Where the keys of masks are.
  package var credentials = MaskCredentials.ofProcess
  /// What is recorded of the job, if its rows are recorded to come from it.
  package var origin = LineageOrigin()
  /// Takes some of the objects that are inserted or changed; nil where that isn't wanted. It makes the first batches slower.
  package var examples: ImportExamples?
  /// Takes the place of an entity: each file of an archive goes into the entity that it belongs to, in the order of their
  /// references. A file that isn't an archive goes into the entity that its name says.
  package static let feed = "*"

  package init(
    job: String, source: URL, name: String, entity: String, options: ImportOptions, rejects: URL
  ) {
    self.job = job
    self.source = source
    self.name = name
    self.entity = entity
    self.options = options
    self.rejects = rejects
  }

  /// For one reading of a source.
  func makeInterruption() -> Interruption {
    Interruption { [shouldStopWithinRecord] in shouldStopWithinRecord() ? .cancelled : nil }
  }
}

/// The progress of an import, after a batch or at its end.
package struct ImportProgress: Sendable, Hashable {
  package var counts: ImportCounts
  package var bytesDone: Int64
  package var bytesTotal: Int64

  /// The progress after a failure that rolled the import back: what was read and rejected is known all the same.
  func rolledBack(to begin: ImportCheckpoint) -> ImportProgress {
    var left = self
    left.counts = begin.counts
    left.counts.records = counts.records
    left.counts.rejected = counts.rejected
    left.counts.skipped = counts.skipped
    return left
  }
}

/// How an import ended.
package enum ImportEnd: Sendable, Hashable {
  /// What became of the changes of an import that reached the end of its source.
  package enum Commit: Sendable, Hashable {
    /// Everything is in the store and safe from a power failure.
    case committed
    /// A dry run: nothing was committed, and the progress says what would have been.
    case dryRun
  }

  /// The import reached the end of its source. The notes are for a person.
  case finished(ImportProgress, Commit, notes: [String])
  /// Stopped between two batches because the caller asked for it. Another run continues from here, except that an import
  /// of a whole file has committed nothing and starts again.
  case stopped(ImportProgress)

  /// Everything that a person should read about a finished import: first that it was a dry run, if it was one.
  package var notes: [String] {
    switch self {
    case .finished(_, .committed, let notes): notes
    case .finished(_, .dryRun, let notes): ["dry run: nothing was committed"] + notes
    case .stopped: []
    }
  }

  /// Whether it reached the end of its source.
  package var isFinished: Bool {
    if case .finished = self { return true }
    return false
  }

  /// The progress at the end.
  package var progress: ImportProgress {
    switch self {
    case .finished(let progress, _, _), .stopped(let progress): progress
    }
  }
}

/// How an import asks its caller whether to stop, and reports its progress. Used on the import's thread only.
struct ImportControl {
  /// Asked before each batch.
  let shouldStop: () -> Bool
  /// Called after each batch.
  let report: (ImportProgress) -> Void
}
