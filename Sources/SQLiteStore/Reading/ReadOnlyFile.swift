// A file in WAL mode can be read only with the log and the memory that its connections share, the files `-wal` and `-shm`.
//   1. Beside a writer both exist, and a reader that may write neither still uses them.
//   2. Without a writer a reader makes them, if it may write in the directory. A log that a killed writer left is read, too.
//   3. Without a log, in a directory that the process can't write, SQLite reads the file only if it is declared to be constant:
//      `immutable=1`. SQLite then notices no change at all, so `FileConstancy` looks before each read.
//
// A file without a log, as every copy is, has no lock between two reads, so it may be removed or replaced in between. The
// connection would go on reading the old one: `FileConstancy` looks for that, too.

import Foundation
import GRDB
import Glibc
import ManagedObjects

/// A store's file, opened for reading only.
struct ReadOnlyFile<Checked> {
  let pool: DatabasePool
  /// What the check of the file returned.
  let checked: Checked
  let constancy: FileConstancy

  /// Opens an existing file, and checks it with `check`.
  init(_ url: URL, _ configuration: Configuration, _ check: (Database) throws -> Checked) throws {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw ManagedObjectError.store(
        StoreFailure(
          .cannotOpen, path: url.path, message: "there is no such file, and a store for reading only isn't created"))
    }
    var reading = configuration
    reading.readonly = true
    (pool, checked, constancy) = try Self.opened(url, reading, check)
  }

  private static func opened(
    _ url: URL, _ configuration: Configuration, _ check: (Database) throws -> Checked
  ) throws -> (DatabasePool, Checked, FileConstancy) {
    do {
      let constancy = try FileConstancy(url, isWritten: true)
      let pool = try DatabasePool(path: url.path, configuration: configuration)
      let checked = try pool.read(check)
      try constancy.check()
      return (pool, checked, constancy)
    } catch let error as DatabaseError where lacksLog(error, url) {
      let constancy = try FileConstancy(url, isWritten: false)
      let pool = try DatabasePool(
        path: "file://" + url.path(percentEncoded: true) + "?immutable=1", configuration: configuration)
      let checked = try pool.read(check)
      try constancy.check()
      return (pool, checked, constancy)
    }
  }

  /// Whether a file can't be read because there is no log and none can be made.
  private static func lacksLog(_ error: DatabaseError, _ url: URL) -> Bool {
    [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode)
      && !FileManager.default.fileExists(atPath: url.path + "-wal")
  }
}

/// Notices that a file has been replaced since it was opened, or changed since it was opened as a constant one. Safe from any
/// thread.
struct FileConstancy: Sendable {
  private let path: String
  private let isWritten: Bool
  private let stamp: Stamp

  private struct Stamp {
    let device: dev_t
    let inode: ino_t
    let size: off_t
    let (seconds, nanoseconds): (Int, Int)

    /// nil if there is no such file.
    init?(_ path: String) throws {
      var status = stat()
      guard stat(path, &status) == 0 else {
        if errno == ENOENT { return nil }
        throw ManagedObjectError.store(StoreFailure(errno: errno, of: "stat", path: path))
      }
      (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }

    func isSameFile(_ other: Stamp) -> Bool { device == other.device && inode == other.inode }

    func isSameContent(_ other: Stamp) -> Bool {
      size == other.size && seconds == other.seconds && nanoseconds == other.nanoseconds
    }
  }

  /// - Parameter isWritten: whether others may write to the file, as SQLite notices.
  init(_ url: URL, isWritten: Bool) throws {
    (path, self.isWritten) = (url.path, isWritten)
    guard let stamp = try Stamp(path) else {
      throw ManagedObjectError.store(StoreFailure(errno: ENOENT, of: "stat", path: path))
    }
    self.stamp = stamp
  }

  /// - Throws: ``ManagedObjectError/store(_:)`` when the file isn't the one that was opened, or another process has begun to write
  ///   to one in a directory that can't be written.
  func check() throws {
    guard let now = try Stamp(path), now.isSameFile(stamp) else {
      throw ManagedObjectError.store(
        StoreFailure(
          .busy, path: path,
          message: "the file was removed or replaced since the store was added: remove the store and add it again"))
    }
    guard isWritten || now.isSameContent(stamp) && access(path + "-wal", F_OK) != 0 else {
      throw ManagedObjectError.store(
        StoreFailure(
          .busy, path: path,
          message:
            "another process has begun to write to the file, which was opened as one that doesn't change because "
            + "this process can't write in its directory: remove the store and add it again"))
    }
  }
}
