import CArchive
import Foundation
import Glibc

/// Writes a file in blocks and compresses it on the way. For one thread.
final class CompressedFileWriter {
  private enum Form {
    case plain
    case gzip(gzFile)
    case zstd(OpaquePointer)
  }

  private let path: String
  private let descriptor: Int32
  private let form: Form

  init(_ url: URL, _ compression: BackupCompression) throws {
    path = url.path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw JobFailure(errno: errno, path) }
    switch compression {
    case .none: form = .plain
    case .gzip:
      guard let file = gzdopen(dup(descriptor), "wb6") else {
        close(descriptor)
        throw JobFailure(errno: ENOMEM, path)
      }
      gzbuffer(file, 1 << 17)
      form = .gzip(file)
    case .zstd:
      guard let archive = archive_write_new(), let entry = archive_entry_new() else {
        close(descriptor)
        throw JobFailure(errno: ENOMEM, path)
      }
      defer { archive_entry_free(entry) }
      archive_entry_set_filetype(entry, 0o100000)
      guard archive_write_add_filter_zstd(archive) == ARCHIVE_OK, archive_write_set_format_raw(archive) == ARCHIVE_OK,
        archive_write_open_fd(archive, descriptor) == ARCHIVE_OK, archive_write_header(archive, entry) == ARCHIVE_OK
      else {
        let code = archive_errno(archive)
        archive_write_free(archive)
        close(descriptor)
        throw JobFailure(errno: code, path)
      }
      form = .zstd(archive)
    }
  }

  private var isFinished = false

  deinit {
    if !isFinished {
      switch form {
      case .plain: break
      case .gzip(let file): gzclose(file)
      case .zstd(let archive): archive_write_free(archive)
      }
    }
    close(descriptor)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count: Int
      switch form {
      case .plain:
        count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        guard count > 0 else { throw JobFailure(errno: errno, path) }
      case .gzip(let file):
        errno = 0
        count = Int(gzwrite(file, rest.baseAddress, UInt32(rest.count)))
        guard count > 0 else { throw JobFailure(errno: errno == 0 ? EIO : errno, path) }
      case .zstd(let archive):
        count = archive_write_data(archive, rest.baseAddress, rest.count)
        guard count > 0 else { throw JobFailure(errno: archive_errno(archive), path) }
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Writes the rest and closes the file.
  func finish() throws {
    isFinished = true
    switch form {
    case .plain: break
    case .gzip(let file):
      errno = 0
      guard gzclose(file) == Z_OK else { throw JobFailure(errno: errno == 0 ? EIO : errno, path) }
    case .zstd(let archive):
      let result = archive_write_close(archive)
      let code = archive_errno(archive)
      archive_write_free(archive)
      guard result == ARCHIVE_OK else { throw JobFailure(errno: code, path) }
    }
  }
}
