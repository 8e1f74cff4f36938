import CArchive

/// How a written file is compressed.
package enum WrittenCompression: String, Codable, Sendable, CaseIterable {
  case gzip, zstd

  /// The ending that it adds to a file's name.
  package var ending: String { self == .gzip ? ".gz" : ".zst" }
}

/// Compresses by libarchive on the way into a file. The same bytes always become the same file: no time and no name is
/// stored in it. For one thread.
package final class CompressedSink: ByteSink {
  private let archive: OpaquePointer
  private let put: (UnsafeRawBufferPointer) throws -> Void
  private var failure: (any Error)?

  /// - Parameter put: writes compressed bytes; what it throws is thrown by the call that led to it.
  package init(
    _ compression: WrittenCompression, to put: @escaping (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let archive = archive_write_new() else { throw WriterError.packing(reason: "there is no memory") }
    self.archive = archive
    self.put = put
    switch compression {
    case .gzip:
      try check(archive_write_add_filter_gzip(archive))
      try check(archive_write_set_filter_option(archive, "gzip", "timestamp", nil))
    case .zstd: try check(archive_write_add_filter_zstd(archive))
    }
    try check(archive_write_set_format_raw(archive))
    // Without padding to whole blocks.
    try check(archive_write_set_bytes_in_last_block(archive, 1))
    try check(
      archive_write_open(
        archive, Unmanaged.passUnretained(self).toOpaque(), nil,
        { _, client, bytes, count in
          guard let client, let bytes else { return -1 }
          let sink = Unmanaged<CompressedSink>.fromOpaque(client).takeUnretainedValue()
          return sink.pass(UnsafeRawBufferPointer(start: bytes, count: count))
        }, nil))
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, "data")
    archive_entry_set_filetype(entry, 0o100000)
    try check(archive_write_header(archive, entry))
  }

  deinit {
    // Buffered bytes must not be written any more.
    archive_write_fail(archive)
    archive_write_free(archive)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    var written = 0
    while written < bytes.count {
      let count = archive_write_data(archive, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      guard count > 0 else { throw error() }
      written += count
    }
  }

  /// Writes the rest.
  package func finish() throws {
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
