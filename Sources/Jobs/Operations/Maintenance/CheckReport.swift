import Foundation
import Glibc
import ManagedObjects

/// The problems that a check finds: the first few in words, all of them in a file with one JSON object per line, up to a limit.
/// For the job's thread.
final class CheckReport {
  /// The report has as many problems as it can take.
  struct Full: Error {}

  /// The most problems in a report, and in the job's message.
  static let limit = 10_000
  static let shown = 5
  /// Reports that are kept in the folder.
  static let kept = 100

  private(set) var count = 0
  private(set) var repaired = 0
  /// The kinds of problems that were found.
  private(set) var kinds: Set<StoreProblem.Kind> = []
  private(set) var first: [String] = []
  private let folder: URL
  private let job: Int64
  private var file: (workspace: JobWorkspace, handle: FileHandle)?
  private let encoder = JSONEncoder()

  init(of job: Int64, in folder: URL) {
    self.job = job
    self.folder = folder
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// Notes a problem.
  /// - Throws: ``Full``, or ``JobFailure`` when it can't be written.
  func add(_ problem: StoreProblem) throws {
    guard count < Self.limit else { throw Full() }
    count += 1
    if problem.isRepaired == true { repaired += 1 }
    kinds.insert(problem.kind)
    if first.count < Self.shown { first.append(problem.description) }
    let handle = try file?.handle ?? begin()
    do {
      try handle.write(contentsOf: encoder.encode(problem) + Data("\n".utf8))
    } catch {
      let code = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code ?? Int(EIO)
      throw JobFailure(errno: Int32(clamping: code), folder.path)
    }
  }

  private func begin() throws -> FileHandle {
    let workspace = try JobWorkspace(job: job, in: folder)
    let url = workspace.file("report")
    guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o640]) else {
      throw JobFailure(errno: errno, url.path)
    }
    let handle = try FileHandle(forWritingTo: url)
    file = (workspace, handle)
    return handle
  }

  /// Gives the report its name, if there is anything in it.
  /// - Returns: the file.
  func publish() throws -> URL? {
    guard let file else { return nil }
    try file.handle.close()
    let name = "\(job).check.ndjson"
    try file.workspace.publish("report", as: name)
    self.file = nil
    try removeOld()
    return folder.appendingPathComponent(name)
  }

  private func removeOld() throws {
    let numbers = try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { name in
      name.hasSuffix(".check.ndjson") ? Int64(name.dropLast(".check.ndjson".count)) : nil
    }
    for number in numbers.sorted().dropLast(Self.kept) {
      try FileManager.default.removeItem(at: folder.appendingPathComponent("\(number).check.ndjson"))
    }
  }
}

/// One part of a check. It reports problems by ``CheckReport/add(_:)`` and observes the watch.
protocol CheckPart {
  /// Whether the options include it.
  static func isWanted(_ options: CheckOperation.Options) -> Bool
  /// Runs the check. An error that it throws ends the check: an error of the store is the job's failure.
  static func run(
    _ operation: CheckOperation, _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport,
    _ watch: MaintenanceWatch
  ) throws
}

/// The file's half: SQLite's own checks, references between rows, and what the store notes about itself.
enum FileCheckPart: CheckPart {
  static func isWanted(_ options: CheckOperation.Options) -> Bool { true }

  static func run(
    _ operation: CheckOperation, _ store: MaintainedStore, _ options: CheckOperation.Options, _ report: CheckReport,
    _ watch: MaintenanceWatch
  ) throws {
    try store.maintenance.checkIntegrity(options.depth, watch) { try report.add($0) }
  }
}
