// Rule 5 (ARCHITECTURE.md) for the files of schedules: a run's job is durable before its file is touched, and waits for it until a copy is
// whole in `active/`. After a kill in between the queue asks for it again, under the same name.

import Foundation
import Jobs
import Spool

/// Copies the files that schedules import.
struct ScheduledFiles: Sendable {
  let current: CurrentConfiguration
  let directories: SpoolDirectories
  let queue: JobQueue

  /// Brings the file of a job that a schedule made, or cancels the job with the reason.
  func fetch(_ job: Job, of name: String) async throws {
    do {
      let activeName = try await copy(for: job, of: name)
      _ = try await queue.fileArrived(job.id, activeName: activeName, by: "schedule \(name)")
    } catch let refusal as SubmissionRefusal {
      _ = try await queue.cancel(job.id, by: "schedule \(name): \(refusal)")
    } catch is ScheduleIsGone {
      _ = try await queue.cancel(
        job.id, by: "schedule \(name): it was taken out of the configuration before its file was there")
    }
  }

  private func copy(for job: Job, of name: String) async throws -> String {
    let configuration = current.now.configuration
    guard let path = configuration.schedule(named: name)?.work.source else { throw ScheduleIsGone() }
    let folders = configuration.allowedFolders
    return try await directories.onQueue { [directories] in
      // As for a user without files: the file's real path must be in an allowed folder.
      let file = try directories.openSubmitted(path, for: .max, allowedFolders: folders)
      let activeName = SpoolDirectories.activeName(job: job.id, originalName: file.name)
      try directories.adoptWithLog(file, as: activeName, forJobMade: job.submittedAt.timeIntervalSince1970)
      return activeName
    }
  }
}

private struct ScheduleIsGone: Error {}
