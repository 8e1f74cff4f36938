import Dispatch
import Logging
import ServiceLifecycle
import Spool
import Synchronization

/// Removes files from `done/` that are older than `keep.files` of the configuration, and abandoned uploads: at the start, and
/// every hour.
struct FileRetentionService: Service {
  /// How long files are kept; nil for as long as something else removes them.
  let age: @Sendable () -> Duration?
  /// Removes files that are older, as long as the closure says so; returns how many. Blocks.
  let remove: @Sendable (Duration, _ goesOn: () -> Bool) throws -> Int
  /// Removes old uploads; returns how many. Blocks.
  let removeUploads: @Sendable () throws -> Int
  let logger: Logger

  /// Not the spool's own queue: a look at many files mustn't delay jobs.
  private static let queue = DispatchQueue(label: "laded.retention", qos: .utility)

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown {
        while true {
          await removeOld()
          await removeOldUploads()
          try await Task.sleep(for: .seconds(3600))
        }
      }
    } catch is CancellationError {
      return
    }
  }

  private func removeOldUploads() async {
    do {
      let removed = try await Self.queue.result { [removeUploads] in try removeUploads() }
      if removed > 0 { logger.info("\(removed) abandoned uploads were removed") }
    } catch {
      logger.warning("old uploads can't be removed: \(error)")
    }
  }

  /// Tells the removal that the daemon stops.
  private final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
  }

  private func removeOld() async {
    guard let age = age() else { return }
    do {
      let stop = StopFlag()
      let removed = try await withTaskCancellationHandler {
        try await Self.queue.result { [remove] in try remove(age) { !stop.isSet } }
      } onCancel: {
        stop.set()
      }
      if removed > 0 { logger.info("spool: \(removed) files older than keep.files were removed from done/") }
    } catch {
      logger.warning("spool: old files can't be removed from done/: \(error)")
    }
  }
}

extension FileRetentionService {
  init(directories: SpoolDirectories, current: CurrentConfiguration, logger: Logger) {
    self.init(
      age: { if case .age(let age) = current.now.configuration.keep.files { age } else { nil } },
      remove: { age, goesOn in try directories.removeDone(olderThan: age, while: goesOn) },
      removeUploads: { try UploadFolder(current.now.configuration.uploads).removeOld() }, logger: logger)
  }
}
