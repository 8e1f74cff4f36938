import Foundation
import Importing

/// What a retry of rejects has beside its job: the numbers of its records, in the folder of the reject files.
struct RejectRetryFiles {
  let numbers: URL

  /// - Parameters:
  ///   - job: the job that retries.
  ///   - rejects: the folder of the reject files.
  init(job: Int64, rejects: String) {
    numbers = URL(fileURLWithPath: rejects).appendingPathComponent(RejectRetry.numbersName(job: job))
  }

  /// Removes them, if they are there. Blocks.
  func remove() throws {
    do {
      try FileManager.default.removeItem(at: numbers)
    } catch CocoaError.fileNoSuchFile {
      return
    }
  }

  /// The folder, in that of the daemon's state, in which the sources of retries are made.
  static let scratchName = "retries"

  /// Of the retries of one job's rejects only one is in the queue at a time, by this key.
  static func uniqueKey(of rejected: Int64) -> String { JobSubmission.keyOfRetries + String(rejected) }
}
