import Glibc

/// A file in memory, without a name, that holds one input after the other.
final class MemoryFile {
  let descriptor: Int32

  init() throws {
    var name = Array("/dev/shm/lade-fuzz-XXXXXX".utf8CString)
    descriptor = mkstemp(&name)
    guard descriptor >= 0, unlink(&name) == 0 else {
      throw BrokenPromise(description: "no file in memory: errno \(errno)")
    }
  }

  deinit { close(descriptor) }

  func hold(_ bytes: [UInt8]) throws {
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
      throw BrokenPromise(description: "the file in memory couldn't be written: errno \(errno)")
    }
  }
}
