// The only place where libarchive is called for reading. It reads through callbacks from the stage below, never from a path,
// writes nothing, and supports one thing at a time: one compression, or one kind of archive. Member names are
// text to compare and to show, never paths to open.

import CArchive
import Glibc

/// One pass of libarchive over a source, from its beginning.
final class ArchiveHandle {
  enum Kind {
    case compression(SourceCompression)
    case archive(SourceArchiveKind)

    var name: String {
      switch self {
      case .compression(let kind): kind.rawValue
      case .archive(let kind): kind.rawValue
      }
    }
  }

  /// A file, folder or link in an archive, as described by its header.
  struct Entry {
    var name: String
    var size: Int64?
    var isFile: Bool
    var isEncrypted: Bool
  }

  let kind: Kind
  private let archive: OpaquePointer
  private let upstream: any ByteSource
  private let buffer: UnsafeMutablePointer<UInt8>
  private let bufferSize: Int
  /// Bytes read from the file, when this is the stage over a plain file.
  private var bytesRead: Int64 = 0
  /// The bytes that may be read before the first member is known. libarchive holds a zip's directory in memory.
  private var allowance: Int64?
  private var failure: ReaderError?

  static let directoryLimit: Int64 = 16 << 20

  /// The source stands at its beginning.
  init(_ kind: Kind, over upstream: any ByteSource, blockSize: Int) throws(ReaderError) {
    guard let archive = archive_read_new() else { throw .readFailed(errno: ENOMEM) }
    self.kind = kind
    self.archive = archive
    self.upstream = upstream
    bufferSize = blockSize
    buffer = .allocate(capacity: bufferSize)
    var isSeekable = false
    switch kind {
    case .compression(let compression):
      switch compression {
      case .bzip2: archive_read_support_filter_bzip2(archive)
      case .zstd: archive_read_support_filter_zstd(archive)
      // Both have stages of their own.
      case .gzip, .xz: break
      }
      archive_read_support_format_raw(archive)
      archive_read_support_format_empty(archive)
    case .archive(.tar):
      archive_read_support_format_tar(archive)
      isSeekable = upstream is PlainSource
    case .archive(.zip):
      // Not the streaming kind, which trusts the header before each member instead of the directory at the end.
      archive_read_support_format_zip_seekable(archive)
      isSeekable = true
      allowance = Self.directoryLimit
    }
    archive_read_set_read_callback(archive) { _, client, bytes in
      guard let client, let bytes else { return -1 }
      return Unmanaged<ArchiveHandle>.fromOpaque(client).takeUnretainedValue().giveBlock(bytes)
    }
    if isSeekable {
      archive_read_set_seek_callback(archive) { _, client, offset, whence in
        guard let client else { return -1 }
        return Unmanaged<ArchiveHandle>.fromOpaque(client).takeUnretainedValue().seek(by: offset, from: whence)
      }
    }
    archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
    let result = Self.withUTF8Names { archive_read_open1(archive) }
    guard result == ARCHIVE_OK else { throw error() }
  }

  deinit {
    archive_read_free(archive)
    buffer.deallocate()
  }

  var progress: (done: Int64, total: Int64) {
    let below = upstream.progress
    return upstream is PlainSource ? (min(bytesRead, below.total), below.total) : below
  }

  /// Moves to the next member and reads its header; nil at the end.
  func nextEntry() throws(ReaderError) -> Entry? {
    var header: OpaquePointer?
    // Warnings are about names and attributes.
    let result = Self.withUTF8Names { archive_read_next_header(archive, &header) }
    allowance = nil
    if result == ARCHIVE_EOF { return nil }
    guard result == ARCHIVE_OK || result == ARCHIVE_WARN, let header else { throw error() }
    let name = archive_entry_pathname(header).map { String(cString: $0) } ?? ""
    let isFile = UInt32(archive_entry_filetype(header)) == 0o100000 && archive_entry_hardlink(header) == nil
    return Entry(
      name: name, size: archive_entry_size_is_set(header) != 0 ? archive_entry_size(header) : nil, isFile: isFile,
      isEncrypted: archive_entry_is_encrypted(header) != 0)
  }

  /// The member's compression, if the member itself decides how much memory that takes; nil otherwise. Known once its header is
  /// read.
  var unboundedMethod: String? {
    guard case .archive(.zip) = kind, let name = archive_format_name(archive).map({ String(cString: $0) }) else {
      return nil
    }
    return ["lzma", "xz", "ppmd-1"].first { name.contains("(\($0))") }
  }

  /// The next bytes of the member, valid until the next call; nil at its end.
  func nextBlock(at offset: Int64) throws(ReaderError) -> UnsafeRawBufferPointer? {
    var bytes: UnsafeRawPointer?
    var count = 0
    var place: la_int64_t = 0
    let result = archive_read_data_block(archive, &bytes, &count, &place)
    let isAtEnd = result == ARCHIVE_EOF
    guard isAtEnd || result == ARCHIVE_OK else { throw error() }
    // A hole at the end has no block after it, but shows in the offset of the end.
    guard isAtEnd ? place <= offset : count == 0 || place == offset else {
      throw .source(.corrupt(what: kind.name, offset: offset, reason: "the member has holes in it"))
    }
    return isAtEnd ? nil : UnsafeRawBufferPointer(start: bytes, count: count)
  }

  /// Bytes of the compressed file that libarchive recognised, once all of it was read.
  var bytesUnderstood: Int64 { archive_filter_bytes(archive, -1) }

  private func giveBlock(_ target: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
    do throws(ReaderError) {
      if let failure { throw failure }
      if let allowance, bytesRead > allowance { throw .source(.tooManyMembers(limit: SourceArchive.memberLimit)) }
      let got = try upstream.read(into: buffer, count: bufferSize)
      bytesRead += Int64(got)
      target.pointee = UnsafeRawPointer(buffer)
      return got
    } catch {
      failure = error
      return -1
    }
  }

  private func seek(by distance: Int64, from whence: Int32) -> Int64 {
    guard let file = upstream as? PlainSource else { return Int64(ARCHIVE_FATAL) }
    let start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.offset : file.size
    let (target, overflow) = start.addingReportingOverflow(distance)
    guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
    // A seek past the end succeeds; the read after it finds nothing.
    _ = file.seek(to: min(target, file.size))
    return file.offset
  }

  private func error() -> ReaderError {
    if let failure { return failure }
    let reason = archive_error_string(archive).map { String(cString: $0) } ?? "it can't be understood"
    let place = progress.done
    if archive_errno(archive) == ENOMEM { return .readFailed(errno: ENOMEM) }
    if reason.lowercased().contains("passphrase") || reason.lowercased().contains("encrypt") {
      return .source(.encrypted(member: ""))
    }
    // A zip has its directory at the end: without it, no member can be found.
    if reason.lowercased().contains("truncated") || reason.contains("Unrecognized archive format") {
      return .source(.truncated(what: kind.name, offset: place))
    }
    return .source(.corrupt(what: kind.name, offset: place, reason: reason))
  }

  /// libarchive converts member names to the thread's locale; a daemon's is "C", where all but ASCII would be lost.
  private static func withUTF8Names<T>(_ body: () -> T) -> T {
    guard let utf8Locale else { return body() }
    let before = uselocale(utf8Locale)
    defer { uselocale(before) }
    return body()
  }

  // Safe: a static `let` is initialised once, by the first thread; nothing writes to the locale or frees
  // it; it is only passed to uselocale, which sets the calling thread's own.
  nonisolated(unsafe) private static let utf8Locale = newlocale(Int32(1) << LC_CTYPE, "C.UTF-8", nil)
}
