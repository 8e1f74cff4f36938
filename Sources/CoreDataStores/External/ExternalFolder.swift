// The folder beside a store with the files of its large values: `.NAME_SUPPORT/_EXTERNAL_DATA`.
//   1. A file's name is a UUID that the store's writer chose, and nothing else is read or removed: a reference in a store can't
//      lead elsewhere. No symbolic link is followed, neither to a folder nor to a file.
//   2. A file is written once, before the row that refers to it, and never changed.
//   3. Who reads the store holds a shared lock of the folder. A file that no row refers to any more is removed under an
//      exclusive one, so that a reader of a former state still finds it.

package import Foundation
import Glibc

/// Why a file of a large value can't be read or written.
package enum ExternalDataError: Error, Sendable, Hashable {
  /// What a row has as its reference isn't one.
  case badReference(String)
  /// The file isn't there.
  case missing(name: String)
  /// Something else than a file has its name.
  case notAFile(name: String)
  /// A system call failed.
  case failed(call: String, path: String, code: Int32)
}

extension ExternalDataError: CustomStringConvertible {
  /// What is wrong.
  package var description: String {
    switch self {
    case .badReference(let text): "its reference to a file beside the store isn't one: “\(text.prefix(60))”"
    case .missing(let name): "its data is in a file beside the store, _EXTERNAL_DATA/\(name), which isn't there"
    case .notAFile(let name):
      "its data is in a file beside the store, _EXTERNAL_DATA/\(name), which is a link or no regular file"
    case .failed(let call, let path, let code): "\(path): \(call): \(String(cString: strerror(code)))"
    }
  }
}

