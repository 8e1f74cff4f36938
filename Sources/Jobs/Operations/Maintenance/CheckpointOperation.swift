package import ManagedObjects

/// Copies a data store's write-ahead log into its file: kind `checkpoint`. Useful before the file is copied by other means.
///
/// Imports and readers go on beside it. Stopped or killed, what was copied stays so.
package final class CheckpointOperation: JobOperation, @unchecked Sendable {
  // Sendable: it adds nothing to its superclass.

  /// The kind of job that it does.
  package static let kind = "checkpoint"
  package override class var access: StoreAccess { .shared }

  /// The options of a submission.
  package struct Options: OperationOptions, Equatable {
    /// How far it goes: `passive`, `full`, `restart` or `truncate`.
    package var mode: LogFlushMode
    /// For how many seconds it waits for readers that still need the log, where the mode waits.
    package var patience: Double

    package enum CodingKeys: String, CodingKey, CaseIterable { case mode, patience }

    package init(mode: LogFlushMode = .truncate, patience: Double = 30) {
      self.mode = mode
      self.patience = patience
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      patience = try values.decodeIfPresent(Double.self, forKey: .patience) ?? 30
      mode = try values.decodeWord(LogFlushMode.self, forKey: .mode) ?? .truncate
      guard (0...86_400).contains(patience) else {
        throw Self.bad("patience is \(patience): it can be from 0 to 86400 seconds")
      }
    }
  }

  package override class func check(_ submission: JobSubmission, in model: ManagedObjectModel) throws {
    _ = try Options.read(submission)
  }

  package override func perform() throws -> JobOutcome {
    let options = try Options.read(job.options)
    let store = try maintainedStore()
    return try watched { watch in
      let result = try store.maintenance.flushLog(options.mode, timeout: .seconds(options.patience), watch)
      guard !result.isBusy || options.mode == .passive else {
        throw JobFailure(
          code: "busy",
          message:
            "\(store.name)'s log is still read: \(result.blocksMoved) of its \(result.blocksInLog) pages are in the "
            + "file; a checkpoint by mode passive does what is possible without waiting", isRetryable: true)
      }
      return .completed(
        progress(result), note: result.isBusy ? "readers still need the log: not all of it could be copied" : nil)
    }
  }

  private func progress(_ result: LogFlushResult) -> JobProgress {
    JobProgress(
      bytesDone: Int64(result.blocksMoved * result.blockSize), bytesTotal: Int64(result.blocksInLog * result.blockSize),
      records: Int64(result.blocksMoved))
  }
}
