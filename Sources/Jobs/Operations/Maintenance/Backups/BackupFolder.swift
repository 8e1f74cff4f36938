import Foundation
import Glibc

/// The folder with the backups of a store. Other files in it are left alone.
struct BackupFolder {
  let url: URL
  let store: String

  /// The backups of the store, oldest first. Files that people have put there under other names don't count.
  func backups() throws -> [BackupName] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path).compactMap { BackupName($0, of: store) }
        .sorted()
    } catch CocoaError.fileReadNoSuchFile {
      return []
    } catch {
      throw JobFailure(
        code: "file", message: "the folder of backups can't be read: \(error.localizedDescription)", isRetryable: true)
    }
  }

  func file(_ name: BackupName) -> URL { url.appendingPathComponent(name.description) }

  /// Removes all but the newest.
  /// - Returns: the names of those that were removed.
  func removeOld(keeping count: Int) throws -> [BackupName] {
    let old = try Array(backups().dropLast(max(1, count)))
    for name in old {
      guard unlink(file(name).path) == 0 || errno == ENOENT else { throw JobFailure(errno: errno, file(name).path) }
    }
    if !old.isEmpty { try JobWorkspace.synchronise(url) }
    return old
  }

  /// The file of a backup.
  /// - Parameter name: a file's name, or `latest`.
  func file(named name: String) throws -> URL {
    if name == "latest" {
      guard let newest = try backups().last else {
        throw JobFailure(
          code: "no_backup", message: "there is no backup of \(store) in \(url.path)", isRetryable: false)
      }
      return file(newest)
    }
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.utf8.contains(0), name.utf8.count < 256 else {
      throw JobFailure(
        code: "bad_options", message: "backup is the name of a file in \(url.path), or latest", isRetryable: false)
    }
    let file = url.appendingPathComponent(name)
    var status = stat()
    guard lstat(file.path, &status) == 0 else {
      let known = try backups().suffix(5).map(\.description).joined(separator: ", ")
      throw JobFailure(
        code: "no_backup",
        message: "there is no \(name) in \(url.path)" + (known.isEmpty ? "" : "; the newest there are \(known)"),
        isRetryable: false)
    }
    return file
  }
}
