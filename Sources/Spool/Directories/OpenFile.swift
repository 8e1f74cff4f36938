import CLinux
import Glibc

/// A regular file that was opened and then examined: the status is that of the descriptor, not of a name.
///
/// A copy of it has the contents that the file had when it was examined, or fails: a change in between is detected at the end.
/// Holes stay holes, so a file with a nominal size of terabytes and no contents costs nothing.
struct OpenFile: Sendable {
  let descriptor: OwnedDescriptor
  let status: FileStatus

  /// Flushes the file's contents to disk. Blocks.
  func synchronise(path: String) throws { try descriptor.synchronise(path: path) }

  /// Reads at most `limit` bytes from the start. Blocks.
  func read(atMost limit: Int, path: String) throws -> [UInt8] {
    // Not more than the size it had, since most files are small; plus a byte, to detect growth.
    let size = min(limit, Int(clamping: max(0, status.size)) + 1)
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0, path: path)
    }
  }

  /// Copies the contents to an empty file, and flushes them to disk. Blocks.
  /// - Throws: `SpoolError.changed` if the file was written to during the copy; `CancellationError` in a cancelled task.
  func copy(to target: OwnedDescriptor, path: String) throws {
    var (end, copied): (Int64, Int64) = (0, 0)
    try withUnsafeTemporaryAllocation(byteCount: 256 * 1024, alignment: 16) { buffer in
      while let part = try nextPart(from: end, path: path) {
        end = part.lowerBound
        while end < part.upperBound {
          try Task.checkCancellation()
          let wanted = min(Int64(buffer.count), part.upperBound - end)
          let count = try descriptor.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)]), at: end, path: path)
          if count == 0 { throw SpoolError.changed(path: path) }
          try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: end, path: path)
          end += Int64(count)
          copied += Int64(count)
        }
      }
    }
    guard ftruncate(target.number, off_t(status.size)) == 0 else {
      throw SpoolError.system(call: "truncate", path: path, code: errno)
    }
    try target.synchronise(path: path)
    try checkUnchanged(path: path)
    guard try DirectoryHandle.status(of: target, path: path).size == status.size else {
      throw SpoolError.changed(path: path)
    }
  }

  /// - Throws: `SpoolError.changed` if the file was written to since it was examined.
  func checkUnchanged(path: String) throws {
    guard try DirectoryHandle.status(of: descriptor, path: path).hasSameContents(as: status) else {
      throw SpoolError.changed(path: path)
    }
  }

  /// The next range from `offset` on that isn't a hole, up to the size that the file had.
  private func nextPart(from offset: Int64, path: String) throws -> Range<Int64>? {
    guard offset < status.size else { return nil }
    guard let start = try seek(offset, OpenFile.data, path: path), start < status.size else { return nil }
    let end = try seek(start, OpenFile.hole, path: path) ?? status.size
    return start..<max(start + 1, min(end, status.size))
  }

  /// SEEK_DATA and SEEK_HOLE of lseek(2), which Swift doesn't import. A file system without support for holes reports none.
  private static let (data, hole): (Int32, Int32) = (3, 4)

  private func seek(_ offset: Int64, _ whence: Int32, path: String) throws -> Int64? {
    let found = lseek(descriptor.number, off_t(offset), whence)
    if found >= 0 { return Int64(found) }
    switch errno {
    case ENXIO: return nil
    case EINVAL: return whence == OpenFile.data ? offset : status.size
    case let code: throw SpoolError.system(call: "seek", path: path, code: code)
    }
  }
}

/// A file descriptor that is closed with its last reference.
final class OwnedDescriptor: Sendable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
  }

  deinit {
    // An error here loses nothing: what must last was fsynced before.
    close(number)
  }

  /// Writes all of `bytes` at an offset. Blocks.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64, path: String) throws {
    var written = 0
    while written < bytes.count {
      let count = pwrite(
        number, bytes.baseAddress.map { $0 + written }, bytes.count - written, off_t(offset) + off_t(written))
      if count < 0 {
        if errno == EINTR { continue }
        throw SpoolError.system(call: "write", path: path, code: errno)
      }
      written += count
    }
  }

  /// Reads at an offset until the buffer is full or the file ends. Returns the number of bytes. Blocks.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, path: String) throws -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = pread(
        number, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(offset) + off_t(filled))
      if count < 0 {
        if errno == EINTR { continue }
        throw SpoolError.system(call: "read", path: path, code: errno)
      }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  /// Flushes what was written to disk. Blocks.
  func synchronise(path: String) throws {
    guard fsync(number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }

  /// Flushes the file's whole file system to disk. Blocks.
  func synchroniseFileSystem(path: String) throws {
    let answer = lade_synchronise_file_system(number)
    guard answer == 0 else { throw SpoolError.system(call: "syncfs", path: path, code: -answer) }
  }
}
