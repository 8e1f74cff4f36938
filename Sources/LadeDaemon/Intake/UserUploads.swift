// An upload makes one job. The job's origin names the upload and is durable with the job; the job has a copy of the file before
// the upload is removed. A kill in between leaves a job without its file, which the next start cancels and which frees the
// upload; or an upload that a job has imported, which the next start removes. Until then a second import finds that job.

import Dispatch
import Jobs
import Logging
import Spool
import Synchronization

/// The uploads of all users, each user's on a queue of its own: one who waits for the disk doesn't hold up the others.
final class UserUploads: Sendable {
  private struct Line {
    let queue = DispatchQueue(label: "control.uploads")
    var waiting = 0
  }

  private let folder: UploadFolder
  private let logger: Logger
  /// Of users for whom something is being done.
  private let lines = Mutex<[UInt32: Line]>([:])

  /// - Parameter path: the folder of uploads, which need not exist.
  init(_ path: String, logger: Logger) {
    folder = UploadFolder(path)
    self.logger = logger
  }

  /// Does something with a user's uploads, after what was asked for before. The body may block.
  /// - Throws: what the body throws.
  func on<Value: Sendable>(
    _ user: UInt32, _ body: @escaping @Sendable (UploadFolder) throws -> Value
  ) async throws -> Value {
    let queue = lines.withLock { lines in
      lines[user, default: Line()].waiting += 1
      return lines[user]?.queue
    }
    defer {
      lines.withLock { lines in
        lines[user]?.waiting -= 1
        if lines[user]?.waiting == 0 { lines[user] = nil }
      }
    }
    guard let queue else { throw CancellationError() }
    return try await queue.result { [folder] in try body(folder) }
  }

  /// Removes an upload of which a job has a copy. If it can't be removed, the next start tries again.
  func remove(importedBy job: Job) async {
    guard case .upload(let user, let number)? = job.origin, !job.isAwaitingFile else { return }
    do {
      try await on(user) { try $0.remove(number, of: user) }
    } catch UploadRefusal.noSuchUpload {
      return
    } catch {
      logger.warning(
        "upload \(number) of user \(user) was imported and can't be removed: \(error)", metadata: ["job": "\(job.id)"])
    }
  }

  /// Removes what a kill has left of uploads that jobs have copies of. Before jobs run and before there are requests.
  func recover(_ queue: JobQueue) async throws {
    let all: [(user: UInt32, upload: UploadedFile)]
    do {
      all = try await DispatchQueue(label: "control.uploads").result { [folder] in
        let all = try folder.everyUpload()
        try folder.removeEmptyFolders()
        return all
      }
    } catch {
      // Imports don't need them.
      logger.warning("what is left of imported uploads can't be looked for: \(error)")
      return
    }
    for (user, upload) in all where upload.isWhole {
      guard let job = try await queue.job(madeFrom: .upload(user: user, number: upload.number)) else { continue }
      await remove(importedBy: job)
    }
  }
}

extension JobQueue {
  /// The job that was made from something; nil if there is none, or none any more.
  func job(madeFrom origin: JobOrigin) async throws -> Job? {
    var filter = JobFilter(limit: 1)
    filter.origin = origin
    return try await jobs(filter).first
  }
}
