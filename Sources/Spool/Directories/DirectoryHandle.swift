// A directory held open. Rule 8 (ARCHITECTURE.md) is kept here: every operation is relative to this descriptor and takes one
// path component, so no name that a submitter wrote and no link that he planted leads anywhere else. Nothing follows a link at
// the end of a name, and there is no middle.

import CLinux
import Glibc

/// A directory held open by its descriptor, with the operations that the spool needs. All of them block.
final class DirectoryHandle: Sendable {
  let descriptor: OwnedDescriptor
  /// The path for messages.
  let path: String

  private init(_ descriptor: OwnedDescriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a directory by a path from the configuration. Follows links in it.
  convenience init(trustedPath path: String) throws {
    let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: path, code: errno) }
    self.init(OwnedDescriptor(number), path: path)
  }

  /// Opens a directory in this one, never through a link. Nil if there is none.
  func directory(_ name: FileName) throws -> DirectoryHandle? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let number = openat(descriptor.number, name.terminated, flags)
    if number >= 0 { return DirectoryHandle(OwnedDescriptor(number), path: place(name)) }
    switch errno {
    case ENOENT: return nil
    case ENOTDIR, ELOOP: throw SpoolError.notADirectory(path: place(name))
    case let code: throw SpoolError.system(call: "open", path: place(name), code: code)
    }
  }

  /// Opens a directory in this one and creates it with `mode` if there is none; an existing one keeps its mode.
  func directory(_ name: FileName, creatingWith mode: mode_t) throws -> DirectoryHandle {
    if let found = try directory(name) { return found }
    // The service may not set the setgid bit, not even here; the folder above has it.
    if mkdirat(descriptor.number, name.terminated, mode & 0o1777) == 0 {
      try synchronise()
      guard let made = try directory(name) else {
        throw SpoolError.system(call: "mkdir", path: place(name), code: ENOENT)
      }
      // The umask cuts mkdir's mode, and the setgid bit is only inherited from the folder above. chmod is called only if
      // something is missing, because the service isn't allowed to set that bit.
      guard try made.status().permissions != mode else { return made }
      guard fchmod(made.descriptor.number, mode) == 0 else {
        throw SpoolError.system(call: "chmod", path: place(name), code: errno)
      }
      return made
    }
    let code = errno
    if code == EEXIST, let found = try directory(name) { return found }
    throw SpoolError.system(call: "mkdir", path: place(name), code: code)
  }

  /// The status of an entry; of a link, the link's own. Nil if there is none.
  func status(of name: FileName) throws -> FileStatus? {
    var status = stat()
    if fstatat(descriptor.number, name.terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
    let code = errno
    if code == ENOENT { return nil }
    throw SpoolError.system(call: "stat", path: place(name), code: code)
  }

  /// The status of the directory itself.
  func status() throws -> FileStatus {
    try DirectoryHandle.status(of: descriptor, path: path)
  }

  /// The status of an open file.
  static func status(of descriptor: OwnedDescriptor, path: String) throws -> FileStatus {
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else {
      throw SpoolError.system(call: "fstat", path: path, code: errno)
    }
    return FileStatus(status)
  }

  /// Opens an entry for reading without following a link and without waiting, and reads the status of what was opened.
  func open(_ name: FileName) throws -> OpenFile {
    let number = openat(descriptor.number, name.terminated, DirectoryHandle.reading)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: place(name), code: errno) }
    let opened = OwnedDescriptor(number)
    return OpenFile(descriptor: opened, status: try DirectoryHandle.status(of: opened, path: place(name)))
  }

  /// The flags for every file of a submitter: no link, no waiting for a FIFO's other end, no controlling terminal.
  static let reading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC

  /// Creates a file; throws EEXIST if the name is taken.
  func create(_ name: FileName, mode: mode_t) throws -> OwnedDescriptor {
    let number = openat(descriptor.number, name.terminated, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard number >= 0 else { throw SpoolError.system(call: "create", path: place(name), code: errno) }
    return OwnedDescriptor(number)
  }

  /// A file to read and write that has no name, and disappears with its descriptor. Only the daemon may write to the directory.
  func scratchFile() throws -> OwnedDescriptor {
    let name = FileName(".lade-scratch")
    // A killed process may have left one.
    try remove(name)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let number = openat(descriptor.number, name.terminated, flags, 0o600)
    guard number >= 0 else { throw SpoolError.system(call: "create", path: place(name), code: errno) }
    let file = OwnedDescriptor(number)
    try remove(name)
    return file
  }

  /// How many bytes the daemon may still write to the directory's file system.
  func room() throws -> Int64 {
    var status = statvfs()
    guard fstatvfs(descriptor.number, &status) == 0 else {
      throw SpoolError.system(call: "statvfs", path: path, code: errno)
    }
    // Some file systems don't report it.
    guard status.f_blocks > 0 else { return .max }
    let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }

  /// Renames an entry into `directory`; of a link, the link itself. Throws EEXIST if the new name is taken.
  func rename(_ name: FileName, to directory: DirectoryHandle, _ newName: FileName) throws {
    var answer = lade_rename_noreplace(
      descriptor.number, name.terminated, directory.descriptor.number, newName.terminated)
    if answer == -EINVAL || answer == -ENOSYS {
      // The file system doesn't support RENAME_NOREPLACE. In all calls only the daemon may write to `directory`.
      if try directory.status(of: newName) != nil {
        answer = -EEXIST
      } else if renameat(
        descriptor.number, name.terminated, directory.descriptor.number, newName.terminated) == 0
      {
        answer = 0
      } else {
        answer = -errno
      }
    }
    guard answer == 0 else {
      throw SpoolError.system(
        call: "rename to \(directory.place(newName))", path: place(name), code: -answer)
    }
  }

  /// Gives a file a second name in `directory`. Throws EEXIST if the name is taken, and another error if the file system has no
  /// second names.
  func link(_ name: FileName, to directory: DirectoryHandle, _ newName: FileName) throws {
    guard linkat(descriptor.number, name.terminated, directory.descriptor.number, newName.terminated, 0) == 0 else {
      throw SpoolError.system(call: "link to \(directory.place(newName))", path: place(name), code: errno)
    }
  }

  /// Opens a file to be written to at its end. Only the daemon may write to the directory.
  func openToAppend(_ name: FileName) throws -> OwnedDescriptor {
    let number = openat(descriptor.number, name.terminated, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: place(name), code: errno) }
    return OwnedDescriptor(number)
  }

  /// Removes a directory that is empty, if it exists.
  func removeDirectory(_ name: FileName) throws {
    guard unlinkat(descriptor.number, name.terminated, AT_REMOVEDIR) == 0 || errno == ENOENT else {
      throw SpoolError.system(call: "rmdir", path: place(name), code: errno)
    }
  }

  /// Removes an entry that isn't a directory, if it exists.
  func remove(_ name: FileName) throws {
    guard unlinkat(descriptor.number, name.terminated, 0) == 0 || errno == ENOENT else {
      throw SpoolError.system(call: "unlink", path: place(name), code: errno)
    }
  }

  /// Flushes what was created, renamed and removed here to disk.
  func synchronise() throws {
    guard fsync(descriptor.number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }

  /// An entry's path for messages.
  func place(_ name: FileName) -> String {
    path + "/" + name.shown
  }

  /// Calls `body` with every entry but `.` and `..`, in no order, one at a time: memory doesn't grow with their number.
  /// The kind is nil if the file system doesn't list it with the name. Entries that appear or disappear during the call may or
  /// may not be seen.
  func forEach(_ body: (FileName, FileStatus.Kind?) throws -> Void) throws {
    // A separate descriptor: a duplicate would share its position with every other listing.
    let number = openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: path, code: errno) }
    guard let stream = fdopendir(number) else {
      let code = errno
      close(number)
      throw SpoolError.system(call: "opendir", path: path, code: code)
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SpoolError.system(call: "readdir", path: path, code: errno) }
        return
      }
      let name = DirectoryHandle.name(of: entry)
      if name.terminated == [0x2E, 0] || name.terminated == [0x2E, 0x2E, 0] { continue }
      try body(name, DirectoryHandle.kind(of: entry))
    }
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> FileName {
    // Not through the tuple: the record is only as long as its name, shorter than the type.
    let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 19
    return FileName(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
  }

  private static func kind(of entry: UnsafeMutablePointer<dirent>) -> FileStatus.Kind? {
    switch Int(entry.pointee.d_type) {
    case Int(DT_REG): .regular
    case Int(DT_DIR): .directory
    case Int(DT_LNK): .symbolicLink
    case Int(DT_FIFO): .fifo
    case Int(DT_SOCK): .socket
    case Int(DT_CHR): .characterDevice
    case Int(DT_BLK): .blockDevice
    default: nil
    }
  }
}
