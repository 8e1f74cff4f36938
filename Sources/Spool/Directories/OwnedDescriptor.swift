import Glibc

/// A file descriptor that is closed when its last holder lets go of it.
final class OwnedDescriptor: Sendable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
  }

  deinit {
    // Nothing that was written can be lost here: whatever must last was fsynced before.
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

  /// Reads at an offset until the buffer is full or the file ends; how many bytes there were. Blocks.
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

  /// Waits until what was written is on disk. Blocks.
  func synchronise(path: String) throws {
    guard fsync(number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }
}
