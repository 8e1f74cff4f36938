// A copy is a file's contents as they were when the file was looked at, or it is none: what changes underneath is found
// out at the end. What is a hole stays one, so that a file that says it has terabytes, and has none, costs none.

import Glibc

extension OpenFile {
  /// Copies the contents to an empty file, and waits until they are on disk. Blocks.
  /// - Throws: `SpoolError.changed` if somebody wrote to it meanwhile; `CancellationError` in a task that is cancelled.
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
    guard try DirectoryHandle.status(of: descriptor, path: path).hasSameContents(as: status),
      try DirectoryHandle.status(of: target, path: path).size == status.size
    else { throw SpoolError.changed(path: path) }
  }

  /// The next bytes from `offset` on that aren't a hole, up to the size that the file had.
  private func nextPart(from offset: Int64, path: String) throws -> Range<Int64>? {
    guard offset < status.size else { return nil }
    guard let start = try seek(offset, OpenFile.data, path: path), start < status.size else { return nil }
    let end = try seek(start, OpenFile.hole, path: path) ?? status.size
    return start..<max(start + 1, min(end, status.size))
  }

  /// SEEK_DATA and SEEK_HOLE of lseek(2), which Swift doesn't show. A file system that knows of no holes has none.
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
