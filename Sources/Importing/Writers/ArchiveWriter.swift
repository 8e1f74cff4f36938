import CArchive

/// An archive, or a compressed file, that libarchive writes as its bytes come. The same bytes always become the same file: no
/// time is stored in it. For one thread.
final class ArchiveWriter {
  private let archive: OpaquePointer
  private let put: (UnsafeRawBufferPointer) throws -> Void
  private var failure: (any Error)?

  /// - Parameters:
  ///   - settings: calls of libarchive that choose the format and the filters.
  ///   - put: writes bytes of the archive; what it throws is thrown by the call that led to it.
  init(_ settings: [(OpaquePointer) -> Int32], to put: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
    guard let archive = archive_write_new() else { throw WriterError.packing(reason: "there is no memory") }
    self.archive = archive
    self.put = put
    for set in settings { try check(set(archive)) }
    // Without padding to whole blocks.
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(
      archive_write_open(
        archive, Unmanaged.passUnretained(self).toOpaque(), nil,
        { _, client, bytes, count in
          guard let client, let bytes else { return -1 }
          let writer = Unmanaged<ArchiveWriter>.fromOpaque(client).takeUnretainedValue()
          return writer.pass(UnsafeRawBufferPointer(start: bytes, count: count))
        }, nil))
  }

  deinit {
    // Buffered bytes must not be written any more.
    archive_write_fail(archive)
    archive_write_free(archive)
  }

  /// Begins a member of unknown size, whose bytes follow.
  func begin(_ name: String) throws {
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname_utf8(entry, name)
    archive_entry_set_filetype(entry, 0o100000)
    archive_entry_set_perm(entry, 0o644)
    archive_entry_unset_size(entry)
    try check(archive_write_header(archive, entry))
  }

  /// Writes bytes of the member.
  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var written = 0
    while written < bytes.count {
      let count = archive_write_data(archive, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      guard count > 0 else { throw error() }
      written += count
    }
  }

  /// Writes the rest.
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
