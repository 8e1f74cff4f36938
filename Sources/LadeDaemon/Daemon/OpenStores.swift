import CLinux
import Foundation
import Glibc
import Jobs
import Logging
import ManagedObjects
import SQLiteStore
import Spool

/// The open files of a daemon: stores, spool and locks.
struct OpenStores: Sendable {
  /// On the state directory, and on the spool: files there are named after this queue's jobs.
  let locks: [InstanceLock]
  let stores: DataStores
  let queue: QueueStore
  let directories: SpoolDirectories

  /// Opens everything and creates what is missing. Blocks.
  init(_ configuration: DaemonConfiguration, _ logger: Logger) throws {
    let socketFolder = URL(fileURLWithPath: configuration.socket).deletingLastPathComponent().path
    for path in [configuration.state, configuration.rejects, socketFolder]
    where !FileManager.default.fileExists(atPath: path) {
      let answer = lade_make_folders(path, 0o750)
      guard answer == 0 else {
        let trouble = PathDiagnosis(path, SystemFailure(code: -answer))
        throw DaemonError.directory(path: path, reason: trouble.reason, cause: trouble.cause)
      }
    }
    let stateLock = try InstanceLock(directory: configuration.state)
    stores = try DataStores(configuration.stores, logger)
    queue = try QueueStore(configuration, logger)
    do {
      // Whatever folders are allowed, these are not to be imported.
      let stores = configuration.stores.compactMap(\.place.path)
      let own =
        [configuration.state, configuration.queueStore] + stores + stores.map(SQLiteStore.supportFolder(ofStoreAt:))
      directories = try SpoolDirectories(
        path: configuration.spool, sharedIncoming: configuration.queue?.incoming, protected: own,
        companionEndings: SQLiteStore.companionEndings)
    } catch {
      let place = if case SpoolError.system(_, let path, _) = error { path } else { configuration.spool }
      let trouble = PathDiagnosis(place, error)
      throw DaemonError.spool(path: configuration.spool, reason: trouble.reason, cause: trouble.cause)
    }
    locks = [stateLock, try InstanceLock(directory: configuration.spool)]
  }

  /// Closes the stores, so that each is one file again. They must not be in use. Blocks.
  func close() throws {
    for coordinator in stores.all.map(\.coordinator) { try coordinator.close() }
    try queue.close()
  }
}

/// Makes sure that one daemon works on a directory, its state or its spool: a lock that the kernel gives back when the
/// process ends, however it ends.
final class InstanceLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock.
  /// - Throws: ``DaemonError/alreadyRunning(directory:pid:)``, ``DaemonError/directory(path:reason:)``.
  init(directory: String) throws {
    let path = directory + "/laded.pid"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else {
      let trouble = PathDiagnosis(path, SystemFailure(code: errno))
      throw DaemonError.directory(path: directory, reason: trouble.reason, cause: trouble.cause)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      var bytes = [UInt8](repeating: 0, count: 32)
      let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
      close(descriptor)
      let pid = String(decoding: bytes.prefix(count), as: UTF8.self).filter(\.isNumber)
      throw DaemonError.alreadyRunning(directory: directory, pid: pid)
    }
    let text = Array("\(getpid())\n".utf8)
    // A write that is cut short says nothing of why: there is no room.
    errno = ENOSPC
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
      let code = errno
      close(descriptor)
      throw DaemonError.directory(path: path, reason: String(cString: strerror(code)), cause: .init(errno: code))
    }
  }

  deinit { close(descriptor) }
}
