import Glibc

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
      let trouble = PathTrouble(path, SystemFailure(code: errno))
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
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.count, 0) == text.count else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw DaemonError.directory(path: path, reason: reason)
    }
  }

  deinit { close(descriptor) }
}
