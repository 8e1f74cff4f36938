import Foundation
import LadeTypes
import Logging
import ManagedObjects
import SQLiteStore

@testable import Jobs

/// A data store that is open, and jobs that work on it.
final class StoreSession {
  let folder: URL
  let coordinator: PersistentStoreCoordinator

  init(_ folder: URL, _ model: ManagedObjectModel) throws {
    self.folder = folder
    coordinator = PersistentStoreCoordinator(model: model)
    // Caches that hold little and a short log: most pages are read and written more than once.
    var description = PersistentStoreDescription.sqlite(
      at: folder.appendingPathComponent("main.sqlite"),
      options: .init(pageSize: 4096, writerCache: 64 << 10, readerCache: 64 << 10, checkpointSize: 64 << 10))
    // A log that can't be checkpointed is none of a job's failures.
    description.backgroundFailureHandler = { _ in }
    try coordinator.addPersistentStore(description)
  }

  func close() throws { try coordinator.close() }

  /// Makes the folders that jobs use.
  static func makeFolders(in folder: URL) throws {
    for name in ["active", "rejects", "backups", "reports", "exports"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
    }
  }

  /// Runs a job to its end.
  /// - Throws: ``JobFailure``.
  func run(
    _ operation: JobOperation.Type, id: Int64 = 7, options: String, change: (inout Job) -> Void = { _ in }
  ) throws -> JobProgress {
    var job = Job(
      id: id, kind: "test", lane: "import", state: .running, submittedAt: Date(timeIntervalSince1970: 1),
      submittedBy: "test", maxAttempts: 1)
    job.store = "main"
    job.options = options
    change(&job)
    var environment = JobEnvironment(
      dataStores: ["main": coordinator], activeDirectory: folder.appendingPathComponent("active"),
      rejectsDirectory: folder.appendingPathComponent("rejects"), queueIdentifier: "test",
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    environment.upkeep = [
      "main": StoreUpkeep(backupFolder: folder.appendingPathComponent("backups"), keptBackups: 5, compression: .none)
    ]
    environment.reportsDirectory = folder.appendingPathComponent("reports")
    let run = operation.init(job: job, environment: environment)
    run.main()
    switch run.outcome {
    case .completed(let progress, _): return progress
    case .failed(let failure, _): throw failure
    case .cancelled, .interrupted: throw UnexpectedEnd(outcome: run.outcome)
    }
  }
}

/// A job that nobody has stopped says that it was stopped.
struct UnexpectedEnd: Error {
  let outcome: JobOutcome
}
