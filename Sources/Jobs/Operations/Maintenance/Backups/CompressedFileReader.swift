import Foundation
import Glibc
import Importing
import ManagedObjects

/// Reads a backup in blocks and decompresses it on the way. For one thread.
final class CompressedFileReader {
  private let path: String
  private let descriptor: Int32
  private let file: DecompressedFile
  let compression: BackupCompression
  /// Bytes of the compressed file.
  let size: Int64

  /// Opens a regular file, not through a link.
  /// - Parameter form: what the file is once it is unpacked.
  init(_ url: URL, _ form: StoreCopyForm) throws {
    let opened = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { throw JobFailure(errno: errno, url.path) }
    do {
      let found = try Self.recognise(opened, url.path, form)
      file = found.file
      compression = found.compression
      size = found.file.size
    } catch {
      close(opened)
      throw error
    }
    path = url.path
    descriptor = opened
  }

  deinit { close(descriptor) }

  private static func recognise(
    _ descriptor: Int32, _ path: String, _ form: StoreCopyForm
  ) throws -> (file: DecompressedFile, compression: BackupCompression) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw JobFailure(errno: errno, path) }
    guard status.st_mode & Glibc.S_IFMT == Glibc.S_IFREG else {
      throw JobFailure(code: "file", message: "\(path) isn't a file", isRetryable: false)
    }
    var first = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &first, first.count, 0)
    guard count >= 0 else { throw JobFailure(errno: errno, path) }
    guard let compression = BackupCompression(firstBytes: first.prefix(count), of: form) else {
      throw JobFailure(
        code: "not_a_backup", message: "\(path) isn't \(form.title), plain or compressed by gzip or zstd",
        isRetryable: false)
    }
    do {
      return (try DecompressedFile(descriptor: descriptor), compression)
    } catch {
      throw failure(error, path)
    }
  }

  /// Reads the next bytes, 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    do {
      return try file.read(into: buffer)
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// How many bytes of the compressed file have been read.
  var position: Int64 { file.position }

  private static func failure(_ error: any Error, _ path: String) -> JobFailure {
    if case .readFailed(let code)? = error as? ReaderError { return JobFailure(errno: code, path) }
    return JobFailure(code: "damaged", message: "\(path) can't be unpacked: \(error)", isRetryable: false)
  }
}
