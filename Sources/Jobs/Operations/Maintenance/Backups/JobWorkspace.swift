// A job writes its files in a folder of its own, `.job-12.tmp`, beside their destination, and renames them when they are
// complete and durable. While the job works it holds a lock on the folder (flock), which the kernel releases however the
// process ends. A job that begins removes every folder without a lock: what its own earlier attempt left, and what any job
// left that was killed and never ran again.

import CLinux
import Foundation
import Glibc

/// A folder for a job's unfinished files. Belongs to the thread of the job.
final class JobWorkspace {
  private let parent: URL
  let folder: URL
  private let descriptor: Int32

  /// Makes the folder in `parent`, which is made if it isn't there.
  /// - Throws: ``JobFailure`` that names what the system refused.
  init(job: Int64, in parent: URL) throws {
    self.parent = parent
    folder = parent.appendingPathComponent(".job-\(job).tmp")
    let answer = lade_make_folders(parent.path, 0o750)
    guard answer == 0 else { throw JobFailure(errno: -answer, parent.path) }
    try Self.removeAbandoned(in: parent)
    descriptor = try Self.make(folder)
  }

  deinit {
    Self.remove(folder)
    close(descriptor)
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// Renames a complete file to its destination beside the workspace, replacing what is there. Durable on return.
  func publish(_ name: String, as final: String) throws {
    try Self.synchronise(file(name))
    let target = parent.appendingPathComponent(final)
    guard rename(file(name).path, target.path) == 0 else { throw JobFailure(errno: errno, target.path) }
    try Self.synchronise(parent)
  }

  /// Makes the content of a file, or the entries of a folder, survive a loss of power.
  static func synchronise(_ url: URL) throws {
    let file = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw JobFailure(errno: errno, url.path) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw JobFailure(errno: errno, url.path) }
  }

  private static func make(_ folder: URL) throws -> Int32 {
    while true {
      guard mkdir(folder.path, 0o700) == 0 || errno == EEXIST else { throw JobFailure(errno: errno, folder.path) }
      let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else {
        // Another job removed it as abandoned before it was locked.
        if errno == ENOENT { continue }
        throw JobFailure(errno: errno, folder.path)
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let reason = errno
        close(descriptor)
        if reason == EWOULDBLOCK, !isThere(folder) { continue }
        throw JobFailure(
          code: "busy", message: "\(folder.path) is in use: does the job's earlier attempt still run?",
          isRetryable: true)
      }
      var (here, there) = (stat(), stat())
      if fstat(descriptor, &here) == 0, lstat(folder.path, &there) == 0, here.st_ino == there.st_ino {
        return descriptor
      }
      close(descriptor)
    }
  }

  private static func isThere(_ folder: URL) -> Bool {
    var status = stat()
    return lstat(folder.path, &status) == 0
  }

  /// Removes the folders of jobs that were killed.
  static func removeAbandoned(in parent: URL) throws {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: parent.path)
    } catch {
      throw JobFailure(
        code: "file", message: "the folder \(parent.path) can't be read: \(error.localizedDescription)",
        isRetryable: true)
    }
    for name in names where name.hasPrefix(".job-") && name.hasSuffix(".tmp") {
      let folder = parent.appendingPathComponent(name)
      let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(folder) }
    }
  }

  /// What can't be removed now will be removed when the next workspace is made there.
  private static func remove(_ folder: URL) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      // It is gone, or belongs to another user.
      return
    }
    for name in names { unlink(folder.appendingPathComponent(name).path) }
    rmdir(folder.path)
  }
}

extension JobFailure {
  /// A system call that failed on a file.
  init(errno code: Int32, _ path: String) {
    let isFull = code == ENOSPC || code == EDQUOT
    self.init(
      code: isFull ? "disk_full" : "file",
      message: "\(path): \(String(cString: strerror(code)))" + (isFull ? "; make room, and it goes on" : ""),
      isRetryable: true)
  }
}
