// What a job makes is made in a folder of its own, `.job-12.tmp`, beside where it is to be, and gets its name when it is
// whole and on the disk. While its job works the folder is locked: by flock, which the kernel lets go of however the process
// ends. A job that begins takes away what nobody has locked: its own earlier attempt's, and that of any job which was
// killed and never run again.

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
    do {
      try FileManager.default.createDirectory(
        at: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    } catch {
      throw JobFailure(
        code: "file", message: "the folder \(parent.path) can't be made: \(error.localizedDescription)",
        isRetryable: true)
    }
    try Self.removeAbandoned(in: parent)
    descriptor = try Self.make(folder)
  }

  deinit {
    Self.remove(folder)
    close(descriptor)
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// Gives a whole file its name, beside the workspace, in the place of what has it: once this returns, it is there whatever
  /// happens.
  func publish(_ name: String, as final: String) throws {
    try Self.synchronize(file(name))
    let target = parent.appendingPathComponent(final)
    guard rename(file(name).path, target.path) == 0 else { throw JobFailure(errno: errno, target.path) }
    try Self.synchronize(parent)
  }

  /// Makes a file, or what a folder lists, survive a loss of power.
  static func synchronize(_ url: URL) throws {
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
        // Somebody took it for abandoned before it was locked.
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

  /// What can't be removed now is, by whoever makes a workspace in the same place next.
  private static func remove(_ folder: URL) {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    } catch {
      // It is gone, or not ours to look into.
      return
    }
    for name in names { unlink(folder.appendingPathComponent(name).path) }
    rmdir(folder.path)
  }
}

extension JobFailure {
  /// What the system says of a file.
  init(errno code: Int32, _ path: String) {
    let isFull = code == ENOSPC || code == EDQUOT
    self.init(
      code: isFull ? "disk_full" : "file",
      message: "\(path): \(String(cString: strerror(code)))" + (isFull ? "; make room, and it goes on" : ""),
      isRetryable: true)
  }
}
