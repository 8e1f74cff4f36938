import Glibc

extension DirectoryHandle {
  /// Calls `body` with every entry but `.` and `..`, in no order, one at a time: memory doesn't grow with their number.
  /// The kind is nil where the file system doesn't tell it with the name. Entries that come or go meanwhile may or
  /// may not be seen.
  func forEach(_ body: (FileName, FileStatus.Kind?) throws -> Void) throws {
    // A descriptor of its own: a duplicate would share its position with every other listing.
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
    // Not through the tuple: the record is as long as its name, shorter than the type says.
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
