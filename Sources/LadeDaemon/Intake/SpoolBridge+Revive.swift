import Importing
import Jobs
import Spool

/// Why a job that has ended can't be tried again, and what to do.
struct RevivalRefusal: Error, Equatable, CustomStringConvertible {
  let description: String
}

extension SpoolBridge {
  /// Brings the file of a job that has ended back to `active/`, before the job is tried again.
  ///
  /// How far an import had come was forgotten at its end, so it begins anew: which is the same as one run where records find
  /// their objects by key, and isn't where each is a new one.
  /// - Throws: ``RevivalRefusal``, or the spool's error.
  func revive(_ job: Job) async throws {
    guard job.kind == ImportOperation.kind else { return }
    guard let name = job.activeName else {
      throw RevivalRefusal(description: "it was ended before it had its file; submit that again")
    }
    let options = try job.decodeOptions(as: ImportOptions.self)
    if options.mode == .insert, !options.isWhole, job.progress.inserted > 0 {
      throw RevivalRefusal(
        description: "it has inserted \(job.progress.inserted) records, and would insert them again; submit those that "
          + "are missing, or the whole file by upsert, if the entity has a key")
    }
    guard try await directories.onQueue({ try directories.reclaim(name) }) else {
      throw RevivalRefusal(description: "its file, \(name), isn't in corrupt/ or done/ any more; submit it again")
    }
  }
}
