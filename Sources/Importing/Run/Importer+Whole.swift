// An import by file is one transaction of the store: batches, references, checkpoint and indexes are committed together,
// so that readers see all of the file or nothing, and a kill leaves nothing: the next run begins anew, checkpoint included,
// and writes its reject file anew. A dry run is the same, and never committed.
//
// Indexes are postponed as for any large load. Taking them away and making them is part of the transaction, so that readers
// have them all the time; keeping them up row by row would write pages of theirs to the log again and again.

import ManagedObjects

/// What a run has told last. On its thread.
final class LastReport {
  var progress: ImportProgress?
}

extension Importer {
  /// Runs the load in one transaction, if it is to be one and isn't part of one: it is committed when the load has come to its end.
  ///
  /// - Parameters:
  ///   - begin: where the load begins, and what the store knows of it if it is taken back.
  ///   - last: what the load has told.
  func inOneTransaction(
    of store: PersistentStore, _ begin: ImportCheckpoint, _ last: LastReport, _ report: (ImportProgress) -> Void,
    _ load: () throws -> ImportEnd
  ) throws -> ImportEnd {
    guard request.options.isWhole, part == nil else { return try load() }
    do {
      return try coordinator.inOneTransaction(of: store) {
        let end = try load()
        switch end {
        case .finished(let progress, let notes) where request.options.isDryRun:
          return (.finished(progress, notes: ["dry run: nothing was committed"] + notes), .rollBack)
        case .finished: return (end, .commit)
        case .stopped: return (end, .rollBack)
        }
      }
    } catch {
      if let progress = last.progress { report(progress.takenBack(to: begin)) }
      throw error
    }
  }
}

extension ImportProgress {
  /// How an import stands that has failed here and committed nothing: what it has read and rejected is known all the same.
  fileprivate func takenBack(to begin: ImportCheckpoint) -> ImportProgress {
    var left = self
    left.counts = begin.counts
    left.counts.records = counts.records
    left.counts.rejected = counts.rejected
    left.counts.skipped = counts.skipped
    return left
  }
}
