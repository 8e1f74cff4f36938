import Foundation
import Glibc
import Importing
import Jobs
import Spool

/// What the operations of a queue that daemons share need of the spool.
extension JobEnvironment {
  /// Has files of jobs travel between hosts.
  /// - Parameter limit: how long one may be that is sent; nil for none. Those of others are received all the same.
  mutating func shareFiles(upTo limit: Int64?, _ directories: SpoolDirectories, _ current: CurrentConfiguration) {
    sharedFileLimit = limit
    // What nothing keeps in clear isn't kept in the database either.
    sharesFile = { !current.now.plan.masks($0) }
    receiveFile = { name, file, copy in
      do {
        try directories.receive(name, file, copy: copy)
      } catch let error as SpoolError {
        throw JobFailure(code: error.isFullDisk ? "disk_full" : "file", message: "\(error)", isRetryable: true)
      }
    }
  }
}

/// The rejects of jobs that any daemon may run are in the queue's database. They are brought to a folder of the daemon's when
/// a client asks for them. The next start empties it.
struct SharedRejectFolders: Sendable {
  /// In the daemon's state.
  static let folderName = "shared-rejects"

  private let root: URL

  init(state: String) { root = URL(fileURLWithPath: state).appendingPathComponent(Self.folderName) }

  /// The folder of a job's rejects. They don't change once the job has ended, unless it is claimed again.
  func folder(of job: Job) -> URL {
    root.appendingPathComponent(job.state.isEnded ? "\(job.id).\(job.claim)" : "\(job.id).part")
  }

  /// Brings the rejects of a job to its folder. Blocks.
  func bring(_ rejects: SharedRejects, of job: Job) throws {
    let folder = folder(of: job)
    if job.state.isEnded, FileManager.default.fileExists(atPath: folder.path) { return }
    try rejects.write(to: folder)
  }

  /// Removes what was brought of a job. Blocks.
  func remove(_ job: Job) throws {
    for name in ["\(job.id).\(job.claim)", "\(job.id).part"] {
      do { try FileManager.default.removeItem(at: root.appendingPathComponent(name)) } catch CocoaError.fileNoSuchFile {
        continue
      }
    }
  }
}
