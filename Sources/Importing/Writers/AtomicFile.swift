// A file that appears as a whole or not at all: it is written under a hidden name in its folder, synced, and
// renamed; then the folder is synced. The name must be that of a file in the folder: it is refused if it has
// anything in it that could lead elsewhere, and no link is followed. A file that a killed run left under the hidden name is
// removed by the next run that uses that name.

import CLinux
import Glibc

/// A file in the making. Belongs to one thread at a time.
package final class AtomicFile {
  /// The folder's path, and the name that the file is to have in it.
  package let folder: String
  package let name: String
  private let hiddenName: String
  private var directory: Int32 = -1
  private var descriptor: Int32 = -1
  private var isCommitted = false
  /// Bytes written so far.
  package private(set) var length: Int64 = 0

  /// Starts a file, in a folder that is created if it doesn't exist.
  /// - Parameter hiddenName: its name until it is complete.
  /// - Throws: ``WriterError``.
  package init(folder: String, name: String, hiddenName: String) throws(WriterError) {
    self.folder = folder
    self.name = try Self.checked(name)
    self.hiddenName = hiddenName
    let answer = lade_make_folders(folder, 0o750)
    guard answer == 0 else { throw .file(path: folder, operation: "make the folder", errno: -answer) }
    directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("open the folder", folder) }
    try Self.remove(hiddenName, in: directory, folder)
    descriptor = openat(directory, hiddenName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw failure("make", hiddenPath) }
  }

  deinit {
    if !isCommitted, directory >= 0 { unlinkat(directory, hiddenName, 0) }
    if descriptor >= 0 { close(descriptor) }
    if directory >= 0 { close(directory) }
  }

  /// Its path until it is complete.
  package var hiddenPath: String { "\(folder)/\(hiddenName)" }
  package var path: String { "\(folder)/\(name)" }

  /// The name, if it can only be that of a file in a folder, even if hostile: no path elsewhere, not hidden, nothing that a
  /// terminal or a command would misinterpret.
  /// - Throws: ``WriterError/badName(_:reason:)``.
  package static func checked(_ name: String) throws(WriterError) -> String {
    func refuse(_ reason: String) -> WriterError { .badName(String(name.prefix(80)), reason: reason) }
    if name.isEmpty { throw refuse("it is empty") }
    if name.utf8.count > 200 { throw refuse("it is longer than 200 bytes") }
    if name.utf8.contains(UInt8(ascii: "/")) { throw refuse("it has a / in it, and all exports are in one folder") }
    if name.hasPrefix(".") { throw refuse("it begins with a dot, which hides it") }
    if name.hasPrefix("-") { throw refuse("it begins with -, as an option does") }
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: false
      default: true
      }
    }
    if !isPlain { throw refuse("it has characters in it that can't be seen") }
    return name
  }

  private static func remove(_ name: String, in directory: Int32, _ folder: String) throws(WriterError) {
    guard unlinkat(directory, name, 0) != 0, errno != ENOENT else { return }
    throw .file(path: "\(folder)/\(name)", operation: "remove", errno: errno)
  }

  /// Writes at the end.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(WriterError) {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("write", hiddenPath)
      }
      written += count
      length += Int64(count)
    }
  }

  /// Records the bytes that another component, such as SQLite, has written at ``hiddenPath``.
  func noteLength() throws(WriterError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("look at", hiddenPath) }
    length = Int64(status.st_size)
  }

  /// Commits the file: when this returns, it exists durably under its name. A file with that name is replaced.
  package func commit() throws(WriterError) {
    guard fsync(descriptor) == 0 else { throw failure("sync", hiddenPath) }
    guard renameat(directory, hiddenName, directory, name) == 0 else { throw failure("rename to \(name)", hiddenPath) }
    isCommitted = true
    guard fsync(directory) == 0 else { throw failure("sync the folder", folder) }
  }

  private func failure(_ operation: String, _ path: String) -> WriterError {
    .file(path: path, operation: operation, errno: errno)
  }
}

/// The destination of a writer's bytes.
protocol ByteSink: AnyObject {
  /// Appends bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws
  /// Ends the output.
  func finish() throws
}

/// Straight into the file.
final class PlainSink: ByteSink {
  private let file: AtomicFile

  init(_ file: AtomicFile) { self.file = file }

  func write(_ bytes: UnsafeRawBufferPointer) throws { try file.write(bytes) }
  func finish() {}
}
