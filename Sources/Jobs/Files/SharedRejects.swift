// The rejects of a job whose file any daemon may have. Each batch's are in the queue's store, as in the reject file, before the
// checkpoint that counts them is committed (rule 7, ARCHITECTURE.md). So a claimant elsewhere has exactly those that the
// checkpoint counts: it isn't possible to find them again by reading the records before, since what was rejected depends on what
// was in the data store then.

package import Foundation
import Glibc
import Importing

/// The reject files of one job in the store of a shared queue. Calls block.
package struct SharedRejects: RejectCopy {
  private let parts: FileParts
  private let job: Int64
  /// Whether they are changed by the daemon that runs the job, and not after its end.
  private let isOfRun: Bool

  init(_ parts: FileParts, of job: Job) {
    self.parts = parts
    self.job = job.id
    isOfRun = !job.state.isEnded
  }

  package func write(_ bytes: [UInt8], at offset: Int64, of name: String, closing: [UInt8]) throws {
    try parts.write(Data(bytes), of: job, name, at: offset, closing: Data(closing), isOfRun: isOfRun)
  }

  package func cut(_ name: String, to length: Int64) throws {
    try parts.cut(job, name, to: length, isOfRun: isOfRun)
  }

  package func read(_ name: String, to length: Int64, _ body: ([UInt8]) throws -> Void) throws {
    let found = try parts.read(job, name, to: length) { bytes, _ in try body([UInt8](bytes)) }
    guard found == length else {
      throw JobFailure(
        code: "damaged_rejects",
        message: "the queue's store has \(found) of the \(length) bytes that job \(job) had rejected: submit its file "
          + "as a new job", isRetryable: false)
    }
  }

  /// Writes all of the job's reject files to a folder, which is there when they are whole.
  package func write(to folder: URL) throws {
    let files = FileManager.default
    let part = folder.deletingLastPathComponent()
      .appendingPathComponent(".\(folder.lastPathComponent).\(UUID().uuidString)")
    try files.createDirectory(at: part, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    do {
      for name in try parts.rejectFiles(of: job) {
        let file = part.appendingPathComponent(name)
        try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { _ = Result { try handle.close() } }
        var closing = Data()
        try parts.read(job, name) { bytes, end in
          try handle.write(contentsOf: bytes)
          closing = end ?? Data()
        }
        try handle.write(contentsOf: closing)
      }
      if files.fileExists(atPath: folder.path) { try files.removeItem(at: folder) }
      try files.moveItem(at: part, to: folder)
    } catch {
      try files.removeItem(at: part)
      throw error
    }
  }
}
