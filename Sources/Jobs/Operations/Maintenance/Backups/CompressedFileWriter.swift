import Foundation
import Glibc
import Importing

/// Writes a file in blocks and compresses it on the way. For one thread.
final class CompressedFileWriter {
  private let path: String
  private let descriptor: Int32
  private let sink: CompressedSink?

  /// Makes the file, which mustn't exist.
  init(_ url: URL, _ compression: BackupCompression) throws {
    let path = url.path
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw JobFailure(errno: errno, path) }
    do {
      sink = try compression.written.map { compression in
        try CompressedSink(compression) { try Self.write($0, to: descriptor, path) }
      }
    } catch {
      close(descriptor)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    if let sink { try sink.write(bytes) } else { try Self.write(bytes, to: descriptor, path) }
  }

  /// Writes the rest.
  func finish() throws { try sink?.finish() }

  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      guard count > 0 else { throw JobFailure(errno: errno, path) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}
