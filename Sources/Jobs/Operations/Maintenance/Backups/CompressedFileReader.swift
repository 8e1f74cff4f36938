// gzip is read with zlib itself, because libarchive 3.6 checks neither the checksum nor the length; zstd with libarchive.

import CArchive
import Foundation
import Glibc

/// Reads a file in blocks and decompresses it on the way. For one thread.
final class CompressedFileReader {
  private enum Form {
    case plain
    case gzip(gzFile)
    case zstd(OpaquePointer)
  }

  private let path: String
  private let descriptor: Int32
  private let form: Form
  let compression: BackupCompression
  /// Bytes of the compressed file.
  let size: Int64

  /// Opens a regular file, not through a link.
  init(_ url: URL) throws {
    path = url.path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw JobFailure(errno: errno, path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & Glibc.S_IFMT == Glibc.S_IFREG else {
      close(descriptor)
      throw JobFailure(code: "file", message: "\(path) isn't a file", isRetryable: false)
    }
    size = Int64(status.st_size)
    var first = [UInt8](repeating: 0, count: 16)
    let count = max(0, pread(descriptor, &first, first.count, 0))
    guard let compression = BackupCompression(firstBytes: first.prefix(count)) else {
      close(descriptor)
      throw JobFailure(
        code: "not_a_backup", message: "\(path) is no SQLite file, packed by gzip, by zstd or not", isRetryable: false)
    }
    self.compression = compression
    switch compression {
    case .none: form = .plain
    case .gzip:
      // zlib closes the descriptor that it is given.
      guard let file = gzdopen(dup(descriptor), "rb") else {
        close(descriptor)
        throw JobFailure(errno: ENOMEM, path)
      }
      gzbuffer(file, 1 << 17)
      form = .gzip(file)
    case .zstd:
      guard let archive = archive_read_new() else {
        close(descriptor)
        throw JobFailure(errno: ENOMEM, path)
      }
      archive_read_support_filter_zstd(archive)
      archive_read_support_format_raw(archive)
      var entry: OpaquePointer?
      guard archive_read_open_fd(archive, descriptor, 1 << 17) == ARCHIVE_OK,
        archive_read_next_header(archive, &entry) == ARCHIVE_OK
      else {
        let failure = Self.damaged(path, archive_error_string(archive).map { String(cString: $0) })
        archive_read_free(archive)
        close(descriptor)
        throw failure
      }
      form = .zstd(archive)
    }
  }

  deinit {
    switch form {
    case .plain: break
    case .gzip(let file): gzclose(file)
    case .zstd(let archive): archive_read_free(archive)
    }
    close(descriptor)
  }

  /// Reads the next bytes, 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    switch form {
    case .plain:
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      guard count >= 0 else { throw JobFailure(errno: errno, path) }
      return count
    case .gzip(let file):
      let count = gzread(file, buffer.baseAddress, UInt32(buffer.count))
      var code: Int32 = 0
      let message = gzerror(file, &code)
      // Of a truncated file zlib returns what it can; only the code says so.
      guard count >= 0, code == Z_OK || code == Z_STREAM_END else {
        throw Self.damaged(path, message.map { String(cString: $0) })
      }
      return Int(count)
    case .zstd(let archive):
      let count = archive_read_data(archive, buffer.baseAddress, buffer.count)
      guard count >= 0 else { throw Self.damaged(path, archive_error_string(archive).map { String(cString: $0) }) }
      return count
    }
  }

  /// How many bytes of the compressed file have been read.
  var position: Int64 {
    switch form {
    case .plain: return Int64(lseek(descriptor, 0, SEEK_CUR))
    case .gzip(let file): return Int64(gzoffset(file))
    case .zstd(let archive): return archive_filter_bytes(archive, -1)
    }
  }

  private static func damaged(_ path: String, _ reason: String?) -> JobFailure {
    JobFailure(
      code: "damaged", message: "\(path) can't be unpacked: \(reason ?? "it is damaged")", isRetryable: false)
  }
}
