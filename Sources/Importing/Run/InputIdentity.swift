import Glibc

/// What a source looked like when its import began, so that going on after a kill never mixes two files.
struct InputIdentity {
  private static let sample = 4096

  /// Size, modification time, and a hash of the first and last 4 KiB, as text to compare.
  static func of(_ descriptor: Int32, path: String) throws -> String {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw MappingError.fileFailed(path: path, operation: "look at", reason: String(cString: strerror(errno)))
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for start in [0, max(0, Int(status.st_size) - sample)] {
      var bytes = [UInt8](repeating: 0, count: sample)
      let count = pread(descriptor, &bytes, sample, off_t(start))
      guard count >= 0 else {
        throw MappingError.fileFailed(path: path, operation: "read", reason: String(cString: strerror(errno)))
      }
      for byte in bytes.prefix(count) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    return "\(status.st_size) bytes of \(time), \(String(hash, radix: 16))"
  }
}
