import Foundation
import Glibc
import ManagedObjects

/// What an import reads: a file, or the files of a set.
protocol IdentifiedSource {
  /// Identifies it, so that resuming after a kill never mixes two of them.
  func identity() throws -> String

  /// A hash of all its bytes; nil if `shouldStop`, asked now and then, returned true.
  func digest(shouldStop: () -> Bool) throws -> String?
}

/// The file that an import reads, open as long as this object lives.
final class ImportSource: IdentifiedSource {
  private static let sample = 4096
  let descriptor: Int32
  /// The write-ahead log of a SQLite file.
  let log: SQLiteLog?
  private let path: String

  /// Opens the file; refuses a symbolic link.
  /// - Parameter opened: a descriptor of the file, if the caller has opened and checked it already.
  init(_ url: URL, descriptor opened: Int32? = nil) throws {
    path = url.path
    // Non-blocking: opening a FIFO would wait for a writer before it could be refused. A descriptor is reopened to have a
    // file offset of its own.
    descriptor =
      if let opened {
        open("/proc/self/fd/\(opened)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      } else {
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      }
    guard descriptor >= 0 else {
      throw MappingError.file(path, "open", code: errno)
    }
    do {
      var status = stat()
      let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == Glibc.S_IFREG
      log = try isFile ? SQLiteLog(besideFile: path, database: descriptor) : nil
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Identifies the file, so that resuming after a kill never mixes two files: its size, modification time, and a hash of
  /// its first and last 4 KiB, as a text to compare.
  func identity() throws -> String {
    let own = try identity(of: descriptor)
    return try log.map { "\(own); log: \(try identity(of: $0.descriptor))" } ?? own
  }

  private func identity(of descriptor: Int32) throws -> String {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("look at") }
    guard status.st_mode & S_IFMT == Glibc.S_IFREG else {
      throw MappingError.fileFailed(path: path, operation: "read", reason: "it isn't a regular file")
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for start in [0, max(0, Int(status.st_size) - Self.sample)] {
      var bytes = [UInt8](repeating: 0, count: Self.sample)
      let count = pread(descriptor, &bytes, Self.sample, off_t(start))
      guard count >= 0 else { throw failure("read") }
      for byte in bytes.prefix(count) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    return "\(status.st_size) bytes of \(time), \(String(hash, radix: 16))"
  }

  /// The SHA-256 of the whole file; nil if `shouldStop`, asked after each MiB, returned true.
  func digest(shouldStop: () -> Bool) throws -> String? {
    var hash = SHA256()
    var block = [UInt8](repeating: 0, count: 1 << 20)
    var offset: off_t = 0
    while true {
      let count = pread(descriptor, &block, block.count, offset)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      if count == 0 { return hash.finish().hexadecimal }
      block.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += off_t(count)
      if count == block.count, shouldStop() { return nil }
    }
  }

  /// The length of a file in bytes; nil if it doesn't exist any more.
  static func length(of url: URL) -> Int64? {
    var status = stat()
    return stat(url.path, &status) == 0 ? Int64(status.st_size) : nil
  }

  private func failure(_ operation: String) -> MappingError {
    .file(path, operation, code: errno)
  }
}
