import CArchive

/// Writes a zip archive, one member after another, as its bytes come. The same bytes always become the same file: no time is
/// stored in it. For one thread.
final class ZipWriter {
  private let archive: OpaquePointer
  private let put: (UnsafeRawBufferPointer) throws -> Void
  private var failure: (any Error)?
  /// The bytes of the member so far.
  private var length: Int64 = 0

  /// Without the extension for larger members, which some programs don't read.
  static let memberLimit: Int64 = (1 << 32) - (1 << 20)

  /// - Parameter put: writes bytes of the archive; what it throws is thrown by the call that led to it.
  init(to put: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    guard let archive = archive_write_new() else { throw WriterError.packing(reason: "there is no memory") }
    self.archive = archive
    self.put = put
    try check(archive_write_set_format_zip(archive))
    try check(archive_write_set_format_option(archive, "zip", "compression", "deflate"))
    try check(archive_write_set_format_option(archive, "zip", "zip64", nil))
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(
      archive_write_open(
        archive, Unmanaged.passUnretained(self).toOpaque(), nil,
        { _, client, bytes, count in
          guard let client, let bytes else { return -1 }
          let writer = Unmanaged<ZipWriter>.fromOpaque(client).takeUnretainedValue()
          return writer.pass(UnsafeRawBufferPointer(start: bytes, count: count))
        }, nil))
  }

  deinit {
    // Buffered bytes must not be written any more.
    archive_write_fail(archive)
    archive_write_free(archive)
  }

  /// Begins a member, whose bytes follow.
  func begin(_ name: String) throws {
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname_utf8(entry, name)
    archive_entry_set_filetype(entry, 0o100000)
    archive_entry_set_perm(entry, 0o644)
    archive_entry_unset_size(entry)
    try check(archive_write_header(archive, entry))
    length = 0
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    length += Int64(bytes.count)
    guard length <= Self.memberLimit else {
      throw WriterError.tooMuch(format: "xlsx", what: "bytes of a sheet", limit: Self.memberLimit)
    }
    var written = 0
    while written < bytes.count {
      let count = archive_write_data(archive, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      guard count > 0 else { throw error() }
      written += count
    }
  }

  /// A member as a whole.
  func add(_ name: String, _ text: String) throws {
    try begin(name)
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes the archive's directory.
  func finish() throws {
    try check(archive_write_finish_entry(archive))
    try check(archive_write_close(archive))
  }

  private func pass(_ bytes: UnsafeRawBufferPointer) -> Int {
    do {
      try put(bytes)
      return bytes.count
    } catch {
      failure = error
      return -1
    }
  }

  private func check(_ result: Int32) throws {
    if result < ARCHIVE_WARN { throw error() }
  }

  private func error() -> any Error {
    failure
      ?? WriterError.packing(
        reason: archive_error_string(archive).map { String(cString: $0) } ?? "libarchive says no more")
  }
}
