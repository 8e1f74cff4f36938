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
}

/// A regular file that was opened and then looked at: the status is that of the descriptor, not of a name.
struct OpenFile: Sendable {
  let descriptor: OwnedDescriptor
  let status: FileStatus

  /// Waits until the file's contents are on disk. Blocks.
  func synchronise(path: String) throws {
    guard fsync(descriptor.number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }

  /// Reads at most `limit` bytes from the start. Blocks.
  func read(atMost limit: Int, path: String) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    var filled = 0
    while filled < limit {
      let count = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor.number, buffer.baseAddress.map { $0 + filled }, limit - filled, off_t(filled))
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw SpoolError.system(call: "read", path: path, code: errno)
      }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(limit - filled)
    return bytes
  }

  /// Writes all of `bytes` at the descriptor's position and waits until they are on disk. Blocks.
  static func write(_ bytes: [UInt8], to descriptor: OwnedDescriptor, path: String) throws {
    try append(bytes[...], to: descriptor, path: path)
    guard fsync(descriptor.number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }

  /// Copies the contents, from the start to where the file ends by then, and waits until they are on disk. Blocks.
  func copy(to descriptor: OwnedDescriptor, path: String) throws {
    var chunk = [UInt8](repeating: 0, count: 256 * 1024)
    var offset: off_t = 0
    while true {
      let count = pread(self.descriptor.number, &chunk, chunk.count, offset)
      if count < 0 {
        if errno == EINTR { continue }
        throw SpoolError.system(call: "read", path: path, code: errno)
      }
      if count == 0 { break }
      try OpenFile.append(chunk[..<count], to: descriptor, path: path)
      offset += off_t(count)
    }
    guard fsync(descriptor.number) == 0 else { throw SpoolError.system(call: "fsync", path: path, code: errno) }
  }

  private static func append(_ bytes: ArraySlice<UInt8>, to descriptor: OwnedDescriptor, path: String) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        throw SpoolError.system(call: "write", path: path, code: errno)
      }
      rest = rest.dropFirst(count)
    }
  }
}
