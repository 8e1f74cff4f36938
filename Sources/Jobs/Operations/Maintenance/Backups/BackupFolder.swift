package import Foundation
import Glibc
package import ManagedObjects

/// The folder with the backups of a store. Other files in it are left alone.
struct BackupFolder {
  let url: URL
  let store: String
  /// What its backups are once they are unpacked.
  let form: StoreCopyForm

  /// The backups of the store, oldest first. Files that people have put there under other names don't count.
  func backups() throws -> [BackupName] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path).compactMap {
        BackupName($0, of: store, form)
      }
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

/// A backup of a store, for those who want to know which there are.
package struct StoreBackup: Sendable, Hashable {
  package let name: String
  package let madeAt: Date
  /// Bytes of the file.
  package let size: Int64
  /// The job that made it.
  package let job: Int64

  /// The backups of a store in a folder, the newest first. Blocks.
  /// - Parameter form: what the store's backups are once they are unpacked.
  /// - Throws: ``JobFailure``.
  package static func all(of store: String, in folder: URL, form: StoreCopyForm) throws -> [StoreBackup] {
    let folder = BackupFolder(url: folder, store: store, form: form)
    return try folder.backups().reversed().compactMap { name in
      var status = stat()
      // One may be removed while this runs.
      guard lstat(folder.file(name).path, &status) == 0 else { return nil }
      return StoreBackup(
        name: name.description, madeAt: name.time, size: Int64(status.st_size), job: name.job)
    }
  }

  /// Refuses a name of a backup that a restore wouldn't find. Blocks.
  /// - Parameter name: a file's name, or `latest`.
  /// - Throws: ``JobFailure``.
  package static func check(_ name: String, of store: String, in folder: URL, form: StoreCopyForm) throws {
    _ = try BackupFolder(url: folder, store: store, form: form).file(named: name)
  }
}

/// The name of a backup: `STORE-2026-11-22T034000Z-job12` and the endings of what it is and how it is packed. It says whose
/// content it is, of when (UTC), and which job made it, so that a job which is run again knows what it has made already.
struct BackupName: Comparable, CustomStringConvertible {
  let store: String
  /// In whole seconds.
  let time: Date
  let job: Int64
  let compression: BackupCompression
  let form: StoreCopyForm

  init(store: String, time: Date, job: Int64, compression: BackupCompression, form: StoreCopyForm) {
    self.store = store
    self.time = Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down))
    self.job = job
    self.compression = compression
    self.form = form
  }

  /// Reads a name; nil when it isn't that of a backup of the store.
  init?(_ name: String, of store: String, _ form: StoreCopyForm) {
    guard name.hasPrefix(store + "-") else { return nil }
    var rest = name.dropFirst(store.utf8.count + 1)
    guard let compression = BackupCompression.allCases.last(where: { rest.hasSuffix(form.nameEnding + $0.ending) })
    else {
      return nil
    }
    rest = rest.dropLast(form.nameEnding.count + compression.ending.count)
    let parts = rest.split(separator: "-job", omittingEmptySubsequences: false)
    guard parts.count == 2, let time = Self.time(parts[0]), let job = Int64(parts[1]), job > 0,
      BackupName(store: store, time: time, job: job, compression: compression, form: form).description == name
    else { return nil }
    self.init(store: store, time: time, job: job, compression: compression, form: form)
  }

  var description: String {
    "\(store)-\(Self.timeStyle.format(time).replacing(":", with: ""))-job\(job)\(form.nameEnding)\(compression.ending)"
  }

  static func < (a: BackupName, b: BackupName) -> Bool { (a.time, a.job) < (b.time, b.job) }

  private static let timeStyle = Date.ISO8601FormatStyle()

  /// `2026-11-22T034000Z`
  private static func time(_ text: Substring) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count == 18 else { return nil }
    let parts = [bytes[0..<13], bytes[13..<15], bytes[15...]].map { String(decoding: $0, as: UTF8.self) }
    do {
      return try timeStyle.parse(parts.joined(separator: ":"))
    } catch {
      // Not a time: not our name.
      return nil
    }
  }
}