/// The folder beside a store with the files of its large values. Safe from any thread and in several processes.
package struct ExternalFolder: Sendable, Hashable {
  /// Values with more bytes than this are kept in files: 100 KiB.
  ///
  /// Apple only says that Core Data decides by heuristics (Core Data Release Notes for OS X 10.7). Observers report limits from
  /// 100 kB to 1 MB (https://bluecrowbar.com/blog/2011/08/coredata-external.html). Every reader takes either form for any size.
  package static let threshold = 100 * 1024

  private static let folderName = "_EXTERNAL_DATA"
  private let parent: String
  private let support: String

  /// The folder of a store of this library. Its name has all of the store's, so that no two stores share one.
  package init(ofStoreAt url: URL) { self.init(url, url.lastPathComponent) }

  /// The folder of a store of Core Data: its name has the store's without the ending.
  package init(ofCoreDataStoreAt url: URL) { self.init(url, url.deletingPathExtension().lastPathComponent) }

  private init(_ url: URL, _ name: String) {
    parent = url.deletingLastPathComponent().path
    support = ".\(name)_SUPPORT"
  }

  /// The path of the folder for what belongs to the store.
  package var supportPath: String { "\(parent)/\(support)" }
  /// The path of the folder with the files.
  package var path: String { "\(supportPath)/\(Self.folderName)" }

  /// A new name.
  package static func newName() -> String { UUID().uuidString }

  /// Whether a text can be the name of a file.
  package static func isName(_ text: String) -> Bool { text.utf8.count == 36 && UUID(uuidString: text) != nil }

  // MARK: The folder

  /// Descriptors of the two folders.
  private struct Opened: ~Copyable {
    let support: Int32
    let data: Int32

    deinit {
      close(data)
      close(support)
    }
  }

  /// nil if there are no such folders.
  private func opened() throws(ExternalDataError) -> Opened? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let outer = open(supportPath, flags)
    guard outer >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("open", supportPath)
    }
    let inner = openat(outer, Self.folderName, flags)
    guard inner >= 0 else {
      let code = errno
      close(outer)
      if code == ENOENT { return nil }
      throw .failed(call: "open", path: path, code: code)
    }
    return Opened(support: outer, data: inner)
  }

  private func required() throws(ExternalDataError) -> Opened {
    guard let opened = try opened() else { throw .failed(call: "open", path: path, code: ENOENT) }
    return opened
  }

  /// Whether there is such a folder.
  package var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Makes the folders, which those may read who may read the file beside them.
  package func make(like file: String) throws(ExternalDataError) {
    var status = stat()
    let mode = stat(file, &status) == 0 ? status.st_mode & 0o777 : 0o600
    // A user who may read a file may also enter its folder.
    let folderMode = mode | (mode & 0o444) >> 2 | 0o700
    for folder in [supportPath, path] {
      if mkdir(folder, folderMode) == 0 {
        guard chmod(folder, folderMode) == 0 else { throw failure("chmod", folder) }
      } else if errno != EEXIST {
        throw failure("mkdir", folder)
      }
    }
    let above = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard above >= 0 else { throw failure("open", parent) }
    defer { close(above) }
    let folders = try required()
    guard fsync(above) == 0, fsync(folders.support) == 0 else { throw failure("fsync", supportPath) }
  }

  /// Makes what was created and removed survive a loss of power.
  package func synchronize() throws(ExternalDataError) {
    let folders = try required()
    guard fsync(folders.data) == 0 else { throw failure("fsync", path) }
  }

  /// The names of the files.
  package func names() throws(ExternalDataError) -> [String] {
    guard let folders = try opened() else { return [] }
    return try Self.entries(of: folders.data, path).filter(Self.isName)
  }

  /// The bytes of all files; 0 where they can't be seen.
  package var size: Int64 {
    guard let folders = try? opened(), let names = try? Self.entries(of: folders.data, path) else { return 0 }
    var sum: Int64 = 0
    for name in names where Self.isName(name) {
      var status = stat()
      if fstatat(folders.data, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { sum += Int64(status.st_size) }
    }
    return sum
  }

  private static func entries(of descriptor: Int32, _ path: String) throws(ExternalDataError) -> [String] {
    // The stream closes the descriptor that it is given.
    let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0, let stream = fdopendir(own) else {
      throw ExternalDataError.failed(call: "open", path: path, code: errno)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names
  }

  /// Removes everything of this library and of Core Data in the folder, and the folder where nothing else is in it.
  package func remove(_ step: (String) -> Void = { _ in }) throws(ExternalDataError) {
    guard let folders = try opened() else { return }
    for name in try Self.entries(of: folders.data, path) where Self.isName(name) {
      step("unlink \(name)")
      try unlink(name, in: folders.data, path)
    }
    for name in try Self.entries(of: folders.support, supportPath)
    where Self.isJournal(name.hasPrefix(".") ? String(name.dropFirst()) : name) {
      try unlink(name, in: folders.support, supportPath)
    }
    step("rmdir")
    for (descriptor, name) in [(folders.support, Self.folderName), (AT_FDCWD, supportPath)] {
      guard unlinkat(descriptor, name, AT_REMOVEDIR) != 0 else { continue }
      // Something of others is in it.
      if errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT { return }
      throw failure("rmdir", name)
    }
  }

  // MARK: Files

  /// Writes a new file and makes its content survive a loss of power. Its name does so after ``synchronize()``.
  package func write(_ data: Data, to name: String, like file: String) throws(ExternalDataError) {
    var status = stat()
    let mode = stat(file, &status) == 0 ? status.st_mode & 0o666 | 0o600 : 0o600
    let folders = try required()
    let descriptor = openat(folders.data, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw failure("open", "\(path)/\(name)") }
    defer { close(descriptor) }
    guard fchmod(descriptor, mode) == 0 else { throw failure("fchmod", "\(path)/\(name)") }
    let code = data.withUnsafeBytes { bytes -> Int32 in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        if count < 0 {
          if errno == EINTR { continue }
          return errno
        }
        written += count
      }
      return 0
    }
    guard code == 0 else { throw .failed(call: "write", path: "\(path)/\(name)", code: code) }
    guard fsync(descriptor) == 0 else { throw failure("fsync", "\(path)/\(name)") }
  }

  /// Opens a file; the caller closes it.
  private func file(_ name: String, owner: uid_t?) throws(ExternalDataError) -> (descriptor: Int32, size: Int) {
    guard Self.isName(name) else { throw .badReference(name) }
    guard let folders = try opened() else { throw .missing(name: name) }
    // Non-blocking: a FIFO would be waited for.
    let descriptor = openat(folders.data, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: throw .missing(name: name)
      case ELOOP: throw .notAFile(name: name)
      default: throw failure("open", "\(path)/\(name)")
      }
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == Glibc.S_IFREG,
      owner.map({ $0 == status.st_uid }) ?? true
    else {
      close(descriptor)
      throw .notAFile(name: name)
    }
    return (descriptor, Int(status.st_size))
  }

  /// A file's content. It is mapped: its bytes are read from the disk when they are used, and stay there if the file is removed.
  package func mapped(_ name: String) throws(ExternalDataError) -> Data {
    let (descriptor, size) = try file(name, owner: nil)
    defer { close(descriptor) }
    if size > 0, let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED {
      return Data(bytesNoCopy: start, count: size, deallocator: .custom { start, size in munmap(start, size) })
    }
    // There is a limit of mappings.
    return try content(of: descriptor, size, name)
  }

  /// A copy of a file's content.
  /// - Parameters:
  ///   - limit: the greatest size that is read; nil is returned for a larger file.
  ///   - owner: the user who must own the file.
  package func content(_ name: String, limit: Int = .max, owner: uid_t? = nil) throws(ExternalDataError) -> Data? {
    let (descriptor, size) = try file(name, owner: owner)
    defer { close(descriptor) }
    return size <= limit ? try content(of: descriptor, size, name) : nil
  }

  private func content(of descriptor: Int32, _ size: Int, _ name: String) throws(ExternalDataError) -> Data {
    var data = Data(count: size)
    var read = 0
    while read < size {
      let count = data.withUnsafeMutableBytes { bytes in
        pread(descriptor, bytes.baseAddress.map { $0 + read }, size - read, off_t(read))
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw failure("read", "\(path)/\(name)")
      }
      if count == 0 { break }
      read += count
    }
    return read == size ? data : data.prefix(read)
  }

  /// Whether there is a file of that name to read.
  package func check(_ name: String) throws(ExternalDataError) { close(try file(name, owner: nil).descriptor) }

  /// Removes a file, if it is there.
  package func remove(_ name: String) throws(ExternalDataError) {
    guard Self.isName(name), let folders = try opened() else { return }
    try unlink(name, in: folders.data, path)
  }

  private func unlink(_ name: String, in descriptor: Int32, _ path: String) throws(ExternalDataError) {
    guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
    throw failure("unlink", "\(path)/\(name)")
  }

  /// Takes a file of another folder: files don't change, so both may have the same one.
  package func take(_ name: String, from other: ExternalFolder, like file: String) throws(ExternalDataError) {
    try other.check(name)
    let theirs = try other.required()
    let ours = try required()
    if linkat(theirs.data, name, ours.data, name, 0) == 0 { return }
    var (own, its) = (stat(), stat())
    if errno == EEXIST, fstatat(ours.data, name, &own, AT_SYMLINK_NOFOLLOW) == 0,
      fstatat(theirs.data, name, &its, AT_SYMLINK_NOFOLLOW) == 0, own.st_size == its.st_size
    {
      return
    }
    // Another file system, or one without links. A killed process leaves no part of a file under its name.
    let draft = Self.newName()
    try write(try other.mapped(name), to: draft, like: file)
    guard renameat(ours.data, draft, ours.data, name) == 0 else { throw failure("rename", "\(path)/\(name)") }
  }

  /// Takes all files of another folder, and returns their names.
  package func takeAll(from other: ExternalFolder, like file: String) throws(ExternalDataError) -> Set<String> {
    var taken: Set<String> = []
    let names = try other.names()
    if names.isEmpty { return taken }
    try make(like: file)
    for name in names {
      do throws(ExternalDataError) {
        try take(name, from: other, like: file)
        taken.insert(name)
      } catch .missing {
        // A writer has created it, and rolled back.
      }
    }
    try synchronize()
    return taken
  }

  // MARK: Locks and journals

  /// Opens the folder to be locked; the caller closes it. nil if there is none.
  private func lock(_ operation: Int32) throws(ExternalDataError) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure("open", path)
    }
    while flock(descriptor, operation) != 0 {
      if errno == EINTR { continue }
      let code = errno
      close(descriptor)
      if code == EWOULDBLOCK { return -1 }
      throw .failed(call: "flock", path: path, code: code)
    }
    return descriptor
  }

  /// A descriptor that keeps files from being removed until it is closed; nil if there is no folder.
  package func lockForReading() throws(ExternalDataError) -> Int32? { try lock(LOCK_SH) }

  /// Runs `body` while there is no reader. Returns false, without running it, if there is one.
  package func whileUnread(_ body: () throws -> Void) throws -> Bool {
    guard let descriptor = try lock(LOCK_EX | LOCK_NB) else { return true }
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    try body()
    return true
  }

  private static let journalStart = "lade-"
  /// O_TMPFILE, a macro that Swift doesn't import: https://man7.org/linux/man-pages/man2/open.2.html.
  private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY

  private static func isJournal(_ name: String) -> Bool {
    name.hasPrefix(journalStart) && isName(String(name.dropFirst(journalStart.utf8.count)))
  }

  /// Begins a journal.
  package func newJournal() throws(ExternalDataError) -> ExternalJournal {
    let folders = try required()
    let name = Self.journalStart + Self.newName()
    let journal = "\(supportPath)/\(name)"
    // Locked before it has a name: without a lock it would be taken for one whose writer is gone.
    let unnamed = openat(folders.support, ".", O_RDWR | Self.unnamed | O_APPEND | O_CLOEXEC, 0o600)
    if unnamed >= 0 {
      guard flock(unnamed, LOCK_EX | LOCK_NB) == 0,
        linkat(AT_FDCWD, "/proc/self/fd/\(unnamed)", folders.support, name, AT_SYMLINK_FOLLOW) == 0
      else {
        let code = errno
        close(unnamed)
        throw .failed(call: "linkat", path: journal, code: code)
      }
      return ExternalJournal(path: journal, descriptor: unnamed)
    }
    // A file system without unnamed files. A process that is killed here leaves an empty draft.
    let draft = "." + name
    let descriptor = openat(
      folders.support, draft, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("open", "\(supportPath)/\(draft)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, renameat(folders.support, draft, folders.support, name) == 0
    else {
      let code = errno
      close(descriptor)
      unlinkat(folders.support, draft, 0)
      throw .failed(call: "rename", path: journal, code: code)
    }
    return ExternalJournal(path: journal, descriptor: descriptor)
  }

  /// The journals whose writers are gone.
  package func abandonedJournals() throws(ExternalDataError) -> [ExternalJournal] {
    guard let folders = try opened() else { return [] }
    var journals: [ExternalJournal] = []
    for name in try Self.entries(of: folders.support, supportPath) where Self.isJournal(name) {
      let descriptor = openat(folders.support, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
        journals.append(ExternalJournal(path: "\(supportPath)/\(name)", descriptor: descriptor))
      } else {
        close(descriptor)
      }
    }
    return journals
  }

  private func failure(_ call: String, _ path: String) -> ExternalDataError {
    .failed(call: call, path: path, code: errno)
  }
}

/// The names of files that a writer is about to create or to remove. The next open after the writer was killed decides
/// by the rows which of them stay. A writer holds its journal's lock as long as it lives.
package final class ExternalJournal: Sendable {
  private let path: String
  private let descriptor: Int32

  fileprivate init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Adds a name.
  package func note(_ name: String) throws(ExternalDataError) {
    let line = Array((name + "\n").utf8)
    guard write(descriptor, line, line.count) == line.count else { throw failure("write") }
  }

  /// Forgets all names.
  package func clear() throws(ExternalDataError) {
    guard ftruncate(descriptor, 0) == 0 else { throw failure("ftruncate") }
  }

  /// The names in it.
  package func names() throws(ExternalDataError) -> [String] {
    var (bytes, block, offset): ([UInt8], [UInt8], off_t) = ([], [UInt8](repeating: 0, count: 64 << 10), 0)
    while true {
      let count = pread(descriptor, &block, block.count, offset)
      guard count >= 0 else { throw failure("read") }
      if count == 0 { break }
      bytes.append(contentsOf: block[..<count])
      offset += off_t(count)
    }
    return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
      .filter(ExternalFolder.isName)
  }

  /// Removes the journal.
  package func remove() throws(ExternalDataError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("unlink") }
  }

  private func failure(_ call: String) -> ExternalDataError { .failed(call: call, path: path, code: errno) }
}
