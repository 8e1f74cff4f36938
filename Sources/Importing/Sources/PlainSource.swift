import Glibc

/// A file as it is, read by `pread`. The descriptor stays the caller's, and its own offset unused.
final class PlainSource: ByteSource {
  let size: Int64
  private(set) var offset: Int64 = 0
  private let descriptor: Int32

  init(descriptor: Int32) throws(ReaderError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .readFailed(errno: errno) }
    self.descriptor = descriptor
    size = Int64(status.st_size)
  }

  var progress: (done: Int64, total: Int64) { (offset, size) }

  func read(into target: UnsafeMutablePointer<UInt8>, count: Int) throws(ReaderError) -> Int {
    while true {
      let got = pread(descriptor, target, count, off_t(offset))
      if got < 0 {
        if errno == EINTR { continue }
        throw .readFailed(errno: errno)
      }
      offset += Int64(got)
      return got
    }
  }

  func rewind() { offset = 0 }

  func seek(to target: Int64) -> Bool {
    guard (0...size).contains(target) else { return false }
    offset = target
    return true
  }

  /// Whether nothing but zero bytes stands from a place on: what tapes and some file systems pad with.
  func isPadding(from start: Int64) throws(ReaderError) -> Bool {
    offset = start
    while true {
      let bytes = try readSample(64 << 10)
      if bytes.isEmpty { return true }
      if bytes.contains(where: { $0 != 0 }) { return false }
    }
  }
}
