// A directory held open. Rule 8 is kept here: every operation is relative to this descriptor and takes one
// component, so that no name that a submitter wrote, and no link that he plants, leads anywhere else:
// nothing follows a link at the end of a name, and there is no middle.

import CLinux
import Glibc

/// A directory held open by its descriptor, with the operations that the spool needs. All of them block.
final class DirectoryHandle: Sendable {
  let descriptor: OwnedDescriptor
  /// The directory for messages.
  let path: String

  private init(_ descriptor: OwnedDescriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a directory by a path that the configuration gave: links in it are followed.
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
    // The service may not name the bit that hands the group on, not even here; the folder above has it.
    if mkdirat(descriptor.number, name.terminated, mode & 0o777) == 0 {
      try synchronise()
      guard let made = try directory(name) else {
        throw SpoolError.system(call: "mkdir", path: place(name), code: ENOENT)
      }
      // mkdir's mode is cut by the umask, and the bit that hands the spool's group on is only there if the folder above has
      // it. Where nothing is missing nothing is asked for: the service isn't allowed to set that bit.
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

  /// The status of an entry, of a link itself if it is one. Nil if there is none.
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

  /// Opens an entry for reading without following it and without waiting for it, and looks at what was opened.
  func open(_ name: FileName) throws -> OpenFile {
    let number = openat(descriptor.number, name.terminated, DirectoryHandle.reading)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: place(name), code: errno) }
    let opened = OwnedDescriptor(number)
    return OpenFile(descriptor: opened, status: try DirectoryHandle.status(of: opened, path: place(name)))
  }

  /// How every file of a submitter is opened: no link, no waiting for a FIFO's other end, no terminal.
  static let reading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC

  /// Creates a file that isn't there yet.
  func create(_ name: FileName, mode: mode_t) throws -> OwnedDescriptor {
    let number = openat(descriptor.number, name.terminated, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    guard number >= 0 else { throw SpoolError.system(call: "create", path: place(name), code: errno) }
    return OwnedDescriptor(number)
  }

  /// A file to read and write that has no name, and goes with its descriptor. The directory must be the daemon's alone.
  func scratchFile() throws -> OwnedDescriptor {
    let name = FileName(".lade-scratch")
    // A kill may have left one.
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
    // Some file systems don't say.
    guard status.f_blocks > 0 else { return .max }
    let (bytes, overflow) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: status.f_frsize))
    return overflow ? .max : bytes
  }

  /// Renames an entry into `directory`, itself if it is a link. Throws EEXIST if the new name is taken.
  func rename(_ name: FileName, to directory: DirectoryHandle, _ newName: FileName) throws {
    var answer = lade_rename_noreplace(
      descriptor.number, name.terminated, directory.descriptor.number, newName.terminated)
    if answer == -EINVAL || answer == -ENOSYS {
      // A file system that can't refuse to replace. Where this is called, `directory` is the daemon's alone.
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

  /// Removes an entry that isn't a directory, if it is there.
  func remove(_ name: FileName) throws {
    guard unlinkat(descriptor.number, name.terminated, 0) == 0 || errno == ENOENT else {
      throw SpoolError.system(call: "unlink", path: place(name), code: errno)
    }
  }

  /// Waits until what was created, renamed and removed here is on disk.
  func synchronise() throws {
    guard fsync(descriptor.number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }

  /// An entry's path for messages.
  func place(_ name: FileName) -> String {
    path + "/" + name.shown
  }
}
