import ControlAPI
import ControlServer
import Dispatch
import Foundation
import Importing
import Jobs

extension DaemonBackend {
  /// Reject files are read one after the other: each takes a core for as long as it is.
  private static let rejectQueue = DispatchQueue(label: "control.rejects", qos: .utility)

  func rejects(_ id: Int64) async throws -> RejectReport {
    let job = try await translating { try await queue.job(id) }
    guard let name = job.progress.rejectsFile else { return RejectReport(job: id) }
    let file = URL(fileURLWithPath: configuration.rejects).appendingPathComponent(name)
    let options = try job.decodeOptions(as: ImportOptions.self).reader
    let summary = try await Self.rejectQueue.result { try Self.summary(of: file, options) }
    return RejectReport(job: id, file: file.path, isFolder: job.entity == ImportRequest.feed, summary)
  }

  private static func summary(of file: URL, _ options: ReaderOptions) throws -> RejectSummary {
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw ControlError.conflict(reason: "The job rejected records, and \(file.path) isn't there any more.")
    }
    do {
      return try RejectSummary.read(file, options: options)
    } catch {
      throw ControlError.conflict(reason: "\(file.path) can't be read as the job wrote it: \(error)")
    }
  }
}
