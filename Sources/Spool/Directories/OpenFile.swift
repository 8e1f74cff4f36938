import Glibc

/// A regular file that was opened and then looked at: the status is that of the descriptor, not of a name.
struct OpenFile: Sendable {
  let descriptor: OwnedDescriptor
  let status: FileStatus

  /// Waits until the file's contents are on disk. Blocks.
  func synchronise(path: String) throws { try descriptor.synchronise(path: path) }

  /// Reads at most `limit` bytes from the start. Blocks.
  func read(atMost limit: Int, path: String) throws -> [UInt8] {
    // Not more than there was, for most are small; and a byte more, to see that it has grown.
    let size = min(limit, Int(clamping: max(0, status.size)) + 1)
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0, path: path)
    }
  }
}
